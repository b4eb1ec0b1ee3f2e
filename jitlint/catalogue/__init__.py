"""What JAX and other libraries are, as data."""
