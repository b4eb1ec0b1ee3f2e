"""What Python's builtins, containers and standard library do."""
