"""Places that are filled when they are first needed: ``if key not in table: table[key] = make()`` (layer: ``link``, room ``engine``).

What it does: reads in the code around a write what must be so for it to happen. What it does not: look into functions that are asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.engine.surroundings import Around
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.syntax import ir

Assigned = Mapping[str, Sequence[ir.Node]]
"""What a function assigns to each name."""


def filling(around: Around, statement: int, path: tuple[str, ...], assigned: Assigned) -> Any:
    """The code that finds a place empty before a statement fills it, None if there is none. path: the names that lead to the place."""
    for owner, block in around:
        if type(owner) is ir.If and _asks_presence(owner.test, path, assigned):
            return owner.test
        if type(owner) is ir.Try and block is not owner.body and mentions(owner.body, path[-1]):
            return owner.body if any(_catches_missing(h.type) for h in owner.handlers) else None
        for node in block:
            if node.at == statement:
                break
            if (
                type(node) is not ir.If
                or not node.body
                or not isinstance(node.body[-1], (ir.Return, ir.Raise))
            ):
                continue
            if _asks_presence(node.test, path, assigned):
                return node.test
    return None


def _catches_missing(node: ir.Node | None) -> bool:
    parts = node.elts if type(node) is ir.Tuple else [node]
    return node is None or any(last_name(part) in lexicon().errors.of_missing for part in parts)


def _asks_presence(test: ir.Node | None, path: tuple[str, ...], assigned: Assigned) -> bool:
    """Whether a test asks if there is something in the place already, or in a variable that was read from there."""
    if last_name(test) == path[-1] or any(_asks(node, path) for node in nodes(test)):
        return True
    asked = [node.id for node in nodes(test) if type(node) is ir.Name and _asks(test, (node.id,))]
    return any(_looks_up(value, path[-1]) for name in asked for value in assigned.get(name, ()))


def _looks_up(value: ir.Node, name: str) -> bool:
    """``table.get(key)``, ``getattr(self, "name", None)``."""
    if type(value) is not ir.Call:
        return False
    func = value.func
    if type(func) is ir.Attr and func.name == "get":
        return last_name(func.obj) == name
    return last_name(func) == "getattr" and mentions([arg.value for arg in value.args], name)


def _asks(node: ir.Node | None, path: tuple[str, ...]) -> bool:
    name = path[-1]
    if type(node) is ir.Compare:
        sides = [node.left, *node.rights]
        member = any(op in ("in", "not in") for op in node.ops)
        absent = any(type(side) is ir.Const and side.kind == "none" for side in sides)
        return ((absent or member) and mentions(sides, name)) or (
            member and last_name(node.rights[0]) == path[0]
        )
    if type(node) is ir.UnaryOp and node.op == "not":
        return mentions(node.operand, name)
    if type(node) is ir.Call and last_name(node.func) in ("hasattr", "len", "getattr", "isinstance"):
        return mentions([arg.value for arg in node.args], name)
    return False


def mentions(root: Any, name: str) -> bool:
    """Whether code has a name, an attribute or a text of that name."""
    for node in nodes(root):
        if last_name(node) == name or (type(node) is ir.Const and node.value == name):
            return True
    return False
