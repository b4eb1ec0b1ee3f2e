"""The reporters."""
