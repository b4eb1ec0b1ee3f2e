"""The table of a recorded run: what was compiled, how often, and for how long (layer: ``report``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jitlint.report.style import Style, visible

_WIDEST = 60


@dataclass(frozen=True, slots=True)
class RecordedRow:
    """One function that JAX itself called for a trace, or one of a library. traces: None if nobody counted. forms: distinct
    arguments, 0 if nobody counted. captured: bytes of captured arrays. changes: why it was traced again, in words."""

    place: str
    qualname: str
    modes: tuple[str, ...]
    traces: int | None
    compiles: int
    seconds: float
    forms: int
    captured: int
    example: str
    reason: str
    changes: tuple[str, ...] = ()


def recorded_with(jax: str, python: str, target: str) -> str:
    """What ran, for the line below. target: the JAX that jitlint's findings are about, if that is another."""
    about = f"; jitlint's findings are about JAX {visible(target)}" if target else ""
    return f"recorded with JAX {visible(jax) or '?'}, Python {visible(python)}{about}"


def recorded_table(rows: Iterable[RecordedRow], style: Style) -> Iterator[str]:
    """Slowest and most often compiled first, with an example of the arguments below each."""
    listed = sorted(rows, key=lambda row: (-row.seconds, -row.compiles, row.place))
    header = ("PLACE", "FUNCTION", "BY", "TRACES", "COMPILES", "SECONDS", "FORMS", "CAPTURED")
    cells = [
        (
            visible(row.place),
            visible(row.qualname),
            "+".join(row.modes),
            "-" if row.traces is None else f"{row.traces:,}",
            f"{row.compiles:,}",
            f"{row.seconds:.2f}",
            f"{row.forms:,}" if row.forms else "-",
            _size(row.captured),
        )
        for row in listed
    ]
    widths = [max(len(cell[i]) for cell in [header, *cells]) for i in range(len(header))]

    def line(values: tuple[str, ...]) -> str:
        left = [value.ljust(width) for value, width in zip(values[:3], widths[:3])]
        right = [value.rjust(width) for value, width in zip(values[3:], widths[3:])]
        return "  ".join([*left, *right]).rstrip()

    yield style.paint(line(header), "bold")
    for row, values in zip(listed, cells):
        yield line(values)
        for change in row.changes:
            yield f"    {visible(change)}"
        if row.example and not row.changes:
            text = row.example if len(row.example) <= _WIDEST else row.example[: _WIDEST - 1] + "…"
            yield f"    {visible(text)}"
        if row.reason:
            yield f"    {visible(row.reason)}"


def _size(count: int) -> str:
    if not count:
        return "-"
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count //= 1000
    return f"{count} GB"
