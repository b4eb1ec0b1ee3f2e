"""The machinery under every room: session, frames, worlds, memo, budgets, events. It may use tables and infer."""
