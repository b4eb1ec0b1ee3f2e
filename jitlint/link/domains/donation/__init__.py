"""Buffers that are read after they were given away."""
