"""Arrays: the rules JIT4xx, one file each (layer: ``rules``)."""
