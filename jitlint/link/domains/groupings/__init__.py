"""Scans that combine neighbours in any grouping, which their operator does not allow."""
