"""Findings with the verdict of real JAX as one HTML page (layer: ``report``).

The page stands alone: it loads nothing, runs no script (and forbids both, should something slip through), and follows
the reader's light or dark setting. Everything that comes from files or from JAX is escaped. Does not decide verdicts.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from jitlint.base.diagnostic import Finding, Related
from jitlint.report.style import visible
from jitlint.report.verdicts import Missed, Row

# In the order of the summary; anything else comes after them.
_VERDICTS = ("confirmed", "refuted", "not-reached", "no-inputs", "could-not-import")
# Lines shown around a line that is spoken of.
_AROUND = 4
_MOST = 400
# So many lines of a finding are marked, if it has that many.
_MOST_LINES = 60

Lines = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Numbered:
    """A row with its place in the page."""

    number: int
    row: Row


def verdicts_html(
    rows: Sequence[Row], missed: Sequence[Missed], urls: Mapping[str, str], lines: Lines, subtitle: str
) -> str:
    """The page. ``urls``: code to a page about it. ``lines``: the source lines of a path, none if it cannot be read.
    ``subtitle``: what it was made with."""
    by_path: dict[str, list[_Numbered]] = {}
    for number, row in enumerate(rows):
        by_path.setdefault(row.finding.span.within(row.finding.path), []).append(_Numbered(number, row))
    counts = Counter(row.verdict for row in rows)
    return _PAGE.substitute(
        style=_STYLE,
        subtitle=_text(subtitle),
        total=_text(f"{len(rows)} finding{'' if len(rows) == 1 else 's'}"),
        switches="".join(_switch(verdict, counts[verdict]) for verdict in _known(counts)),
        summary=_summary(rows, urls),
        missed=_missed(missed),
        files="".join(_file(path, found, urls, lines) for path, found in by_path.items()),
    )


def _text(text: str) -> str:
    """Text from outside, shown as it is: neither markup nor control characters take effect."""
    return html.escape(visible(text))


def _prose(text: str) -> str:
    """A sentence of jitlint's, with what stands between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", _text(text))


def _known(counts: Mapping[str, int]) -> list[str]:
    rest = sorted(verdict for verdict in counts if verdict not in _VERDICTS)
    return [verdict for verdict in (*_VERDICTS, *rest) if counts.get(verdict)]


def _class(verdict: str) -> str:
    """A verdict as the name of a CSS class."""
    return re.sub(r"[^a-z-]", "", verdict.lower()) or "other"


def _switch(verdict: str, count: int) -> str:
    name = _class(verdict)
    return (
        f'<label class="switch {name}"><input type="checkbox" checked id="show-{name}">'
        f'<span class="badge {name}">{_text(verdict)}</span> {count}</label>\n'
    )


def _rule(finding: Finding, urls: Mapping[str, str]) -> str:
    """The code, as a link if there is a page about it."""
    url = urls.get(finding.code, "")
    if not url.startswith(("https://", "http://")):
        return _text(finding.code)
    return f'<a href="{_text(url)}" rel="noreferrer">{_text(finding.code)}</a>'


def _summary(rows: Sequence[Row], urls: Mapping[str, str]) -> str:
    """How many findings of each rule got which verdict."""
    if not rows:
        return '<p class="empty">Nothing to confirm.</p>'
    counts = Counter((row.finding.code, row.verdict) for row in rows)
    columns = _known(Counter(row.verdict for row in rows))
    first = {row.finding.code: row.finding for row in reversed(rows)}
    target = {(row.finding.code, row.verdict): n for n, row in reversed(list(enumerate(rows)))}
    head = "".join(f'<th class="number">{_text(verdict)}</th>' for verdict in columns)
    body = []
    for code in sorted(first):
        cells = "".join(
            _cell(verdict, counts[code, verdict], target.get((code, verdict))) for verdict in columns
        )
        body.append(
            f"<tr><td>{_rule(first[code], urls)}</td><td>{_text(first[code].name)}</td>{cells}</tr>\n"
        )
    return (
        f'<div class="wide"><table class="summary"><thead><tr><th>rule</th><th>name</th>{head}</tr></thead>'
        f"<tbody>\n{''.join(body)}</tbody></table></div>"
    )


def _cell(verdict: str, count: int, first: int | None) -> str:
    """A count, with a link to the first of them."""
    if first is None:
        return '<td class="number none">0</td>'
    return f'<td class="number {_class(verdict)}"><a href="#finding-{first}">{count}</a></td>'


