"""Modules of the project and how imports resolve."""
