"""Keys that are made of a number which is the same again: in each turn, or in each turn of the loop around (layer: ``link``, room
``domains``).

``for epoch in range(epochs): for i, batch in enumerate(data): k = fold_in(key, i)`` gives the keys of the first epoch in all of
them. What it does: reads the loops around a call as they are written. What it does not: follow what a call may do to an
object that holds the key; where one is called, it is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_by, bound_names, nodes
from jitlint.syntax import ir
from jitlint.syntax.children import below

_COUNTERS: Final = frozenset({"range", "trange", "count", "arange"})
"""What gives the numbers of turns."""


def counts(over: ir.Node) -> bool:
    """Whether a loop counts its turns, which are alike: it goes through no things."""
    return any(type(n) is ir.Name and n.id in _COUNTERS for n in below(over))


AGAIN: Final = "again"
"""The step of a key that is the same in all turns of the comprehension that makes it, which its scope has."""


def is_same_seed(f: Frame, call: ir.Call) -> bool:
    """Whether a key is made in a comprehension that counts, of something that its turns have in common."""
    parts = [part for arg in call.args for part in below(arg.value)]
    steady = all(isinstance(part, (ir.Name, ir.Const, ir.Attr, ir.BinOp)) for part in parts)
    return steady and type(f.loops[-1] if f.loops else None) is ir.Comp and is_repeated(f, call)


def is_repeated(f: Frame, call: ir.Call, written: ir.Node | None = None) -> bool:
    """Whether a call stands in a loop or comprehension that counts, and its turns have all arguments in common. written: the one
    around, if each of its turns is run for itself."""
    loop = f.loops[-1] if f.loops else written
    if type(loop) is ir.For and counts(loop.iter):
        turn = set(_bound(loop))
    elif type(loop) is ir.Comp and all(counts(one.iter) for one in loop.fors):
        turn = {name.id for one in loop.fors for name in bound_names([one.target])}
    else:
        return False
    return turn.isdisjoint(part.id for part in below(call) if type(part) is ir.Name)


def is_same_part(f: Frame, call: ir.Call) -> bool:
    """Whether a key is made of another one, and of a number, both of which the turns of the loop around have in common."""
    loop = f.loops[-1] if f.loops else None
    parts = [arg.value for arg in call.args if not arg.star]
    if type(loop) is not ir.For or len(parts) != 2 or len(call.args) != 2 or not is_repeated(f, call):
        return False
    tried = any(isinstance(node, (ir.Break, ir.Return)) for node in nodes(loop.body))
    return not tried and type(parts[1]) is ir.Name and _is_steady(loop, parts[0], set(_bound(loop)))


def begins_again(f: Frame, call: ir.Call) -> bool:
    """Whether a key is made of another one, the same for a whole loop, and the number of a turn of the loop in that."""
    around = f.loops[-2:]
    given = [arg.value for arg in call.args if not arg.star]
    if len(around) < 2 or len(given) != 2 or len(call.args) != 2:
        return False
    outer, inner = around
    if type(outer) is not ir.For or type(inner) is not ir.For or not counts(outer.iter):
        return False
    changed = set(_bound(outer))
    key, number = given
    return (
        type(number) is ir.Name
        and number.id == _counter(inner, changed)
        and sum(name == number.id for name in _bound(outer)) == 1
        and _is_steady(outer, key, changed)
    )


def _counter(loop: ir.For, changed: set[str]) -> str:
    """The variable that counts the turns of a loop from the same number on each time, or ""."""
    call, target = loop.iter, loop.target
    if type(call) is not ir.Call or type(call.func) is not ir.Name:
        return ""
    if not call.args or any(a.star for a in call.args):
        return ""
    if call.func.id == "enumerate" and len(call.args) == 1 and isinstance(target, ir.Tuple) and target.elts:
        target = target.elts[0]
    elif call.func.id not in ("range", "trange") or not changed.isdisjoint(_names(call.args[0].value)):
        return ""
    return target.id if type(target) is ir.Name else ""


def _is_steady(outer: ir.For, key: ir.Node, changed: set[str]) -> bool:
    """Whether an expression gives the same key in all turns of a loop."""
    if type(key) is ir.Name and key.id in changed:
        values = [
            node.value
            for node in nodes(outer.body)
            if type(node) is ir.Assign and key.id in [name.id for name in bound_names(node.targets)]
        ]
        alone = len(values) == 1 and sum(name == key.id for name in _bound(outer)) == 1
        return alone and isinstance(values[0], (ir.Name, ir.Attr)) and _is_steady(outer, values[0], changed)
    if type(key) is ir.Name:
        return True
    owner = key.obj if type(key) is ir.Attr else None
    return type(owner) is ir.Name and owner.id not in changed and not _may_change(outer, owner.id)


def _may_change(loop: ir.For, owner: str) -> bool:
    """Whether code stores in an object, or hands it, or one of its methods, to somebody who may."""
    for node in nodes(loop.body):
        if isinstance(node, (ir.Assign, ir.AugAssign)):
            targets = [node.target] if isinstance(node, ir.AugAssign) else node.targets
            if any(type(t) is ir.Attr and type(t.obj) is ir.Name and t.obj.id == owner for t in targets):
                return True
        elif type(node) is ir.Call:
            func = node.func
            called = type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == owner
            if called or any(type(arg.value) is ir.Name and arg.value.id == owner for arg in node.args):
                return True
    return False


def _bound(loop: ir.For) -> Iterator[str]:
    """The variables that a loop binds, its own among them; one for each time."""
    yield from (name.id for name in bound_names([loop.target]))
    for node in nodes(loop.body):
        yield from bound_by(node)


def _names(node: ir.Node) -> set[str]:
    return {part.id for part in below(node) if type(part) is ir.Name}
