"""Thin adapters around the driver."""
