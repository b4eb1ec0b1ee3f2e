"""Origins to positions: where in the text the nodes of the IR stand.

What it does: parse and lower again, this time keeping the nodes behind the origins, then let libcst generate
the code once and note at which token each wanted node starts and ends.
What it does not: get asked for files without findings; it costs a second parse and about a quarter more.
Layer: ``syntax``.

Spans are those of Python's `ast`, which are also those of tracebacks: redundant parentheses do not belong to an
expression, while those of a tuple or a generator expression do; a decorated function starts at its ``def``
(ask for `Function.first_at` to get the decorator); a compound statement ends where its last statement ends.
The parts of a string annotation span the whole string; a parameter spans its name and annotation.
"""

from __future__ import annotations

import gc
import re
from bisect import bisect_right
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from types import TracebackType
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from jitlint.base.diagnostic import Span
from jitlint.syntax.guard import guard
from jitlint.syntax.literals import without_surplus_strings
from jitlint.syntax.lowering import deep_stack, lower_with_nodes
from jitlint.syntax.source import SyntaxProblem, end_lines

_STAR = re.compile(r"\*\s*\w+")
_NOTHING = nullcontext()


class _Tokens(CodegenState):
    """Generates code, noting where the wanted nodes start and end, as numbers of tokens generated before.

    wanted: the ids of the nodes to note. tails: a node whose end is that of another one, by id.
    """

    def __init__(self, tree: cst.Module, wanted: set[int]) -> None:
        super().__init__(default_indent=tree.default_indent, default_newline=tree.default_newline)
        # A method in C instead of one in Python: called for each token of the file.
        self.add_token = self.tokens.append  # type: ignore[method-assign,assignment]
        self.wanted = wanted
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.tails: dict[int, int] = {}

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> AbstractContextManager[None]:
        key = id(node)
        if key not in self.wanted:
            return _NOTHING
        if end_node is not None:
            self.tails[key] = id(end_node)
            self.wanted.add(id(end_node))
        return _Mark(self, key)


class _Mark(AbstractContextManager[None]):
    """Notes the start of one node when entered and its end when left."""

    __slots__ = ("key", "state")

    def __init__(self, state: _Tokens, key: int) -> None:
        self.state = state
        self.key = key

    def __enter__(self) -> None:
        self.state.starts[self.key] = len(self.state.tokens)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.state.ends[self.key] = len(self.state.tokens)


def compute_spans(text: str, wanted: Collection[int]) -> dict[int, Span]:
    """The spans of these origins in ``text``, the very text that was lowered.

    Empty when the text cannot be lowered; origins that it does not have are left out.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with deep_stack():
            return _spans(text, wanted)
    finally:
        if collecting:
            gc.enable()


def _spans(text: str, wanted: Collection[int]) -> dict[int, Span]:
    lowered = lower_with_nodes(text)
    if isinstance(lowered, SyntaxProblem):
        return {}
    _, nodes, tree = lowered
    ends_of: dict[int, tuple[Any, Any]] = {}
    for origin in wanted:
        if 0 <= origin < len(nodes):
            node = nodes[origin]
            ends_of[origin] = node if type(node) is tuple else (node, node)
    state = _Tokens(tree, {id(node) for pair in ends_of.values() for node in pair})
    tree._codegen(state)
    tokens = state.tokens
    offsets = [0, *accumulate(map(len, tokens))]
    code = "".join(tokens)
    text = end_lines(text)
    if code != text and guard(text) is not None:
        text = without_surplus_strings(text)  # as the parser got it
    if code != text:
        aligned = _align(code, text)
        offsets = [aligned[offset] for offset in offsets]
    lines = [0, *(match.end() for match in re.finditer(r"\r?\n", text))]
    spans = {}
    for origin, (first, last) in ends_of.items():
        start = state.starts[id(first)]
        tail = id(last)
        while (
            state.tails.get(tail) in state.ends
        ):  # punctuation does not record itself: then the own end is right
            tail = state.tails[tail]
        end = state.ends[tail]
        if type(first) is cst.GeneratorExp or (first.lpar if type(first) in _BRACKETED else ()):
            # The parentheses are part of it (for a generator alone in a call: those of the call).
            start -= 1
            while tokens[start] != "(":
                start -= 1
            while tokens[end] != ")":
                end += 1
            end += 1
        begin, stop = offsets[start], offsets[end]
        if type(first) is cst.MatchStar and (star := _STAR.match(text, begin)):
            stop = star.end()  # libcst counts the comma in
        line = bisect_right(lines, begin)
        end_line = bisect_right(lines, stop)
        spans[origin] = Span(line, begin - lines[line - 1] + 1, end_line, stop - lines[end_line - 1] + 1)
    return spans


def _align(code: str, text: str) -> list[int]:
    """For each offset in ``code`` its offset in ``text``, which is the same but for dropped white space.

    libcst drops a form feed before a statement, and blanks behind the conversion in ``f"{x!r }"``.
    """
    aligned = []
    at = 0
    for character in code:
        while at < len(text) and text[at] != character and text[at].isspace():
            at += 1
        aligned.append(at)
        if text.startswith(character, at):
            at += 1
    aligned.append(at)
    return aligned


_BRACKETED = frozenset({cst.Tuple, cst.MatchTuple})
