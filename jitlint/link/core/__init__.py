"""The syntax-directed evaluator: statements, expressions, calls, branches. It may use models, values and the engine."""
