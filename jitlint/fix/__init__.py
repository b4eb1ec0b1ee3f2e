"""Cures findings by changing their text, and keeps what proves to be one (layer: ``fix``).

`cures` says what to write for one finding; `engine` applies, checks again, and drops what did not help.
"""
