"""Tables about one function, read off its syntax once: names, calls, loops. They may use the syntax only."""
