"""What runs in the worker to see what code does: lines, values, exceptions, what JAX is asked for (layer: ``confirm``)."""
