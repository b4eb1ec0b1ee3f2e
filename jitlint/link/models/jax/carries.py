"""What must fit in loops and branches: carries, conditions, branch results, reverse mode (layer: ``link``, room ``models``).

Only certain differences are reported. Types as measured: a Python number is weakly typed, so as an initial carry
it is promoted to what the body returns; the results of branches are compared as they are.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.events import TransformMisuse
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import NONE, UNKNOWN, Arr, L, Map, Py, Seq, Tup, Union, Value
from jitlint.link.engine.events import STAGED_OR_BATCHED, hurt
from jitlint.link.engine.machine import Frame, Machine
from jitlint.link.values import pytrees

_WORDS: Final = {
    "none": "`None`",
    "tuple": "a tuple",
    "array": "an array",
    "dict": "a dict",
    "list": "a list",
}


def check_carry(m: Machine, f: Frame, at: int, spec: HigherOrder, init: Value, out: Value) -> None:
    """The body of a loop must return what it received."""
    _report(m, f, at, spec, "carry-mismatch", mismatch(init, out))


def check_pair(m: Machine, f: Frame, at: int, spec: HigherOrder, result: Value) -> None:
    """The body of a scan returns the carry and one output."""
    shape = _outline(result)
    items = getattr(result, "items", None)
    if shape in ("tuple", "list"):
        detail = "" if items is None or len(items) == 2 else f"{_WORDS[shape]} of {len(items)}"
    else:
        detail = _WORDS[shape] if shape in ("array", "none") else ""
    _report(m, f, at, spec, "no-pair", detail)


def check_condition(m: Machine, f: Frame, at: int, spec: HigherOrder, result: Value) -> None:
    """The condition of a loop returns a boolean scalar."""
    dtype = _dtype(result)
    detail = f"`{_name(dtype)}`" if dtype not in (None, "bool", "key") else ""
    if type(result) is Arr and result.rank:
        detail = f"an array with {result.rank} axes"
    elif _outline(result) not in ("", "array"):
        detail = _WORDS[_outline(result)]
    _report(m, f, at, spec, "no-boolean", detail)


def check_branches(m: Machine, f: Frame, at: int, spec: HigherOrder, results: list[Value]) -> None:
    """All branches return the same structure and types."""
    for other in results[1:]:
        detail = mismatch(results[0], other, strict=True)
        if detail:
            _report(m, f, at, spec, "branch-mismatch", detail)
            return


def _report(m: Machine, f: Frame, at: int, spec: HigherOrder, problem: str, detail: str) -> None:
    if detail:
        m.emit(
            f,
            TransformMisuse,
            at,
            None,
            transform=spec.name,
            problem=problem,
            parameter="",
            detail=detail,
        )


def mismatch(init: Value, out: Value, path: str = "", strict: bool = False) -> str:
    """How two values certainly differ in structure, number of axes or dtype, or "".

    strict: a Python number on the left is not promoted (the results of two branches).
    """
    a: Any = init
    b: Any = out
    ta, tb = type(init), type(out)
    if ta is Union or tb is Union:
        return ""
    where = f" at `{path}`" if path else ""
    verbs = ("is returned by one", "by another") if strict else ("comes in", "goes out")
    shape_a, shape_b = _outline(init), _outline(out)
    if shape_a != shape_b:
        known = shape_a and shape_b
        return f"{_WORDS[shape_a]} {verbs[0]}, {_WORDS[shape_b]} {verbs[1]}{where}" if known else ""
    if shape_a in ("tuple", "list"):
        if a.items is None or b.items is None:
            return ""
        if len(a.items) != len(b.items):
            kind = _WORDS[shape_a]
            return f"{kind} of {len(a.items)} {verbs[0]}, one of {len(b.items)} {verbs[1]}{where}"
        parts = [(f"{path}[{i}]", x, y) for i, (x, y) in enumerate(zip(a.items, b.items))]
    elif shape_a == "dict":
        if a.rest is not None or b.rest is not None:
            return ""
        if set(a.entries) != set(b.entries):
            extra = sorted(map(str, set(a.entries) ^ set(b.entries)))
            return f"the dict keys differ ({', '.join(extra[:3])}){where}"
        parts = [(f"{path}[{key!r}]", x, b.entries[key]) for key, x in a.entries.items()]
    else:
        return _arrays(init, out, where, verbs, strict) if shape_a == "array" else ""
    return next((found for p, x, y in parts if (found := mismatch(x, y, p, strict))), "")


def _arrays(init: Value, out: Value, where: str, verbs: tuple[str, str], strict: bool) -> str:
    before, after = _dtype(init), _dtype(out)
    if before and after and "key" not in (before, after) and not _fits(before, after, strict):
        return f"`{_name(before)}` {verbs[0]}, `{_name(after)}` {verbs[1]}{where}"
    ranks = [v.rank if type(v) is Arr else 0 for v in (init, out)]
    if "key" not in (before, after) and None not in ranks and ranks[0] != ranks[1]:
        return f"an array with {ranks[0]} axes {verbs[0]}, one with {ranks[1]} {verbs[1]}{where}"
    return ""


def _fits(before: str, after: str, strict: bool) -> bool:
    if before == after or {before, after} == {"int", "number"}:
        return True
    return not strict and (before == "number" or after == "complex") and after != "bool"


def _name(dtype: str | None) -> str:
    return "int" if dtype == "number" else str(dtype)


def _dtype(value: Value) -> str | None:
    if type(value) is Arr:
        return None if value.weak else value.dtype
    if type(value) is Py and value.kind in pytrees.NUMBERS:
        return "number" if value.kind == "int" else value.kind
    return None


def _outline(value: Value) -> str:
    if type(value) is Py:
        return "none" if value is NONE else "array" if value.kind in pytrees.NUMBERS else ""
    if type(value) is Seq:
        return "list" if value.kind == "list" else ""
    if type(value) is Tup:
        return "tuple" if value.cls is None else ""
    return {Arr: "array", Map: "dict"}.get(type(value), "")


def check_reverse(
    m: Machine, f: Frame, spec: HigherOrder, named: dict[str, Value], carry: tuple[Value, Value]
) -> None:
    """Reverse mode cannot go through a loop whose number of turns is not known while tracing.

    JAX raises where the derivative is taken; with `jax.vjp` that is the call of the function it returns.
    """
    reverse = f.world.reverse
    if reverse is None or not any(traced_modes(v) & L for v in carry):
        return
    if spec.result == "fori" and not any(
        hurt(named.get(name, UNKNOWN), STAGED_OR_BATCHED) is not None for name in ("lower", "upper")
    ):
        return
    module, function, place, waits = reverse
    if waits:
        m.pullbacks[(module, place)] = spec.name
    else:
        emit_reverse(m, f, spec.name, module, function, place)


def emit_reverse(m: Machine, f: Frame, loop: str, module: str, function: str, place: int) -> None:
    """Record that a derivative goes backwards through a loop, which a branch may have chosen among others."""
    m.emit(
        f,
        TransformMisuse,
        place,
        None,
        None if f.token is f.scope.token else Confidence.POSSIBLE,
        where=(module, function),
        transform=loop,
        problem="reverse-mode-loop",
        parameter="",
        detail=loop,
    )
