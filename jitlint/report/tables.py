"""The lists that `jitlint traced` and `jitlint rules` print (layer: ``report``)."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Sequence

from jitlint.base.config import KEYS, Settings
from jitlint.base.result import Reason, TracedRow
from jitlint.base.rule import Rule
from jitlint.report.style import Style, visible


def traced_table(rows: Sequence[TracedRow], style: Style, show_path: bool = False) -> Iterator[str]:
    """One line per function; with ``show_path``, the steps that lead to it below. Guesses carry a ``?``."""
    header = ("PLACE", "FUNCTION", "MODES", "PARAMETERS", "GROUND")
    cells = [
        (
            f"{_where(row)}:{row.line}",
            visible(row.qualname),
            "+".join(row.modes) or "-",
            " ".join(f"{name}:{status}" for name, status in row.parameters) or "-",
            row.ground + ("?" if row.ground == "possible" else ""),
        )
        for row in rows
    ]
    widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]
    # Parameters stand last: they are as long as they are.
    order = (0, 1, 2, 4, 3)

    def line(values: Sequence[str]) -> str:
        return "  ".join(values[i].ljust(widths[i]) for i in order).rstrip()

    yield style.paint(line(header), "bold")
    for row, values in zip(rows, cells):
        yield line(values)
        if show_path:
            for reason in row.because:
                yield f"    {_where(reason)}:{reason.line}: {visible(reason.message)}"


def _where(item: TracedRow | Reason) -> str:
    return visible(f"{item.path}:cell {item.cell}" if item.cell else item.path)


def rules_table(rules: Iterable[Rule], style: Style) -> Iterator[str]:
    """One line per rule."""
    listed = list(rules)
    longest = max((len(rule.name) for rule in listed), default=0)
    for rule in listed:
        name = rule.name.ljust(longest)
        off = "" if rule.default else " (off by default)"
        yield f"{style.paint(rule.code, 'bold')}  {name}  {rule.severity.value:<7}  {rule.summary}{off}"


def settings_table(settings: Settings) -> Iterator[str]:
    """The configuration in force, as a ``jitlint.toml`` would say it; what holds by default is a comment."""
    yield f"# {settings.source or 'no configuration file'}"
    for key in KEYS:
        value = getattr(settings, key.attribute)
        if isinstance(value, enum.Enum):
            value = value.value
        unset = value is None or value in ((), "")
        if key.name == "per-file-ignores" and value:
            items = ", ".join(
                f"{json.dumps(pattern)} = {json.dumps(list(codes))}" for pattern, codes in value
            )
            yield f"{key.name} = {{{items}}}"
        elif unset:
            yield f"# {key.name}: {key.default}"
        else:
            yield f"{key.name} = {json.dumps(list(value) if isinstance(value, tuple) else value)}"
