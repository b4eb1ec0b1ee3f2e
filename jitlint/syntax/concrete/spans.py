"""Origins to positions, by way of libcst, which knows exactly where everything stands.

What it does: parse and lower again, this time keeping the nodes behind the origins, then let libcst generate
the code once and note at which token each wanted node starts and ends. Only the outermost statements that have
wanted origins, if Python's own parser, which is several times faster, can say where these statements are.
What it does not: get asked for files without findings; it costs a second parse and about a quarter more.
Layer: ``syntax``.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate
from types import TracebackType
from typing import Any, NamedTuple

import libcst as cst
from libcst._nodes.internal import CodegenState

from jitlint.base.diagnostic import Span
from jitlint.syntax import ir
from jitlint.syntax.concrete.lowering import lower_with_nodes
from jitlint.syntax.guard import guard, python_parse
from jitlint.syntax.literals import without_surplus_strings
from jitlint.syntax.lowering import deep_stack, no_collection
from jitlint.syntax.source import SyntaxProblem, end_lines

_STAR = re.compile(r"\*\s*\w+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CLASS = "class _:\n"
"""What a part of a class needs above it."""
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


def compute_spans(text: str, wanted: Collection[int], module: ir.Module | None = None) -> dict[int, Span]:
    """The spans of these origins in ``text``, the very text that was lowered.

    module: what it was lowered to, which saves most of the work in a long file.
    Empty when the text cannot be lowered; origins that it does not have are left out.
    """
    with no_collection(), deep_stack():
        spans = _spans_in_parts(end_lines(text), wanted, module) if module is not None else None
        if spans is None:
            spans = _spans(text, wanted)
        return spans or {}


class _Part(NamedTuple):
    """Some lines of a text, and the first of its origins and the one after its last. member: they stand in a class."""

    lines: tuple[int, int]
    start: int
    stop: int
    member: bool


def _spans_in_parts(text: str, wanted: Collection[int], module: ir.Module) -> dict[int, Span] | None:
    """The spans, from the outermost statements that have them; None if a statement is not what was lowered."""
    parts = _parts(text, module)
    if parts is None:
        return None
    starts = [part.start for part in parts]
    origins_of: dict[int, set[int]] = {}
    for origin in wanted:
        if 0 <= origin < module.origins:
            origins_of.setdefault(bisect_right(starts, origin) - 1, set()).add(origin)
    lines = _LINE.findall(text)
    spans: dict[int, Span] = {}
    for number, origins in origins_of.items():
        part = parts[number]
        first, last = part.lines
        found = _spans("".join([_CLASS * part.member, *lines[first - 1 : last]]), origins, part)
        if found is None:
            return None
        down = first - 1 - part.member
        for origin, span in found.items():
            spans[origin] = Span(span.line + down, span.column, span.end_line + down, span.end_column)
    return spans


def _parts(text: str, module: ir.Module) -> list[_Part] | None:
    """The outermost statements in order, classes as their heads and their members; None if they are not as lowered."""
    tree = python_parse(text)
    if not isinstance(tree, ast.Module):
        return None
    ranges = _statements(tree.body)
    if len(ranges) != len(module.firsts):
        return None
    parts: list[_Part] = []
    ends = [*module.firsts[1:], module.origins]
    for number, (lines, statements) in enumerate(ranges):
        start, stop = module.firsts[number], ends[number]
        members = module.members.get(number, [])
        inner = _statements(statements[0].body) if isinstance(statements[0], ast.ClassDef) else []
        parts.append(_Part(lines, start, stop, False))
        if len(members) != len(inner) or not inner or inner[0][0][0] <= statements[0].lineno:
            continue
        for (rows, _), first, last in zip(inner, members, [*members[1:], stop]):
            parts.append(_Part(rows, first, last, True))
    return parts


def _statements(block: list[ast.stmt]) -> list[tuple[tuple[int, int], list[ast.stmt]]]:
    """First and last line of each statement of a block, and the statement; those that share a line are one."""
    ranges: list[tuple[tuple[int, int], list[ast.stmt]]] = []
    for statement in block:
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        last = statement.end_lineno or first
        if ranges and first <= ranges[-1][0][1]:
            (start, end), shared = ranges[-1]
            ranges[-1] = ((start, max(last, end)), [*shared, statement])
        else:
            ranges.append(((first, last), [statement]))
    return ranges


def _spans(text: str, wanted: Collection[int], part: _Part | None = None) -> dict[int, Span] | None:
    """As `compute_spans`, for a whole text or a part of one. None when it cannot be lowered, or is not that part."""
    lowered = lower_with_nodes(text)
    if isinstance(lowered, SyntaxProblem):
        return None
    module, nodes, tree = lowered
    start = 0
    if part is not None:
        above = module.members[0][0] if part.member else 0
        if module.origins - above != part.stop - part.start:
            return None
        start = part.start - above
    ends_of: dict[int, tuple[Any, Any]] = {}
    for origin in wanted:
        if 0 <= origin - start < len(nodes):
            node = nodes[origin - start]
            ends_of[origin] = node if type(node) is tuple else (node, node)
    state = _Tokens(tree, {id(node) for pair in ends_of.values() for node in pair})
    tree._codegen(state)
    text, offsets = _offsets(state.tokens, text)
    lines = [0, *(match.end() for match in re.finditer(r"\r?\n", text))]
    spans = {}
    for origin, (first, last) in ends_of.items():
        begin_token, end_token = _extent(state, first, last)
        begin, stop = offsets[begin_token], offsets[end_token]
        if type(first) is cst.MatchStar and (star := _STAR.match(text, begin)):
            stop = star.end()  # libcst counts the comma in
        line = bisect_right(lines, begin)
        end_line = bisect_right(lines, stop)
        spans[origin] = Span(line, begin - lines[line - 1] + 1, end_line, stop - lines[end_line - 1] + 1)
    return spans


def _offsets(tokens: list[str], text: str) -> tuple[str, list[int]]:
    """The text with its line ends as the parser saw them, and where each token begins in it."""
    offsets = [0, *accumulate(map(len, tokens))]
    code = "".join(tokens)
    text = end_lines(text)
    if code != text and guard(text) is not None:
        text = without_surplus_strings(text)  # as the parser got it
    if code != text:
        aligned = _align(code, text)
        offsets = [aligned[offset] for offset in offsets]
    return text, offsets


def _extent(state: _Tokens, first: Any, last: Any) -> tuple[int, int]:
    """The tokens at which what reaches from one node to another begins and ends."""
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
        while state.tokens[start] != "(":
            start -= 1
        while state.tokens[end] != ")":
            end += 1
        end += 1
    return start, end


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
