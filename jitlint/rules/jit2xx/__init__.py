"""Shapes: the rules JIT2xx, one file each (layer: ``rules``)."""
