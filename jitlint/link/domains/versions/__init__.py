"""Names, arguments and options that the JAX of the program does not have."""
