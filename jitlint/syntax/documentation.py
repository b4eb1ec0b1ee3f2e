"""What is kept of documentation strings (layer: ``syntax``).

Documentation does nothing, so what it says changes no analysis, and whoever edits it runs none. What it does: keeps the phrase
that says what code is meant to do, where the code alone looks like a mistake. What it does not: keep any other word.
"""

from __future__ import annotations

from typing import Final

COMMON_NUMBERS: Final = "common random numbers"
"""The name of the method that draws the same numbers again, to compare what is computed with them."""


def kept(text: str) -> str:
    """The phrase, if a documentation string says it, else ""."""
    said = text.lower()
    words = " ".join(said.split()) if "random" in said else ""
    return COMMON_NUMBERS if COMMON_NUMBERS in words or "same random numbers" in words else ""
