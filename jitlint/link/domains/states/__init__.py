"""States whose dtypes change when they are renewed."""
