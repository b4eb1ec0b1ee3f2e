"""Leaves of what is differentiated whose gradient is zero."""
