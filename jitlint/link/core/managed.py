"""What a context manager changes for the time of its block (layer: ``link``, room ``core``).

A generator that `contextlib.contextmanager` makes one of is run as a whole when the block begins, with what it does at its end: a
stack of flags that it pushes on and pops again is as before. What it does: inside of the block, a list ends with what is pushed on
it, and other containers that such a generator changes hold anything; attributes that it sets and puts back are as before afterwards.
What it does not: run the two halves of a generator apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Func, Inst, Map, Seq, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import by_parameter, last_name, path_text
from jitlint.link.values import paths
from jitlint.syntax import ir


class _Stack(NamedTuple):
    """A container that a generator changes, and how. pushed: what it puts on a list; undone: it takes out as well as puts in."""

    box: Seq | Map
    pushed: Value | None
    undone: bool


@contextmanager
def changed(m: Machine, f: Frame, node: ir.With) -> Iterator[None]:
    """While the block runs, containers hold what its context managers put in: a list what is pushed, another one anything."""
    stacks = {id(stack.box): stack for item in node.items for stack in _changed_by(m, f, item.value)}
    held = [(_begin(stack), stack.undone) for stack in stacks.values()]
    try:
        yield
    finally:
        for restore, undone in held:
            if undone:
                restore()


def set_for_a_time(m: Machine, f: Frame, node: ir.With) -> Callable[[], None]:
    """Answers what gives the attributes back to their objects that context managers set for the time of the block, and put back:
    ``old = self.value``, ``self.value = new``, a ``yield`` and ``self.value = old``. Asked before they are made."""
    kept: list[tuple[Inst, str, Value]] = []
    for item in node.items:
        func, owner = _generator(m, f, item.value) or (None, None)
        for name in _put_back(func.fn) if func is not None and owner is not None else ():
            if owner is not None and name in owner.attrs:
                kept.append((owner, name, owner.attrs[name]))

    def restore() -> None:
        for owner, name, value in kept:
            owner.attrs[name] = value

    return restore


def _put_back(fn: FuncInfo) -> list[str]:
    """The attributes of its object that a generator sets from a variable that holds what they were."""
    first = fn.first
    own = f"{first}."
    pairs = [(part.targets[0], part.value) for part in fn.parts if type(part) is ir.Assign]
    held = {target.id: path_text(value) for target, value in pairs if type(target) is ir.Name}
    texts = [(path_text(target), value) for target, value in pairs]
    return [
        text.removeprefix(own)
        for text, value in texts
        if text.startswith(own) and type(value) is ir.Name and held.get(value.id) == text
    ]


def _begin(stack: _Stack) -> Callable[[], None]:
    """A container is as it is inside of the block. Answers what makes it as it was."""
    box = stack.box
    return _push(box, stack.pushed) if isinstance(box, Seq) else _loosen(box)


def _push(box: Seq, pushed: Value | None) -> Callable[[], None]:
    items, rest = box.items, box.rest
    known = [UNKNOWN] if items is None else items
    box.items, box.rest = (None, UNKNOWN) if pushed is None else ([*known, pushed], None)

    def restore() -> None:
        box.items, box.rest = items, rest

    return restore


def _loosen(box: Map) -> Callable[[], None]:
    entries, rest = box.entries, box.rest
    box.entries, box.rest = {}, UNKNOWN

    def restore() -> None:
        box.entries, box.rest = entries, rest

    return restore


def _generator(m: Machine, f: Frame, node: ir.Expr) -> tuple[Func, Inst | None] | None:
    """The generator that an expression calls, and the object whose method it is."""
    if type(node) is not ir.Call:
        return None
    method, owner = paths.method(m, f, node.func)
    func = paths.peek(m, f, node.func) if owner is None else method
    return (func, owner) if type(func) is Func and func.fn.node.is_generator else None


def _methods(fn: FuncInfo) -> dict[str, list[tuple[ir.Attr, ir.Call]]]:
    """The methods that a function calls, by what they are of."""
    found: dict[str, list[tuple[ir.Attr, ir.Call]]] = defaultdict(list)
    for part in fn.parts:
        if type(part) is ir.Call and type(part.func) is ir.Attr:
            found[path_text(part.func.obj)].append((part.func, part))
    return found


def _changed_by(m: Machine, f: Frame, node: ir.Expr) -> Iterator[_Stack]:
    """The containers that a call of a generator changes."""
    called = _generator(m, f, node)
    if called is None or type(node) is not ir.Call:
        return
    func, owner = called
    words = lexicon().containers
    inside = Frame(func.fn.module, func.scope, HOST)
    for text, methods in _methods(func.fn).items():
        used = {method.name for method, _ in methods}
        value = _held(m, inside, func, owner, methods[0][0].obj) if text and used & words.changing else None
        if type(value) is Seq or type(value) is Map:
            pushed = [
                _pushed(m, f, func, node, call) for method, call in methods if method.name in words.growing
            ]
            undone = bool(used & words.growing and used & words.taking)
            yield _Stack(value, pushed[0] if len(pushed) == 1 else None, undone)


def _pushed(m: Machine, f: Frame, func: Func, node: ir.Call, call: ir.Call) -> Value | None:
    """What ``stack.append(x)`` puts on a list: a constant, or what the call of the generator gives for a parameter."""
    if last_name(call.func) != "append" or len(call.args) != 1:
        return None
    given: ir.Expr | None = call.args[0].value
    if type(given) is ir.Name:
        name = given.id
        params = func.fn.node.params[1:] if func.owner is not None else func.fn.node.params
        given = next((value for param, value in by_parameter(node, params) if param == name), None)
    if type(given) is ir.Const:
        return evaluator.evaluate(m, f, given)
    return paths.peek(m, f, given) or UNKNOWN


def _held(m: Machine, inside: Frame, func: Func, owner: Inst | None, place: ir.Expr) -> Value | None:
    """What a generator means by a path, of a variable around it or of the object that it is a method of."""
    first = func.fn.first
    if owner is not None and type(place) is ir.Attr and type(place.obj) is ir.Name and place.obj.id == first:
        return owner.attrs.get(place.name)
    return paths.peek(m, inside, place)
