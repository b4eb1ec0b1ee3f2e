"""Source text to IR, and places in the text for what the IR's parts stand for.

Python's own parser does the most (`abstract`); libcst, which is loaded when it is first needed, the rest (`concrete`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jitlint.syntax.comments import comments
from jitlint.syntax.source import Source, SyntaxProblem, decode, decode_source, read_source

if TYPE_CHECKING:
    from jitlint.syntax.lowering import lower
    from jitlint.syntax.spans import compute_spans

__all__ = [
    "Source",
    "SyntaxProblem",
    "comments",
    "compute_spans",
    "decode",
    "decode_source",
    "lower",
    "read_source",
]


def __getattr__(name: str) -> Any:
    if name == "lower":
        from jitlint.syntax.lowering import lower

        return lower
    if name == "compute_spans":
        from jitlint.syntax.spans import compute_spans

        return compute_spans
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
