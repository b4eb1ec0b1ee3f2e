"""Gradients of something else than what they change."""
