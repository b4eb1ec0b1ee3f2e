"""Arguments, carries and indices that JAX does not take."""
