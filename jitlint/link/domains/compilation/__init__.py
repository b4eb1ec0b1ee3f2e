"""Compiled functions that are made, or compiled, again and again."""
