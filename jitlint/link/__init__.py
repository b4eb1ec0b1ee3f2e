"""The whole program: abstract interpretation from the roots."""
