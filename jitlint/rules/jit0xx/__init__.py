"""The tool itself: the rules JIT0xx, one file each (layer: ``rules``)."""
