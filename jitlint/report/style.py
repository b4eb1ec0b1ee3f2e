"""Colours, links and widths of terminal text (layer: ``report``)."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

MOST_COLUMNS = 120
"""Text is broken here, on narrower terminals at their edge; only what a machine reads, too, may be longer."""

_FEWEST_COLUMNS = 40
_TAB = "    "
_WORD = re.compile(r"(?:`[^`]{1,60}`|\S)+")
"""Code in backticks stays together."""


@dataclass(frozen=True, slots=True)
class Style:
    """Wraps text in colours and links, or leaves it alone."""

    colours: bool = False
    links: bool = False
    columns: int = MOST_COLUMNS

    def paint(self, text: str, *codes: str) -> str:
        """``codes``: keys of ``CODES``."""
        if not self.colours or not text:
            return text
        return f"\033[{';'.join(CODES[code] for code in codes)}m{text}\033[0m"

    def link(self, text: str, url: str | None) -> str:
        """Text that leads to a page, in terminals that can."""
        return f"\033]8;;{url}\033\\{text}\033]8;;\033\\" if self.links and url else text

    def wrapped(self, text: str, before: int, indent: int) -> list[str]:
        """The text in lines that fit. before: columns that stand left of the first; indent: of the others."""
        lines: list[str] = []
        line, used = "", before
        for word in _WORD.findall(text):
            needed = width(word) + (1 if line else 0)
            if used + needed > self.columns and (line or (before > indent and not lines)):
                lines.append(line)
                line, used, needed = "", indent, width(word)
            line += f" {word}" if line else word
            used += needed
        return [*lines, line]


CODES: Mapping[str, str] = {
    "bold": "1",
    "red": "31",
    "magenta": "35",
    "blue": "94",
}
"""Colours that can be read on dark and on light: plain blue vanishes on black, yellow and cyan on white."""

_LINKING_PROGRAMS = frozenset({"iTerm.app", "WezTerm", "vscode", "ghostty", "Tabby", "rio"})
_LINKING_TERMINALS = ("xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour")


def wants_colours(is_terminal: bool, environment: Mapping[str, str] = os.environ) -> bool:
    """Colours are for terminals, unless the user said otherwise (NO_COLOR, FORCE_COLOR) or it is a dumb one."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"


def wants_links(is_terminal: bool, environment: Mapping[str, str] = os.environ) -> bool:
    """Links are for terminals known to show them, unless the user said otherwise (FORCE_HYPERLINK)."""
    forced = environment.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced not in ("", "0")
    if not is_terminal or environment.get("TERM") == "dumb":
        return False
    vte = environment.get("VTE_VERSION", "")
    return (
        (vte.isdecimal() and int(vte) >= 5000)
        or environment.get("TERM_PROGRAM", "") in _LINKING_PROGRAMS
        or environment.get("TERM", "").startswith(_LINKING_TERMINALS)
        or any(environment.get(name) for name in ("WT_SESSION", "KONSOLE_VERSION", "DOMTERM"))
    )


def columns_for(terminal_columns: int) -> int:
    """How wide text may be on a terminal; 0: not on a terminal."""
    return max(_FEWEST_COLUMNS, min(MOST_COLUMNS, terminal_columns or MOST_COLUMNS))


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
