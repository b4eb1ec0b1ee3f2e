"""Python numbers in modules that come back changed from `equinox.filter_jit` (layer: ``link``, room ``domains``).

``average = step(average, x)``: a number that is no array is static there, one that the step counts up is another one in each turn of the
loop, and each turn compiles. What it does: compares what the first turn hands over with what it gets back. What it does not: speak
of numbers that nobody knows.
Source: https://docs.kidger.site/equinox/api/transformations/#equinox.filter_jit
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import VaryingArgument
from jitlint.infer.values import NO_CONST, Inst, Py, Tup, Value, const_of
from jitlint.link.domains.compilation.grown import part_of, replaced
from jitlint.link.domains.compilation.log import CompilationLog
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import path_text

_JIT: Final = "equinox.filter_jit"
_NUMBERS: Final = ("int", "float")
_DEPTH: Final = 4


def check(log: CompilationLog, f: Frame, transformed: Transformed, result: Value) -> None:
    """Record the first number of an argument that its replacement has changed."""
    key = (f.module.name, "argument", transformed.at)
    if transformed.x.spec.name != _JIT or key in log.done:
        return
    for number, value, target in replaced(log, f, transformed):
        part = part_of(result, target)
        way = _changed(value, part, _DEPTH) if part is not None else None
        if way is not None:
            log.done.add(key)
            arg = log.m.texts.table(f).calls[transformed.at].args[number - 1].value
            log.m.emit(
                f, VaryingArgument, arg.at, None, Confidence.LIKELY, problem="filter-counter",
                parameter=f"{path_text(arg)}{way}",
            )  # fmt: skip
            return


def _changed(before: Value, after: Value, depth: int) -> str | None:
    """The way to a number that certainly is another one afterwards, None if there is none."""
    if type(before) is Py and type(after) is Py:
        return "" if _differ(before, after) else None
    if depth and type(before) is Inst and type(after) is Inst and before.cls is after.cls:
        return _in_parts({f".{n}": (v, after.attrs.get(n)) for n, v in before.attrs.items()}, depth)
    if depth and type(before) is Tup and type(after) is Tup and len(before.items) == len(after.items):
        return _in_parts({f"[{i}]": pair for i, pair in enumerate(zip(before.items, after.items))}, depth)
    return None


def _differ(before: Py, after: Py) -> bool:
    """Whether both are known numbers of one kind."""
    old, new = const_of(before), const_of(after)
    known = before.kind == after.kind and before.kind in _NUMBERS and NO_CONST not in (old, new)
    return known and old != new


def _in_parts(pairs: dict[str, tuple[Value, Value | None]], depth: int) -> str | None:
    for name, (before, after) in pairs.items():
        way = _changed(before, after, depth - 1) if after is not None else None
        if way is not None:
            return f"{name}{way}"
    return None
