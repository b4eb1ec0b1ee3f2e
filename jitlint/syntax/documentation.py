"""What is kept of documentation strings (layer: ``syntax``).

Documentation does nothing, so what it says changes no analysis, and whoever edits it runs none. What it does: keeps the phrase
that says what code is meant to do, where the code alone looks like a mistake. What it does not: keep any other word.
"""

from __future__ import annotations

import re
from typing import Final

COMMON_NUMBERS: Final = "common random numbers"
"""The name of the method that draws the same numbers again, to compare what is computed with them."""
SAME_NUMBERS: Final = "same numbers"
"""What stands for other words that say so of one function: the same noise, one key for all, keys that agree."""

_SAME: Final = re.compile(
    r"\b(?:same|equal|identical)(?: \w+)? (?:draws|masks?|noise|perturbations|randomness)\b"
    r"|\b(?:same|one|fixed|identical) (?:prng )?(?:key|seed)\b"
    r"|\bkeys\b[^.;]*\b(?:agree|coincide)\b"
)
_NOT: Final = re.compile(r"\b(?:avoid\w*|differ\w*|don't|fresh|never|new|no|not|twice|without)\b")


def kept(text: str) -> str:
    """The phrase, if a documentation string says it, else ""."""
    words = " ".join(text.lower().split())
    if COMMON_NUMBERS in words or "same random numbers" in words:
        return COMMON_NUMBERS
    if not _SAME.search(words):
        return ""  # as nearly all
    said = any(_SAME.search(sentence) and not _NOT.search(sentence) for sentence in re.split(r"[.;]", words))
    return SAME_NUMBERS if said else ""
