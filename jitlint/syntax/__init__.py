"""Source text to IR: the only home of libcst."""

from jitlint.syntax.comments import comments
from jitlint.syntax.lowering import lower
from jitlint.syntax.source import Source, SyntaxProblem, decode, decode_source, read_source
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
