"""What Flax, Equinox and optax make of modules, training states and settings."""
