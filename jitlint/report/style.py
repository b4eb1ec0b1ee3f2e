"""Colours and widths of terminal text (layer: ``report``)."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

_TAB = "    "


@dataclass(frozen=True, slots=True)
class Style:
    """Wraps text in colours, or leaves it alone."""

    colours: bool = False

    def paint(self, text: str, *codes: str) -> str:
        """``codes``: of bold, red, yellow, cyan, blue."""
        if not self.colours or not text:
            return text
        return f"\033[{';'.join(_CODES[code] for code in codes)}m{text}\033[0m"


_CODES = {"bold": "1", "red": "31", "yellow": "33", "blue": "34", "cyan": "36"}


def wants_colours(is_terminal: bool, environment: Mapping[str, str] = os.environ) -> bool:
    """Colours are for terminals, unless the user said otherwise (NO_COLOR, FORCE_COLOR) or it is a dumb one."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"


def visible(text: str) -> str:
    """Source text that is safe on a terminal: tabs become spaces, control characters a dot."""
    return "".join(
        _TAB if char == "\t" else "·" if unicodedata.category(char) in ("Cc", "Cf", "Cs") else char
        for char in text
    )


def width(text: str) -> int:
    """How many terminal columns visible text takes."""
    columns = 0
    for char in text:
        if unicodedata.combining(char):
            continue
        columns += 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
    return columns
