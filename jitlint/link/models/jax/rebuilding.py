"""Objects that a transform takes apart and puts together again with its tracers in them (layer: ``link``, room ``models``).

What it does: runs the ``tree_unflatten`` of a class that registers itself, the functions that `register_pytree_node` got, and what a
dataclass does after its fields are set. What it does not: use the objects that come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.infer.values import Class, Func, Inst, Seq, Tup, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import attributes, classes, pytrees
from jitlint.link.values.questions.kinds import find_method, mro

_DEPTH: Final = 4
"""Containers and objects in each other that are looked into."""


def rebuild(m: Machine, f: Frame, inner: Frame, at: int, given: Args, arrived: Args, modes: int) -> None:
    """The objects among the arguments are made anew inside. Static arguments arrive as they are."""
    pairs = [*zip(given.pos, arrived.pos), *((v, arrived.kw[k]) for k, v in given.kw.items())]
    for before, after in pairs:
        if before is not after:
            for old, new in _objects(before, after, _DEPTH):
                _unflatten(m, f, inner, at, old, modes)
                _construct(m, inner, at, new)


def _objects(before: Value, after: Value, depth: int) -> Iterator[tuple[Inst, Inst]]:
    if type(before) is Inst and type(after) is Inst:
        if before.open and before.cls.rebuilt is None:
            return  # which attributes it has is not known, nor what is done with them
        held = [(before.attrs.get(name), value) for name, value in after.attrs.items()]
        changed = [(old, new) for old, new in held if old is not new]
        if changed:
            yield before, after  # other leaves than before: tracers
        yield from _inside([(old, new) for old, new in changed if old is not None], depth)
    elif isinstance(before, (Tup, Seq)) and type(before) is type(after):
        yield from _inside(zip(pytrees.below(before) or (), pytrees.below(after) or ()), depth)


def _inside(pairs: Iterable[tuple[Value, Value]], depth: int) -> Iterator[tuple[Inst, Inst]]:
    for old, new in pairs if depth else ():
        yield from _objects(old, new, depth - 1)


def _unflatten(m: Machine, f: Frame, inner: Frame, at: int, old: Inst, modes: int) -> None:
    """Children are collected outside of the trace, and handed over inside."""
    functions = _functions(m, inner, at, old) if old.cls.pytree else None
    parts = evaluator.call(m, f, at, functions[0], Args([old])) if functions is not None else None
    if functions is not None and type(parts) is Tup and len(parts.items) == 2:
        level, why = inner.world.level, f"an object of `{old.cls.qualname}`"
        children = pytrees.lift(parts.items[0], modes, level, why)
        evaluator.call(m, inner, at, functions[1], Args([parts.items[1], children]))


def _functions(m: Machine, inner: Frame, at: int, old: Inst) -> tuple[Value, Value] | None:
    """What takes an object apart, and what puts it together again."""
    if old.cls.rebuilt is not None:
        return old.cls.rebuilt
    flatten = classes.flatten_method(old.cls)
    if type(flatten) is not Func or "tree_unflatten" not in _members(old):
        return None
    return flatten, attributes.get(m, inner, at, Class(old.cls), "tree_unflatten")


def _construct(m: Machine, inner: Frame, at: int, new: Inst) -> None:
    """The constructor of a dataclass gets tracers for its fields."""
    by_constructor = new.cls.role == "struct" or any(c.constructed for c in mro(new.cls))
    method = find_method(new, "__post_init__") if by_constructor else None
    if method is not None:
        fields = Inst(new.cls, dict(new.attrs), new.level, inner.token)
        evaluator.call(m, inner, at, method, Args([fields]))


def _members(inst: Inst) -> set[str]:
    return {name for cls in mro(inst.cls) for name in cls.namespace}
