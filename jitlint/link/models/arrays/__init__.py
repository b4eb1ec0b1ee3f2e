"""What the functions and methods of arrays do, of JAX and NumPy."""
