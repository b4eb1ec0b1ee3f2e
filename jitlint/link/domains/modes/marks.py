"""What happens to the layers of a model, in the words of the function at hand (layer: ``link``, room ``domains``).

What it does: names a layer by the variable and the attributes that lead to it, and finds the name that a caller has for it.
What it does not: name what goes through a container or another variable; such a layer belongs to the object as a whole.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.infer.values import Inst
from jitlint.link.engine.domain import Activation
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir

Path = tuple[str, ...]
"""A variable, and the attributes that lead from it to an object."""

TRAIN: Final = "train"
EVALUATE: Final = "eval"
LEARNS: Final = "learns"
RUNS: Final = "runs"
CHECKS: Final = "checks"
"""A layer runs in code whose name says that a model is evaluated."""

DRAWS: Final = "draws"
"""A layer that has no keys to draw from runs under a derivative."""
KEYED: Final = "keyed"
"""A layer ran outside of derivatives, and got a key to draw from."""
CAPTURED: Final = "captured"
FAR: Final = "captured far away"
"""A layer ran in a trace that was not given its model."""

MEASURES: Final = "measures"
REPORTS: Final = "reports"
RESETS: Final = "resets"
"""A metric gets numbers, tells what they come to, or begins again."""

SOMEWHERE: Final = "?"


class Mark(NamedTuple):
    """A mode is set, a layer runs that depends on it, or a metric is used. at: where, in the function at hand; site: module and origin of the
    very place, with the function that it is in. name: of the layer there, or of its class. tail: how many names of the path lead on from a model
    that is evaluated. sure: it certainly does something there."""

    kind: str
    path: Path
    at: int
    site: tuple[str, int, str]
    name: str = ""
    tail: int = 0
    sure: bool = True


Marks = tuple[Mark, ...]
MARKS: Final = Slot[Marks]()
_MOST: Final = 64


def touch(a: Mark, b: Mark) -> bool:
    """Whether one of two paths leads on from the other, or both are one."""
    return all(one == other for one, other in zip(a.path, b.path))


def modes_set(host: Frame, mark: Mark) -> list[Mark]:
    """Where the mode of what a mark is of was set in an activation, in the order in which that happened."""
    return [one for one in MARKS.of(host) or () if one.kind in (TRAIN, EVALUATE) and touch(one, mark)]


def outermost(f: Frame) -> Frame:
    """The frame of the code itself, outside of the transforms that it calls."""
    while f.outer is not None:
        f = f.outer
    return f


def note(f: Frame, marks: Marks) -> None:
    """Remember what happens in an activation, each thing once, on whichever side of the transforms that it calls."""
    frame: Frame | None = f if marks else None
    while frame is not None:
        held = MARKS.of(frame) or ()
        new = tuple(mark for mark in dict.fromkeys(marks) if mark not in held)
        if new:
            MARKS.put(frame, (*held, *new)[:_MOST])
        frame = frame.outer


def path_of(node: ir.Node | None) -> Path | None:
    """The path that an expression spells."""
    names: list[str] = []
    while type(node) is ir.Attr:
        names.append(node.name)
        node = node.obj
    return (node.id, *reversed(names)) if type(node) is ir.Name else None


def own_path(f: Frame, node: ir.Node | None) -> Path | None:
    """The path to a model or a layer, from what a method was given if that is one of a model."""
    path = path_of(node)
    if f.fn is None or type(f.recv) is not Inst or f.recv.cls.role != "nnx":
        return path
    params = [p.name for p in f.fn.node.params]
    if path is not None and (path[0] in params or path[0] not in f.fn.node.local_names):
        return path
    return (params[0], SOMEWHERE) if params else None


def in_caller(m: Machine, f: Frame, activation: Activation, path: Path) -> Path | None:
    """What a caller calls something that the function it calls has a path for."""
    fn = activation.func.fn
    if path[0] not in [p.name for p in fn.node.params]:
        return path if path[0] in fn.outer_names else None
    head = own_path(f, _given(m.texts.table(f).calls.get(activation.at), activation, path[0]))
    return None if head is None else (*head, *path[1:])


def _given(call: ir.Call | None, activation: Activation, name: str) -> ir.Node | None:
    """The expression that a call gives for a parameter."""
    if call is None:
        return None
    func = activation.func
    params = [p.name for p in func.fn.node.params]
    index = params.index(name)
    if func.owner is not None:
        if index == 0:
            return call.func.obj if type(call.func) is ir.Attr and func.fn.name != "__call__" else call.func
        index -= 1
    placed = [arg.value for arg in call.args if arg.name is None]
    if any(type(value) is ir.Starred for value in placed):
        return None
    named = {arg.name: arg.value for arg in call.args if arg.name is not None}
    return placed[index] if index < len(placed) else named.get(name)
