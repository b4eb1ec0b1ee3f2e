"""Tracers that are stored where they outlive their trace."""
