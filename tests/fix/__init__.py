"""Fixes: what is written, what is proved, what is left alone."""
