"""Comments that silence findings (layer: ``driver``).

``# noqa``, ``# noqa: JIT101``, ``# jitlint: ignore`` and ``# jitlint: ignore[JIT101]`` count for a finding when
they stand on the first or last line of the flagged code, or on the first or last line of the statement (of
its header, for ``if`` and the like) that it belongs to. ``# jitlint: ignore[...]`` on a decorator's line covers the
whole function or class; ``# jitlint: off[...]`` and ``# jitlint: on`` enclose a block of lines;
``# jitlint: ignore-file`` silences a whole file, ``# jitlint: ignore-cell`` a cell of a notebook (or of a script that is
divided by lines ``# %%``).
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding, Span
from jitlint.base.rule import begins
from jitlint.syntax.comments import comments

_NOQA = re.compile(
    r"#\s*noqa\b(?P<colon>\s*:\s*(?P<codes>[A-Za-z]+\d*(?:[,\s]+[A-Za-z]+\d+)*)?)?", re.IGNORECASE
)
_OURS = re.compile(
    r"#\s*jitlint:\s*(?P<verb>ignore-file|ignore-cell|ignore|off|on)\b\s*(?:\[(?P<codes>[^\]]*)\]|(?P<wrong>\[|(?<=\w)\(|\(\s*[a-z]+\d|[:=]?\s*jit\d))?",
    re.I,
)
# Rules of ours after what is not our name, or our name without the colon.
_SLIP = re.compile(
    r"#\s*(?P<words>(?!jitlint:)[\w-]+\s*:?\s*(?:ignore-file|ignore-cell|ignore|off))\s*[\[(]\s*jit\d"
    r"|#\s*(?P<bare>jitlint\s+(?:ignore-file|ignore-cell|ignore|off))\s*$",
    re.I,
)
_CELL = re.compile(r"^# ?%%", re.MULTILINE)
_ANY = re.compile(r"#\s*jitlint:\s*(?P<verb>[\w-]+)")
VERBS = ("ignore", "ignore-cell", "ignore-file", "off", "on", "traced", "example")
SILENCERS = ("ignore", "ignore-cell", "ignore-file", "off")
NOTHING = "-"
"""What a comment names that is a slip of the pen: no code is like that."""
_NOTHING = frozenset({NOTHING})
_BETWEEN = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT)
_END = 1 << 60


@dataclass(slots=True, eq=False)
class Comment:
    """One silencing comment. verb: noqa, ignore, ignore-cell, ignore-file or off; anything else is a slip of the pen and silences
    nothing. codes: lower-case selectors; none means all.

    first, last: the lines that it covers besides those of its own statement; used: it silenced something.
    """

    verb: str
    codes: frozenset[str]
    span: Span
    first: int = 0
    last: int = 0
    used: bool = False

    def matches(self, code: str, name: str) -> bool:
        """A selector is a name, a code or the beginning of a code."""
        return not self.codes or any(
            selector in (name, "all") or begins(selector, code) for selector in self.codes
        )


@dataclass(slots=True)
class Suppressions:
    """The silencing comments of one file."""

    comments: list[Comment] = field(default_factory=list)
    logical: dict[int, tuple[int, int]] = field(default_factory=dict)

    def silenced_by(self, code: str, name: str, span: Span) -> list[Comment]:
        """The comments for which a finding of this rule on this span is not wanted."""
        lines = {span.line, span.end_line}
        for line in (span.line, span.end_line):
            lines.update(self.logical.get(line, ()))
        return [
            comment
            for comment in self.comments
            if (comment.span.line in lines and comment.verb != "off")
            or comment.first <= span.line <= comment.last
            if comment.matches(code, name)
        ]


@dataclass(slots=True)
class Judged:
    """What remains of a run's findings. by_noqa: silenced by nothing but a ``noqa``. unused: comments, by path,
    that silence nothing although they speak of this tool."""

    findings: list[Finding] = field(default_factory=list)
    by_noqa: list[Finding] = field(default_factory=list)
    unused: list[tuple[str, Comment]] = field(default_factory=list)


def suppressions(text: str) -> Suppressions:
    """Read the comments of one file."""
    found = Suppressions()
    blocks: list[Comment] = []
    for line, column, comment in comments(text):
        _read_comment(comment, line, column, found, blocks)
    if found.comments:
        extents = _statements(text, found)
        for item in found.comments:
            if item.verb == "ignore":
                item.first, item.last = extents.get(item.span.line, (0, 0))
            elif item.verb == "ignore-cell":
                item.first, item.last = _cell_around(text, item.span.line)
    return found


def _cell_around(text: str, line: int) -> tuple[int, int]:
    """The lines between the ``# %%`` above and the one below."""
    marks = [text.count("\n", 0, match.start()) + 1 for match in _CELL.finditer(text)]
    return max([0, *(mark for mark in marks if mark <= line)]), min([_END, *(m for m in marks if m > line)])


