"""What differs from element to element of a batch inside of `jax.vmap` (layer: ``link``, room ``models``).

What it does: gives results the axes that ``out_axes`` says, and compares what it says is one for all elements with what is
certainly made of an argument that is mapped. What it does not: follow the elements where all results are mapped, or inside of
another map whose lanes or devices are followed already.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer import spreading
from jitlint.infer.events import TransformMisuse
from jitlint.infer.values import NONE, Arr, B, Map, Py, Seq, Tup, Value, Xform
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import World
from jitlint.link.models.jax.arrival import Marks
from jitlint.link.models.maps import shardings
from jitlint.link.values import pytrees

_DEPTH: Final = 4
_FIRST: Final = frozenset({0})


def follows(x: Xform, world: World) -> bool:
    """Whether the elements are followed in a map that is called here: some result is said to be one for all of them."""
    mark = x.options.get(x.spec.results)
    if x.spec.specs or x.spec.filter or not x.spec.axes or not x.spec.modes & B or world.spread:
        return False
    if None in shardings.named_in([x.options.get("axis_name", NONE)]):
        return False  # any collective may be one over it
    return mark is not None and any(part is NONE for part in _below(mark))


def axes(x: Xform) -> tuple[str, ...]:
    """The name of the one axis that is followed, by which collectives know it."""
    name = x.options.get("axis_name")
    return (name.const if type(name) is Py and isinstance(name.const, str) else "",)


def arrived(x: Xform, args: Args) -> Args:
    """The arguments of a map that is followed, in its function: what is mapped is marked."""
    marks = Marks(x)
    pos = [_marked(marks.of(i), value) for i, value in enumerate(args.pos)]
    kw = {name: _marked(None, value) for name, value in args.kw.items()}
    more = None if args.more is None else _open(args.more)
    return Args(pos, kw, more, None if args.kw_more is None else _open(args.kw_more))


def check_result(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> None:
    """What is said to be one for all elements must not certainly be another one for each. f: outside."""
    mark = x.options.get(x.spec.results)
    if mark is not None and follows(x, f.world):
        _check(m, f, at, x, mark, result)


def with_axis(mark: Value | None, result: Value, size: int | None, depth: int = _DEPTH) -> Value:
    """What a map gives: each leaf with its new axis, of this size, where ``out_axes`` puts it."""
    if mark is None:
        return pytrees.with_rank(result, 1, size=size)
    if mark is NONE:
        return result
    if type(mark) is Py and type(mark.const) is int:
        return pytrees.with_rank(result, 1, size=size, axis=mark.const)
    pairs = list(shardings.together(mark, result)) if depth else []
    if not pairs or len(pairs) != len(pytrees.children(result) or ()):
        return pytrees.with_rank(result, None)
    return pytrees.with_children(result, [with_axis(one, part, size, depth - 1) for one, part in pairs])


def _below(mark: Value, depth: int = _DEPTH) -> list[Value]:
    parts = pytrees.children(mark) if depth and isinstance(mark, (Tup, Seq, Map)) else None
    return [mark] if parts is None else [one for part in parts for one in _below(part, depth - 1)]


def _marked(mark: Value | None, value: Value) -> Value:
    if mark is NONE:
        return value
    bits = spreading.over(_FIRST)
    if mark is None or (type(mark) is Py and type(mark.const) is int):
        return pytrees.remode(value, lambda modes: modes | bits if modes else modes)
    pairs = list(shardings.together(mark, value))
    if not pairs or len(pairs) != len(pytrees.children(value) or ()):
        return _open(value)
    return pytrees.with_children(value, [_marked(one, part) for one, part in pairs])


def _open(value: Value) -> Value:
    """What may be mapped, or not."""
    return pytrees.remode(value, lambda modes: modes | spreading.MAY_VARY if modes else modes)


def _check(m: Machine, f: Frame, at: int, x: Xform, mark: Value, result: Value, depth: int = _DEPTH) -> bool:
    if mark is not NONE:
        pairs = shardings.together(mark, result) if depth else ()
        return any(_check(m, f, at, x, one, part, depth - 1) for one, part in pairs)
    for leaf in shardings.leaves_of(result, depth):
        if type(leaf) is Arr and not leaf.softness and spreading.certain(leaf.modes):
            m.emit(
                f, TransformMisuse, at, leaf, transform=x.spec.name, problem="mapped-result",
                parameter=x.spec.results, detail="",
            )  # fmt: skip
            return True
    return False
