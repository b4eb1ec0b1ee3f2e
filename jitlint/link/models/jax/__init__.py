"""What JAX's transforms, control flow and pytree functions do."""
