"""Arguments for functions that nobody calls: first guesses, what errors say of them, the search."""
