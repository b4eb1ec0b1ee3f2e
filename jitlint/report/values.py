"""What `jitlint why` says about the values on a line, for people and as JSON (layer: ``report``)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby

from jitlint.base.diagnostic import Confidence
from jitlint.base.result import ValueRow, WhyResult
from jitlint.report.style import Style, visible

_COLOURS = {"traced": "red", "mixed": "magenta", "static": "blue", "unknown": "bold"}
_GROUNDS = {
    "test": "only tests or examples trace it",
    "catalogue": "code of its kind is meant to be traced",
    "declared": "a comment or the configuration says so",
    "possible": "a guess: nothing in the project calls it, and it looks traceable",
}


def values_text(place: str, result: WhyResult, style: Style, column: int) -> Iterator[str]:
    """The line, then its values: first as a transform runs it, then as Python does. column: what was asked about; 0: the
    line, so what is evident (functions, literals) is left out."""
    yield f"{style.paint(visible(place), 'bold')}: {visible(result.line.strip())}"
    shown = result.rows if column else [row for row in result.rows if not _is_evident(row)]
    others = [row for row in result.others if not _is_evident(row)]
    if not shown and others:
        yield f"  no value is at column {column}; those of the line are:"
        shown = others
    if not shown:
        yield "  nothing that jitlint knows of runs this line, or there are no values on it"
    for in_trace, group in groupby(shown, key=lambda row: row.in_trace):
        listed = list(group)
        yield f"  {'under a transform' if in_trace else 'outside of any transform'}, in `{listed[0].function}`:"
        width = max(len(visible(row.text)) for row in listed)
        yield from dict.fromkeys(f"    {_value(row, width, style)}" for row in listed)
        yield from _reasons([row for row in listed if row.because])


def _reasons(rows: Sequence[ValueRow]) -> Iterator[str]:
    """How the code comes to be run like that; of what, where different values have different reasons."""
    groups: dict[object, list[ValueRow]] = {}
    for row in rows:
        groups.setdefault((row.because, _ground(row)), []).append(row)
    for group in groups.values():
        names = dict.fromkeys(f"`{visible(row.text)}` ({row.status})" for row in group)
        of_what = f"{', '.join(names)}, " if len(groups) > 1 else ""
        yield f"    {of_what}because{_ground(group[0])}:"
        for step in group[0].because:
            where = f"{step.path}:cell {step.cell}" if step.cell else step.path
            yield f"      {visible(where)}:{step.line}: {visible(step.message)}"


def _is_evident(row: ValueRow) -> bool:
    return row.status == "static" and (row.code or row.kind == row.text or row.text[0] in "'\"")


def _value(row: ValueRow, width: int, style: Style) -> str:
    status = style.paint(f"{row.status:<7}", "bold", _COLOURS[row.status])
    why = f", from {row.why}" if row.why.startswith("parameter ") else f" ({row.why})" if row.why else ""
    return f"{visible(row.text).ljust(width)}  {status}  {visible(row.kind)}{visible(why)}".rstrip()


def _ground(row: ValueRow) -> str:
    said = _GROUNDS.get(row.ground, "")
    if not said and row.confidence is not Confidence.CERTAIN:
        said = row.confidence.value
    return f" ({said})" if said else ""


def value_json(row: ValueRow) -> dict[str, object]:
    """One value as plain data."""
    return {
        "path": row.path,
        "cell": row.span.cell or None,
        "line": row.span.line,
        "column": row.span.column,
        "end_line": row.span.end_line,
        "end_column": row.span.end_column,
        "text": row.text,
        "status": row.status,
        "kind": row.kind or None,
        "why": row.why or None,
        "in_trace": row.in_trace,
        "function": row.function,
        "ground": row.ground or None,
        "confidence": row.confidence.value,
        "because": [
            {"path": step.path, "cell": step.cell or None, "line": step.line, "message": step.message}
            for step in row.because
        ],
    }


def values_json(rows: Sequence[ValueRow]) -> str:
    """One array, a value per line."""
    items = [json.dumps(value_json(row)) for row in rows]
    return "[\n" + ",\n".join(items) + "\n]" if items else "[]"
