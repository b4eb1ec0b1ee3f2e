"""Turns of a loop of which each is an experiment of its own: they are to get the same numbers (layer: ``link``, room ``domains``).

``for n in (64, 256): print(estimate(key, n))`` compares, and so does ``for policy in policies: vmap(partial(play, policy))(keys)``.
What it does: sees whether anything leaves a turn, and whether the turns differ in what they call rather than in what they give it.
What it does not: ask what the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.infer.keys import Use
from jitlint.link.domains.keys.turns import counts
from jitlint.link.tables.ir_walk import bound_names, call_at, last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

_SHOWING: Final = frozenset({"print", "info", "debug", "warning", "log", "write"})
"""What is called for nothing but to show something."""
NUMBERS: Final = frozenset({"float", "int", "item", "round"})
"""What makes a plain number of a result."""


def are_apart(this: Use, loop: ir.Node) -> bool:
    """Whether the turns of a loop through things have nothing in common, or each gives several keys to another function."""
    if type(loop) is not ir.For or counts(loop.iter):
        return False
    call = call_at(below(loop.body), this.site[1])
    several = this.key.step[0] == "split"
    return keeps_all_inside(loop) or (several and call is not None and _differs_in_function(loop, call))


def keeps_all_inside(loop: ir.Node) -> bool:
    """Whether a turn only computes, shows what comes of it, and stores nothing for later."""
    if type(loop) is not ir.For:
        return False
    shows = any(type(node) is ir.ExprStmt or _is_noted(loop, node) for node in loop.body)
    made = {name.id for node in loop.body if type(node) is ir.Assign for name in bound_names(node.targets)}
    return shows and all(_stays(node, made) or _is_noted(loop, node) for node in loop.body)


def _is_noted(loop: ir.For, node: ir.Node) -> bool:
    """Whether one number that a turn comes to is kept under the thing at hand: ``errors[name] = float(...)``."""
    if type(node) is not ir.Assign or type(node.value) is not ir.Call or type(node.targets[0]) is not ir.Sub:
        return False
    things = {name.id for name in bound_names([loop.target])}
    inside = {part.id for part in below(node.targets[0].index) if type(part) is ir.Name}
    return last_name(node.value.func) in NUMBERS and not things.isdisjoint(inside)


def _stays(node: ir.Node, made: set[str]) -> bool:
    """Whether a statement changes nothing but what a turn has made itself."""
    if type(node) is ir.Assign:
        return all(isinstance(target, (ir.Name, ir.Tuple)) for target in node.targets)
    if type(node) is ir.ExprStmt:
        func = node.value.func if type(node.value) is ir.Call else None
        owner = func.obj if type(func) is ir.Attr else None
        own = type(owner) is ir.Name and owner.id in made
        return func is not None and (last_name(func) in _SHOWING or own)
    if isinstance(node, (ir.For, ir.If)):
        return all(_stays(part, made) for part in [*node.body, *node.orelse])
    return type(node) is ir.Assert


def _differs_in_function(loop: ir.For, call: ir.Call) -> bool:
    """Whether what is called is made of the thing at hand, and what it is given is not."""
    things = {name.id for name in bound_names([loop.target])}
    made = [*_bound_to(loop, call), *([call.func] if type(call.func) is ir.Call else [])]
    given = {part.id for arg in call.args for part in below(arg.value) if type(part) is ir.Name}
    inside = {part.id for node in made for part in below(node) if type(part) is ir.Name}
    return not things.isdisjoint(inside) and things.isdisjoint(given)


def _bound_to(loop: ir.For, call: ir.Call) -> Iterator[ir.Node]:
    """What the names in a call's function were set to in the turn."""
    names = {part.id for part in below(call.func) if type(part) is ir.Name}
    for node in loop.body:
        if type(node) is ir.Assign and not names.isdisjoint(name.id for name in bound_names(node.targets)):
            yield node.value
