"""Findings as text for people: one line each, or in full with source, path and help (layer: ``report``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from jitlint.base.diagnostic import TRACED, Confidence, Finding, Related, Severity
from jitlint.base.result import BY_A_RUN, EXCLUDED, IN_TESTS, INSTALLED, UNREAD
from jitlint.report.excerpt import excerpt
from jitlint.report.style import Style, visible, width

LinesOf = Callable[[str], list[str]]
"""The lines of the file (or the cell of a notebook) as `Span.within` names it; empty if it cannot be read."""

_NO_NEWS = (IN_TESTS, BY_A_RUN, EXCLUDED, INSTALLED, UNREAD)
"""What is left out for these reasons was not known before either."""
_STEPS_SHOWN = 5
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "magenta", Severity.INFO: "blue"}
_GROUNDS = {
    "test": "only the project's own tests or examples trace this code",
    "catalogue": "nothing in the project traces this code, but code of its kind is meant to be traced",
    "declared": "a comment or the configuration says that this code is traced",
    "possible": "nothing says that this code is traced; its parameters look like arrays",
    "eager": "this fails with and without tracing",
}

_BY_TRANSFORMS = frozenset("JIT208 JIT209 JIT503 JIT504 JIT507 JIT508 JIT512".split())
"""Without the transform this would not fail."""

_BECAUSE = {
    "seen": "seen: the program itself makes or passes it",
    "ruled": "ruled: what JAX does there",
    "used": "used: the code does to it what only an array can stand",
    "said": "said: an annotation, a comment or a library's convention",
    "guessed": "guessed: it looks so",
}


def with_reason(finding: Finding) -> str:
    """The message, with the first step of the path, for places that show one line only."""
    if not finding.related or finding.ground == "eager":
        return visible(finding.message)
    return f"{visible(finding.message)} ({finding.heading} {_step(finding.related[0])})"


def concise(
    findings: Iterable[Finding],
    style: Style,
    show_path: bool = False,
    urls: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """One line per finding; with ``show_path``, the steps that lead to it below. urls: where a code leads."""
    for finding in findings:
        code = style.paint(finding.code, "bold", _COLOURS[finding.severity])
        code = style.link(code, urls.get(finding.code) if urls else None)
        fix = f" [fix, {finding.fix.safety.value}: {visible(finding.fix.message)}]" if finding.fix else ""
        yield f"{_place(finding, style)} {code} {visible(finding.message)}{fix}"
        if show_path:
            for step in finding.related:
                yield f"    {_where(step)}:{step.span.line}:{step.span.column}: {visible(step.message)}"


def full(
    findings: Iterable[Finding],
    style: Style,
    lines_of: LinesOf,
    show_path: bool = False,
    urls: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Each finding with its source line, why the code is traced, and what to write instead.

    With ``show_path`` every step shows, with its source line; otherwise long paths lose their middle. urls: where a code leads.
    """
    for finding in findings:
        yield from _heading(finding, style, urls or {})
        shown = [finding.span.line, *(step.span.line for step in finding.related if show_path)]
        gutter = len(str(max(shown)))
        source = excerpt(lines_of(finding.span.within(finding.path)), finding.span, style, gutter)
        if source:
            yield f"{' ' * gutter} {style.paint('|', 'blue')}"
            yield from source
        yield from _because(finding, style, lines_of, gutter, show_path)
        said = [("note:", _note(finding)), ("help:", finding.help)]
        if finding.fix is not None:
            said.append((f"fix ({finding.fix.safety.value}):", finding.fix.message))
        for label, text in said:
            yield from _said(label, visible(text), style, gutter) if text else ()
        yield ""


def _heading(finding: Finding, style: Style, urls: Mapping[str, str]) -> Iterator[str]:
    """Place, rule and message; it may take several lines."""
    label = f"{finding.severity.value}[{finding.code}]"
    place = f"{_where(finding)}:{finding.span.line}:{finding.span.column}:"
    first, *more = style.wrapped(visible(finding.message), width(f"{place} {label} "), 4)
    painted = style.link(style.paint(label, "bold", _COLOURS[finding.severity]), urls.get(finding.code))
    yield f"{_place(finding, style)} {painted} {style.paint(first, 'bold')}".rstrip()
    yield from (f"    {style.paint(line, 'bold')}" for line in more)


