"""How much is looked at: limits that keep the analysis of any program small (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Final

MAX_ITEMS: Final = 256
"""Longer lists are kept as the join of their elements."""


UNROLLED: Final = 8
"""Calls per element are evaluated one by one up to this many elements, then once on their join."""

MAX_DEPTH = 40
"""Activations on the abstract stack; deeper calls give unknown."""

MAX_CONTEXTS = 6
"""Distinct argument contexts per function outside of any trace; later ones give unknown.

Measured: more of them reach no more traced code, and take longer.
"""

SMALL = 30
MAX_SMALL_CONTEXTS = 12
"""The same for functions of at most so many nodes, factories often, where a context costs little."""

MAX_TRACED_CONTEXTS = 40
"""The same inside traces. Counted apart: what the host calls often must not hide what a trace calls."""

MANY_CONTEXTS = 2
"""A function that is handed functions stands for as many as it is handed: it may have so many times more."""
