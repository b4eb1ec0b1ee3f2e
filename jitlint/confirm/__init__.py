"""Proof by running: what real JAX does with the code that a finding is about (layer: ``confirm``)."""
