"""How functions of JAX go through pytrees: their leaves, their structures, and prefixes of them."""