def _missed(missed: Sequence[Missed]) -> str:
    if not missed:
        return ""
    items = "".join(
        f'<li><code>{_text(path)}:{line}</code> {_text(error)} <span class="with">{_text(inputs)}</span></li>\n'
        for path, line, error, inputs in missed
    )
    return f"<section><h2>Errors without a finding</h2><ul>\n{items}</ul></section>"


def _file(path: str, found: Sequence[_Numbered], urls: Mapping[str, str], lines: Lines) -> str:
    """A file: the parts of its source that findings speak of, each finding below its line."""
    source = lines(path)
    # Below the last line of what it marks.
    at: dict[int, list[_Numbered]] = {}
    marked: dict[int, list[Row]] = {}
    for one in found:
        covered = _covered(one.row.finding, len(source))
        at.setdefault(covered[-1], []).append(one)
        for line in covered:
            marked.setdefault(line, []).append(one.row)
    parts = []
    last = 0
    for number in _shown_lines(sorted(marked), source):
        if any(line.strip() for line in source[last : number - 1]):
            parts.append('<tr class="gap"><td>⋯</td><td></td></tr>\n')
        last = number
        here = at.pop(number, [])
        parts.append(_line(number, source[number - 1], marked.get(number, ())))
        parts += [_finding(one, urls, lines) for one in here]
    # Lines that the file does not have (any more), or a file that cannot be read.
    parts += [_finding(one, urls, lines) for rest in at.values() for one in rest]
    return (
        f"<section><h2>{_text(path)}</h2>"
        f'<div class="wide"><table class="source"><tbody>\n{"".join(parts)}</tbody></table></div></section>\n'
    )


def _covered(finding: Finding, length: int) -> range:
    """The lines of a finding, as far as the file has them."""
    first = finding.span.line
    return range(first, max(first, min(finding.span.end_line, length, first + _MOST_LINES - 1)) + 1)


def _shown_lines(wanted: Iterable[int], source: Sequence[str]) -> Iterator[int]:
    """The wanted lines and some around them, without blank ones at the edges."""
    lines = set(wanted)
    near = {
        number
        for line in lines
        for number in range(max(1, line - _AROUND), min(len(source), line + _AROUND) + 1)
    }
    blank = {number for number in near - lines if not source[number - 1].strip()}
    edges = [number for number in blank if number - 1 not in near or number + 1 not in near]
    while edges:
        near -= set(edges)
        blank -= set(edges)
        edges = [number for number in blank if number - 1 not in near or number + 1 not in near]
    return iter(sorted(near))


def _line(number: int, text: str, rows: Sequence[Row]) -> str:
    """A source line; what the findings on it mean is marked, where they overlap that of the first."""
    shown = text.rstrip("\r\n")
    if not rows:
        return f"<tr><td>{number}</td><td><pre>{_source(shown)}</pre></td></tr>\n"
    code, done = "", 0
    for start, end, verdict in sorted((*_marked(row, number, shown), _class(row.verdict)) for row in rows):
        if start >= done:
            mark = f'<mark class="{verdict}">{_source(shown[start:end])}</mark>'
            code, done = f"{code}{_source(shown[done:start])}{mark}", end
    code = f"{code}{_source(shown[done:])}"
    return f'<tr class="hit"><td>{number}</td><td><pre>{code}</pre></td></tr>\n'


def _marked(row: Row, number: int, text: str) -> tuple[int, int]:
    """The columns of a finding on one of its lines."""
    span = row.finding.span
    start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
    end = span.end_column - 1 if number == span.end_line else len(text.rstrip())
    return min(start, len(text)), max(min(start, len(text)), min(end, len(text)))


def _source(text: str) -> str:
    """Part of a source line; nobody reads on where it is very long."""
    return _text(text if len(text) <= _MOST else text[:_MOST] + "…")


def _finding(one: _Numbered, urls: Mapping[str, str], lines: Lines) -> str:
    """A finding with its path folded below it, and JAX's evidence: open where it proves something."""
    row, finding = one.row, one.row.finding
    verdict = _class(row.verdict)
    why = ""
    if finding.related:
        steps = "".join(_step(step, lines) for step in finding.related)
        count = f"{len(finding.related)} step{'' if len(finding.related) == 1 else 's'}"
        why = f"<details><summary>How it got here: {count}</summary><ol>{steps}</ol></details>"
    inputs = f'<p class="with">with <code>{_text(row.inputs)}</code></p>' if row.inputs else ""
    help_text = f'<p class="help">help: {_prose(finding.help)}</p>' if finding.help else ""
    return (
        f'<tr class="finding {verdict}" id="finding-{one.number}"><td></td><td><div class="card">'
        f'<p><span class="badge {verdict}">{_text(row.verdict)}</span> {_rule(finding, urls)} '
        f'<span class="name">{_text(finding.name)}</span></p>'
        f'<p class="message">{_prose(finding.message)}</p>{why}'
        f'<details class="evidence"{" open" if row.verdict == "confirmed" else ""}><summary>What JAX did</summary><p><code>{_text(row.said)}</code></p>{inputs}'
        f"</details>{help_text}</div></td></tr>\n"
    )


