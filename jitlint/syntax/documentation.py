"""What is kept of documentation strings (layer: ``syntax``).

Documentation does nothing, so what it says changes no analysis, and whoever edits it runs none. What it does: keeps the few phrases
that say what code is meant to do, where the code alone looks like a mistake. What it does not: keep any other word.
"""

from __future__ import annotations

from typing import Final

COMMON_NUMBERS: Final = "common random numbers"
"""The name of the method that draws the same numbers again, to compare what is computed with them."""

_PHRASES: Final = (COMMON_NUMBERS,)


def kept(text: str) -> str:
    """The first of the phrases that a documentation string says, else ""."""
    if "random" not in text.lower():
        return ""
    said = " ".join(text.lower().split())
    return next((phrase for phrase in _PHRASES if phrase in said), "")