def judge(
    findings: Iterable[Finding],
    paths: Iterable[str],
    text_of: Callable[[str], str | None],
    unheard: Callable[[Comment], bool] = lambda comment: False,
    unknown: Callable[[Comment], bool] = lambda comment: False,
) -> Judged:
    """Sort the findings by what the comments say of them.

    paths: the files whose comments are looked at for being of use. ``text_of`` gives the text of a file.
    unheard: whether a comment may silence something that was not looked for. unknown: whether it names what is no rule.
    """
    known: dict[str, Suppressions] = {}

    def of(path: str) -> Suppressions:
        if path not in known:
            known[path] = suppressions(text_of(path) or "")
        return known[path]

    result = Judged()
    for finding in findings:
        matched = of(finding.path).silenced_by(finding.code, finding.name, finding.span)
        for comment in matched:
            comment.used = True
        if not matched:
            result.findings.append(finding)
        elif all(comment.verb == "noqa" for comment in matched):
            result.by_noqa.append(finding)
    for path in paths:
        result.unused += [
            (path, c)
            for c in of(path).comments
            if unknown(c) or (not c.used and _is_ours(c) and not unheard(c))
        ]
    return result


def _is_ours(comment: Comment) -> bool:
    """A ``noqa`` counts when each of its codes is one of this tool's."""
    if comment.verb != "noqa" or comment.codes == _NOTHING:
        return True
    return bool(comment.codes) and all(code.startswith("jit") for code in comment.codes)


def _statements(text: str, found: Suppressions) -> dict[int, tuple[int, int]]:
    """Fill in the lines of statements over several lines; give the extent of what is decorated by decorator line.

    Text that Python cannot tokenize is read as far as it goes.
    """
    extents: dict[int, tuple[int, int]] = {}
    pending: list[int] = []
    open_blocks: list[tuple[int, list[int]]] = []
    first, last, depth, starts_with = 0, 0, 0, ""

    def close(end: int) -> None:
        while open_blocks and open_blocks[-1][0] > depth:
            _, lines = open_blocks.pop()
            extents.update(dict.fromkeys(lines, (lines[0], end)))

    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.INDENT:
                depth += 1
            elif token.type == tokenize.DEDENT:
                depth -= 1
                close(last)
            elif token.type == tokenize.NEWLINE:
                last = token.start[0]
                if last > first:
                    found.logical.update(dict.fromkeys(range(first, last + 1), (first, last)))
                if starts_with == "@":
                    pending.extend(range(first, last + 1))
                elif pending:
                    open_blocks.append((depth + 1, pending))
                    extents.update(dict.fromkeys(pending, (pending[0], last)))
                    pending = []
                first = 0
            elif not first and token.type not in _BETWEEN:
                first, starts_with = token.start[0], token.string
                while open_blocks and open_blocks[-1][0] > depth:  # a body on the line of its header
                    open_blocks.pop()
    except (tokenize.TokenError, SyntaxError):
        pass
    return extents


def _read_comment(comment: str, line: int, column: int, found: Suppressions, blocks: list[Comment]) -> None:
    for match in _OURS.finditer(comment):
        _read_ours(match, _span(line, column, match), found, blocks)
    for match in _ANY.finditer(comment):
        if match["verb"].lower() not in VERBS:
            found.comments.append(Comment(match["verb"], _NOTHING, _span(line, column, match)))
    for match in _SLIP.finditer(comment):
        words = " ".join((match["words"] or match["bare"]).split())
        found.comments.append(Comment(words, _NOTHING, _span(line, column, match)))
    for match in _NOQA.finditer(comment):
        if match["colon"] and not match["codes"]:
            continue
        codes = frozenset(code.lower() for code in re.split(r"[,\s]+", match["codes"] or "") if code)
        found.comments.append(Comment("noqa", codes, _span(line, column, match)))


def _read_ours(match: re.Match[str], span: Span, found: Suppressions, blocks: list[Comment]) -> None:
    """One of the tool's own comments; it opens or closes one of the blocks, perhaps."""
    codes = frozenset(code.strip().lower() for code in (match["codes"] or "").split(",") if code.strip())
    if match["wrong"]:
        found.comments.append(Comment(match["verb"] + "()", _NOTHING, span))
        return  # silencing everything would be more than was meant
    if match["codes"] is not None and not codes:
        found.comments.append(Comment(match["verb"] + "[]", _NOTHING, span))
        return  # names nothing, so it silences nothing
    verb, line = match["verb"].lower(), span.line
    if verb == "on":
        for block in [b for b in blocks if not codes or b.codes == codes]:
            block.last = line
            blocks.remove(block)
        return
    item = Comment(verb, codes, span)
    if verb == "ignore-file":
        item.first, item.last = 1, _END
    elif verb == "off":
        item.first, item.last = line, _END
        blocks.append(item)
    found.comments.append(item)


def _span(line: int, column: int, match: re.Match[str]) -> Span:
    return Span(line, column + match.start(), line, column + len(match[0].rstrip()) + match.start())
