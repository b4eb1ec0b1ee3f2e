"""Compilation: the rules JIT5xx, one file each (layer: ``rules``)."""
