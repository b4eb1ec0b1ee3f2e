"""Random numbers: the rules JIT6xx, one file each (layer: ``rules``)."""
