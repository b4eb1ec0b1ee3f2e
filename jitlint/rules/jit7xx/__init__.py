"""Measuring and idiom: the rules JIT7xx, one file each (layer: ``rules``)."""
