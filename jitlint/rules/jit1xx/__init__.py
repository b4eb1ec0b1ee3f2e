"""Values: the rules JIT1xx, one file each (layer: ``rules``)."""
