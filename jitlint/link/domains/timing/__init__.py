"""Clocks that are read while JAX may still be computing."""
