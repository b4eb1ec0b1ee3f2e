"""The whole-program interpreter."""
