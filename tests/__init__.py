"""The tests; folders mirror the package."""
