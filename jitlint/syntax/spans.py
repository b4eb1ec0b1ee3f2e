"""Origins to positions: where in the text the nodes of the IR stand (layer: ``syntax``).

Spans are those of Python's `ast`, which are also those of tracebacks: redundant parentheses do not belong to an
expression, while those of a tuple or a generator expression do; a decorated function starts at its ``def``
(ask for `Function.first_at` to get the decorator); a compound statement ends where its last statement ends.
The parts of a string annotation span the whole string; a parameter spans its name and annotation.
"""

from __future__ import annotations

from collections.abc import Collection

from jitlint.base.diagnostic import Span
from jitlint.syntax import ir
from jitlint.syntax.abstract import spans as abstract


def compute_spans(text: str, wanted: Collection[int], module: ir.Module | None = None) -> dict[int, Span]:
    """The spans of these origins in ``text``, the very text that was lowered.

    module: what it was lowered to, which saves most of the work in a long file.
    Empty when the text cannot be lowered; origins that it does not have are left out.
    """
    spans = abstract.compute_spans(text, wanted)
    if spans is not None:
        return spans
    from jitlint.syntax.concrete.spans import compute_spans as concretely

    return concretely(text, wanted, module)
