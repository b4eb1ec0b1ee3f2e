"""Targets that move with what is trained."""
