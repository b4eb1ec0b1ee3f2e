"""Source text to IR: the only home of libcst."""

from jitlint.syntax.lowering import lower
from jitlint.syntax.source import Source, SyntaxProblem, decode, read_source

__all__ = ["Source", "SyntaxProblem", "decode", "lower", "read_source"]
