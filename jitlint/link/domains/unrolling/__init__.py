"""Python loops that a trace copies into the program."""