def _because(
    finding: Finding, style: Style, lines_of: LinesOf, gutter: int, show_path: bool
) -> Iterator[str]:
    """The steps that lead to a finding."""
    if not finding.related:
        return
    heading = "see also:" if finding.ground == "eager" else f"{finding.heading}:"
    yield f"{_mark(style, gutter)} {style.paint(heading, 'bold')}"
    if not show_path:
        for line in _shortened(finding.related):
            first, *more = style.wrapped(line, gutter + 3, gutter + 5)
            yield f"{' ' * (gutter + 3)}{first}"
            yield from (f"{' ' * (gutter + 5)}{each}" for each in more)
        return
    for step in finding.related:
        first, *more = style.wrapped(f"{_step(step)} [{step.because}]", gutter + 5, gutter + 5)
        yield f"{' ' * gutter} {style.paint(':::', 'blue')} {first}"
        yield from (f"{' ' * (gutter + 5)}{each}" for each in more)
        yield from excerpt(lines_of(step.span.within(step.path)), step.span, style, gutter)
    if finding.traced or finding.kind:
        yield from _said("rests on:", _rests_on(finding), style, gutter)


def _said(label: str, text: str, style: Style, gutter: int) -> Iterator[str]:
    """What is to be said besides."""
    first, *more = style.wrapped(text, gutter + 4 + width(label), gutter + 5)
    yield f"{_mark(style, gutter)} {style.paint(label, 'bold')} {first}".rstrip()
    yield from (f"{' ' * (gutter + 5)}{line}" for line in more)


def _mark(style: Style, gutter: int) -> str:
    return f"{' ' * gutter} {style.paint('=', 'blue')}"


def summary(
    findings: Sequence[Finding],
    problems: Sequence[Finding],
    files: int,
    style: Style,
    hidden: Sequence[str] = (),
) -> str:
    """The last line: how much was found, in how many files, and how many were checked.

    hidden: what was found too, and is not shown.
    """
    shown = [*findings, *problems] if findings else []
    affected = len({finding.path for finding in shown})
    parts = [
        style.paint(f"{count:,} {severity.value}{'s' if count != 1 else ''}", "bold", _COLOURS[severity])
        for severity, count in _by_severity(shown)
    ]
    more = f" ({', '.join(hidden)})" if hidden else ""
    known = any(all(words not in part for words in _NO_NEWS) for part in hidden)
    new = "new " if known else ""
    count = len({problem.path for problem in problems})
    failed = style.paint(f"{_files(count)} could not be analysed.", "bold", "red")
    if parts:
        found = f"Found {', '.join(parts)} in {_files(affected)} ({'; '.join([f'{_files(files)} checked', *hidden])})."
        return f"{found} {failed}" if count else found
    if not count:
        return (
            f"No {new}findings in {_files(files)}{more}."
            if files
            else f"No Python files, so nothing was checked{more}."
        )
    return f"{failed} No {new}findings in what could be{more}." if files else failed


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def _by_severity(findings: Sequence[Finding]) -> list[tuple[Severity, int]]:
    counts = Counter(finding.severity for finding in findings)
    return [(severity, counts[severity]) for severity in Severity if counts[severity]]


def _place(finding: Finding, style: Style) -> str:
    return f"{style.paint(_where(finding), 'bold')}:{finding.span.line}:{finding.span.column}:"


def _step(step: Related) -> str:
    return f"{_where(step)}:{step.span.line}: {visible(step.message)}"


def _where(item: Finding | Related) -> str:
    """The file, and the cell in a notebook."""
    return visible(item.span.within(item.path))


def _rests_on(finding: Finding) -> str:
    """What the value is believed to be, and why."""
    if finding.traced and finding.traced == finding.kind:
        return f"traced, and an array ({_BECAUSE[finding.traced]})"
    claims = [("traced", finding.traced), ("an array", finding.kind)]
    return ", ".join(f"{claim} ({_BECAUSE[ground]})" for claim, ground in claims if ground)


def _shortened(steps: Sequence[Related]) -> list[str]:
    texts = [_step(step) for step in steps]
    if len(texts) <= _STEPS_SHOWN:
        return texts
    hidden = len(texts) - _STEPS_SHOWN + 1
    return [*texts[:2], f"... {hidden} more (--show-path)", *texts[2 + hidden :]]


def _note(finding: Finding) -> str:
    about_traces = finding.ground == "eager" or finding.heading == TRACED
    note = _GROUNDS.get(finding.ground, "") if about_traces else ""
    if finding.ground == "eager" and finding.severity is not Severity.ERROR:
        note = ""  # it does not fail: nothing has to be traced for it to be wrong
    elif finding.ground == "eager" and finding.code in _BY_TRANSFORMS:
        note = "the transform refuses this wherever it stands"
    if finding.confidence is Confidence.CERTAIN or not finding.ground:
        return note
    return f"{finding.confidence.value}: {note}" if note else f"{finding.confidence.value}, not certain"
