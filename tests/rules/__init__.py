"""Tests of the rules: their identity cards, their words, and their examples under real JAX."""
