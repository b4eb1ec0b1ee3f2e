"""How far the numbers get that the loops of JAX carry."""