def _step(step: Related, lines: Lines) -> str:
    source = lines(step.span.within(step.path))
    line = step.span.line
    text = source[line - 1].strip() if 1 <= line <= len(source) else ""
    code = f"<pre>{_source(text)}</pre>" if text else ""
    return f"<li><code>{_text(step.path)}:{line}</code> {_prose(step.message)}{code}</li>"


_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #ffffff; --card: #f6f8fa; --line: #d1d9e0;
  --confirmed: #b3261e; --refuted: #0b6e8f; --open: #8a5a00; --mark: #ffe3e0; --mark-refuted: #d8f0f8;
  --mark-open: #fff1cc; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa5b1; --page: #0d1117; --card: #161b22;
  --line: #30363d; --confirmed: #ff8a80; --refuted: #67d0ef; --open: #f0c05a; --mark: #5a1d1a;
  --mark-refuted: #0b3f50; --mark-open: #4a3600; } }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; font-family: ui-monospace, monospace;
  overflow-wrap: anywhere; }
p { margin: .25rem 0; } a { color: inherit; } .finding:target .card { outline: 2px solid currentColor; } .subtitle, .with, .help, .name, .empty { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; } pre { margin: 0; white-space: pre; tab-size: 4; }
code { overflow-wrap: anywhere; } .wide { overflow-x: auto; } table { border-collapse: collapse; }
.summary th, .summary td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); }
.summary .number { text-align: right; } .summary .none { color: var(--soft); }
.switch { display: inline-block; margin: .75rem 1rem .75rem 0; cursor: pointer; }
.switch input { margin: 0 .35rem 0 0; vertical-align: middle; }
.badge { border: 1px solid currentColor; border-radius: .7rem; padding: 0 .5rem; font-size: .85em; white-space: nowrap;
  color: var(--open); } .badge.confirmed, td.confirmed { color: var(--confirmed); font-weight: 600; }
.badge.refuted, td.refuted { color: var(--refuted); font-weight: 600; }
.source { width: 100%; border: 1px solid var(--line); } .source td { padding: 0 .75rem; vertical-align: top; }
.source td:first-child { width: 1%; text-align: right; color: var(--soft); font: 13px/1.5 ui-monospace, monospace;
  user-select: none; border-right: 1px solid var(--line); }
mark { color: inherit; background: var(--mark-open); } mark.confirmed { background: var(--mark); }
mark.refuted { background: var(--mark-refuted); }
.card { margin: .25rem 0 .5rem; padding: .5rem .75rem; background: var(--card); border-left: 4px solid var(--open);
  position: sticky; left: .75rem; box-sizing: border-box; max-width: calc(min(70rem, 100vw) - 8rem); }
.message { font-weight: 600; } .card pre { overflow-x: auto; }
.finding.confirmed .card { border-color: var(--confirmed); } .finding.refuted .card { border-color: var(--refuted); }
summary { cursor: pointer; } ol { margin: .25rem 0; }
body:has(#show-confirmed:not(:checked)) .finding.confirmed, body:has(#show-refuted:not(:checked)) .finding.refuted,
body:has(#show-not-reached:not(:checked)) .finding.not-reached,
body:has(#show-no-inputs:not(:checked)) .finding.no-inputs,
body:has(#show-could-not-import:not(:checked)) .finding.could-not-import { display: none; }
@media (max-width: 40rem) { body { padding: .5rem; } .summary td:nth-child(2), .summary th:nth-child(2) { display: none; }
  .summary { width: 100%; font-size: .8rem; } .summary th { font-weight: 500; line-height: 1.2;
  vertical-align: bottom; } .summary th, .summary td { padding-right: .35rem; } .source td { padding: 0 .4rem; }
  .card { max-width: calc(100vw - 4.5rem); left: .4rem; padding: .5rem; } .card ol { padding-left: 1.25rem; } }
@media print { details > * { display: block; } .switch input { display: none; } }
"""

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>jitlint confirm: $total</title>
<style>$style</style>
</head>
<body>
<header><h1>$total, judged by running the code</h1>
<p class="subtitle">$subtitle</p></header>
<div>$switches</div>
$summary
$missed
$files
</body>
</html>
""")
