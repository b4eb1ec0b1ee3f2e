"""What JAX really traced while the user's own program ran."""
