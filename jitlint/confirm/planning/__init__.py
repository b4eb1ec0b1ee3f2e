"""What is to be run for which finding: read from sources, nothing runs here (layer: ``confirm``)."""
