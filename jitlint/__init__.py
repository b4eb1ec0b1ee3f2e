"""jitlint finds JAX tracing mistakes before JAX does."""

__version__ = "0.1.0"
