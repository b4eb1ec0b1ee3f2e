"""What a variable is set to, each turn anew (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.link.domains.compilation.variation import Variation
from jitlint.syntax import ir


def calls_for(variation: Variation, name: str) -> Iterator[ir.Call]:
    """The calls that a variable is set to, in the innermost loop if there is one."""
    for value in variation.table.bound.get(name, ()):
        inside = not variation.loops or variation.table.stands_in(value, variation.loops[-1:])
        if type(value) is ir.Call and inside:
            yield value
