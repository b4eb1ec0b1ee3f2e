"""What an operation does to a value: attributes, subscripts, operators, boxes, iteration, pytrees. It may use the engine."""
