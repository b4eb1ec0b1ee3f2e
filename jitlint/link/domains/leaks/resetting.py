"""Attributes that a trace has set, and that are set again before anybody reads them (layer: ``link``, room ``domains``).

What it does: looks at the function that calls the traced one. When statements after the call set the attribute, by itself
or by a property that does so, and nothing between mentions the object, the tracer that was there is never seen:

    parameters, loss = step(parameters)     # `step` sets `self.parameters`, for what it calls
    self.parameters = parameters

What it does not: follow the object into other functions, under other names, or out of branches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Descr, Func
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.values.questions.kinds import member
from jitlint.syntax import ir
from jitlint.syntax.children import below

_OPEN = ("__dict__", "setattr")
"""By these any attribute may be set."""


def is_set_again(f: Frame, cls: ClassInfo, name: str) -> bool:
    """Whether what runs after the current statement sets an attribute of an object before it mentions the object."""
    passed: list[ir.Node] = []
    for node in _after(f):
        target = _set_by(node, cls, name)
        if target is not None:
            return all(not _mentions(one, target) for one in passed)
        passed.append(node)
    return False


def _after(f: Frame) -> Iterator[ir.Node]:
    """What runs after the current statement, the other turns of loops around it first."""
    at = f.at
    for owner, block in reversed(surroundings.around(f)):
        here = next((i for i, node in enumerate(block) if node.at == at), len(block))
        yield from block[here + 1 :]
        if isinstance(owner, (ir.For, ir.While)):
            yield from block[:here]
        if owner is not None:
            at = owner.at


def _set_by(node: ir.Node, cls: ClassInfo, name: str) -> Optional[str]:
    """The name of the object whose attribute a statement sets."""
    for target in node.targets if type(node) is ir.Assign else ():
        if type(target) is not ir.Attr or type(target.obj) is not ir.Name:
            continue
        if target.name == name or _sets(cls, target.name, name):
            return target.obj.id
    return None


def _sets(cls: ClassInfo, setting: str, name: str) -> bool:
    """Whether an attribute is a property that sets another one."""
    found = member(cls, setting)
    setter = found.setter if type(found) is Descr else None
    return type(setter) is Func and any(_stores(node, name) for node in _statements(setter.fn.body))


def _statements(body: Sequence[ir.Node]) -> Iterator[ir.Node]:
    for node in body:
        yield node
        for block in surroundings.blocks(node):
            yield from _statements(block)


def _stores(node: ir.Node, name: str) -> bool:
    if type(node) is not ir.Assign:
        return type(node) is ir.ExprStmt and _is_open(node.value)
    return any(type(t) is ir.Attr and t.name == name for t in node.targets) or any(
        map(_is_open, node.targets)
    )


def _is_open(node: ir.Node) -> bool:
    """Whether this sets attributes whose names are not written there."""
    if type(node) is ir.Call:
        return type(node.func) is ir.Name and node.func.id in _OPEN
    return type(node) is ir.Sub and type(node.obj) is ir.Attr and node.obj.name in _OPEN


def _mentions(node: ir.Node, name: str) -> bool:
    return any(type(part) is ir.Name and part.id == name for part in below(node))
