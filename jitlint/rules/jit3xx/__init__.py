"""Purity: the rules JIT3xx, one file each (layer: ``rules``)."""
