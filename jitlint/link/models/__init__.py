"""What library calls do, by dotted name, and one registry of them. They may use values and the engine."""
