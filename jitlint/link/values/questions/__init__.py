"""What is asked of a value: its class, its truth, its identity, its signature, who owns it. It may use the engine and the values around."""
