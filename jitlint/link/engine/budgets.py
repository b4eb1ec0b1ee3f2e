"""How much is looked at: limits that keep the analysis of any program small (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Final

MAX_ITEMS: Final = 256
"""Longer lists are kept as the join of their elements."""


UNROLLED: Final = 8
"""Calls per element are evaluated one by one up to this many elements, then once on their join."""
