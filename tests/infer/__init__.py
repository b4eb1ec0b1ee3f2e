"""The abstract domain and what a function's text says about its parameters."""
