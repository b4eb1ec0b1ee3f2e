"""How work is carried out: by forked processes, by those of others, on a deep stack (layer: ``driver``)."""
