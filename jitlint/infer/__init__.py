"""Abstract values, evidence and events of one function."""
