"""The lists that `jitlint traced` and `jitlint rules` print (layer: ``report``)."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Sequence

from jitlint.base.config import KEYS, Settings
from jitlint.base.result import Reason, TracedRow
from jitlint.base.rule import Rule
from jitlint.report.style import Style, visible

_HOW = {"staged": "compiled", "batched": "batched", "linear": "differentiated"}
_WHY = {
    "jit": "your code",
    "test": "only tests",
    "catalogue": "its library",
    "declared": "you say so",
    "possible": "a guess",
}
_LEGEND = {
    "compiled": "by `jit`, `scan`, `cond` and the like: code may ask an array for its shape, not for its value",
    "batched": "by `vmap`: a value stands for a whole batch",
    "differentiated": "by `grad` and the like: `if` works, `float()` and NumPy do not",
    "only tests": "nothing but tests or examples traces it",
    "its library": "a library means to trace code of this kind",
    "you say so": "a comment or the configuration says that it is traced",
    "a guess": "nothing traces it, but its parameters look like arrays; nothing is reported there by default",
}
_STATUSES = {
    "traced": "traced",
    "mixed": "traced in some calls",
    "static": "static",
    "unknown": "not known",
}


def traced_table(rows: Sequence[TracedRow], style: Style, show_path: bool = False) -> Iterator[str]:
    """One line per function; with ``show_path``, the steps that lead to it below."""
    if not rows:
        return
    header = ("PLACE", "FUNCTION", "HOW", "WHY", "PARAMETERS")
    cells = [
        (f"{_where(row)}:{row.line}", visible(row.qualname), _how(row), _why(row), _parameters(row))
        for row in rows
    ]
    widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]

    def line(values: Sequence[str]) -> str:
        return "  ".join(value.ljust(width) for value, width in zip(values, widths)).rstrip()

    yield style.paint(line(header), "bold")
    for row, values in zip(rows, cells):
        yield line(values)
        if show_path:
            for reason in row.because:
                yield f"    {_where(reason)}:{reason.line}: {visible(reason.message)}"


def traced_story(rows: Sequence[TracedRow], style: Style, show_path: bool = False) -> Iterator[str]:
    """What the table says, for somebody who has not seen it before."""
    if not rows:
        yield "No function is traced: nothing here is given to `jax.jit` or another transform."
        return
    yield ""
    guesses = sum(row.ground == "possible" for row in rows)
    count = len(rows) - guesses
    also = f", and {guesses:,} may be" if guesses else ""
    story = (
        f"{count:,} function{'s are' if count != 1 else ' is'} traced{also}: JAX runs such a function in Python once for each kind"
        " of arguments, with traced values in the place of arrays. They have a shape and a type, but no value yet. What is static"
        " has its value."
    )
    yield from style.wrapped(story, 0, 0)
    used = {_how(row) for row in rows} | {_why(row) for row in rows}
    words = set().union(*(each.split("+") for each in used))
    for word, meaning in _LEGEND.items():
        if word in words:
            first, *more = style.wrapped(meaning, len(word) + 4, 4)
            yield f"  {style.paint(word, 'bold')}: {first}"
            yield from (f"    {each}" for each in more)
    if not show_path:
        yield "`--show-path` shows the calls that lead to each."


def _how(row: TracedRow) -> str:
    return "+".join(_HOW.get(mode, mode) for mode in row.modes) or "-"


def _why(row: TracedRow) -> str:
    return _WHY.get(row.ground, row.ground)


def _parameters(row: TracedRow) -> str:
    """``traced: x, y; static: n``."""
    said = [
        f"{words}: {', '.join(names)}"
        for status, words in _STATUSES.items()
        if (names := [visible(name) for name, each in row.parameters if each == status])
    ]
    return "; ".join(said) or "-"


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
