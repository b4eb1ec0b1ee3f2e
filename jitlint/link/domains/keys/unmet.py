"""Draws from one key that never meet: only one of them counts, wherever both are written (layer: ``link``, room ``domains``).

What it does: looks at what becomes of the numbers, in the function that draws both. What it does not: follow them
into other functions; what is handed on counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Optional

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Use
from jitlint.link.domains.keys.ledger import RANDOM
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_names, inner_functions, last_name, nodes, same_text, whole
from jitlint.link.tables.naming import has_word
from jitlint.syntax import ir
from jitlint.syntax.children import below

Case = tuple[ir.Node, ir.Const]
"""What is compared with a constant, for numbers that count only if both are equal."""


def never_meet(f: Frame, parts: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether only one of two draws counts. parts: the code of the function that both stand in."""
    calls = {n.at: n for n in parts if type(n) is ir.Call and n.at in (this.site[1], found.site[1])}
    if len(calls) != 2 or this.site[0] != found.site[0]:
        return False
    names = _names(f, parts)
    spots = [(_spot(parts, names, calls[use.site[1]]), use) for use in (this, found)]
    (one, _), (other, _) = spots
    if _are_alternatives(parts, one.at, other.at) or _exclude_each_other(parts, one.at, other.at):
        return True
    if _are_compared(parts, *calls.values()) or _replaces(parts, names, this, found):
        return True
    return any(
        _is_shown(parts, spot.at) or _is_input(parts, calls[use.site[1]], spot, use) for spot, use in spots
    )


def _names(f: Frame, parts: Sequence[ir.Node]) -> list[ir.Name]:
    """Where variables stand that no inner function knows."""
    body = f.fn.body if f.fn is not None else f.module.tree.body
    inside = {n.id for fn in inner_functions(f.module, body) for n in nodes(fn.body) if type(n) is ir.Name}
    return [n for n in parts if type(n) is ir.Name and n.id not in inside]


def _spot(parts: Sequence[ir.Node], names: Sequence[ir.Name], call: ir.Call) -> ir.Node:
    """Where the numbers of a call go: to the only place that reads the variable that holds nothing else."""
    for node in parts:
        if type(node) is ir.Assign and node.value is call and type(node.targets[0]) is ir.Name:
            reads = [n for n in names if n.id == node.targets[0].id and n is not node.targets[0]]
            return reads[0] if len(node.targets) == len(reads) == 1 else call
    return call


def _are_alternatives(parts: Sequence[ir.Node], one: int, other: int) -> bool:
    """``jnp.where(c, one, other)``: each element is of one of them."""
    for node in parts:
        if type(node) is ir.Call and last_name(node.func) in lexicon().keys.choosing:
            ways = _ways(node)
            held = [{at for at in (one, other) if _holds(way, at)} for way in ways]
            if {one} in held and {other} in held:
                return True
    return False


def _ways(node: ir.Call) -> list[ir.Node]:
    """What a choice is made of, without what decides it."""
    given: list[ir.Node] = [arg.value for arg in node.args[1:]]
    return list(given[0].elts) if len(given) == 1 and isinstance(given[0], (ir.List, ir.Tuple)) else given


def _exclude_each_other(parts: Sequence[ir.Node], one: int, other: int) -> bool:
    """``one * (kind == 0)`` and ``other * (kind == 1)``: whatever the kind is, only one of them is not zero."""
    for a, x in _cases(parts, one):
        for b, y in _cases(parts, other):
            if same_text(a, b) and x.value != y.value:
                return True
    here, there = (list(_conditions(parts, at)) for at in (one, other))
    return any(same_text(a, b) and x != y for a, x in here for b, y in there)


def _conditions(parts: Sequence[ir.Node], at: int) -> Iterator[tuple[ir.Node, int]]:
    """What decides about the numbers at a place, and which way it chooses them."""
    for node in parts:
        if type(node) is ir.Call and last_name(node.func) == "where" and len(node.args) == 3:
            for way in (1, 2):
                if _holds(node.args[way].value, at):
                    yield node.args[0].value, way


def _are_compared(parts: Sequence[ir.Node], one: ir.Call, other: ir.Call) -> bool:
    """Whether what two calls give is compared: one function for two points, or two functions that should give the same."""
    points = _applied(one) == _applied(other) != "" and not same_text(one, other)
    a, b = _results(parts, one, points), _results(parts, other, points)
    return any(
        len(sides) == 2 and a.isdisjoint(b) and (_meets(sides, a, b) or _meets(sides, b, a))
        for sides in (_compared(node, points) for node in parts)
    )


def _compared(node: ir.Node, points: bool) -> list[ir.Node]:
    """What an expression compares. points: so does a difference, or which of two is larger."""
    if type(node) is ir.BinOp and node.op == "-" and points:
        return [whole(node.left), whole(node.right)]
    if type(node) is ir.Compare and len(node.rights) == 1 and points:
        return [whole(node.left), whole(node.rights[0])]
    if type(node) is ir.Call and has_word(last_name(node.func), lexicon().keys.comparing):
        return [arg.value for arg in node.args[:2]]
    return []


def _applied(call: ir.Call) -> str:
    """The function that a call runs, under transforms perhaps: ``f`` of ``jax.vmap(f)(x)``."""
    func: ir.Node = call.func
    while type(func) is ir.Call and func.args:
        func = func.args[0].value
    return last_name(func)


def _results(parts: Sequence[ir.Node], call: ir.Call, several: bool) -> set[int]:
    """Where the result of a call stands: there, and where the variable is read that holds it. several: one of some that are bound
    together as well."""
    for node in parts:
        target = _target(node, call, several) if type(node) is ir.Assign else None
        if type(target) is ir.Name:
            return {call.at, *(n.at for n in parts if type(n) is ir.Name and n.id == target.id)}
    return {call.at}


def _target(node: ir.Assign, call: ir.Call, several: bool) -> ir.Node | None:
    """What an assignment binds to the result of a call, if it does: one of several variables perhaps."""
    target = node.targets[0]
    if not several or type(target) is not ir.Tuple or type(node.value) is not ir.Tuple:
        return target if node.value is call else None
    return next((one for one, value in zip(target.elts, node.value.elts) if value is call), None)


def _meets(sides: Sequence[ir.Node], a: set[int], b: set[int]) -> bool:
    return sides[0].at in a and sides[1].at in b


def _is_shown(parts: Sequence[ir.Node], at: int) -> bool:
    """Whether the numbers at a place are printed, and go nowhere else."""
    return any(
        type(node) is ir.Call and type(node.func) is ir.Name and node.func.id == "print"
        and any(arg.value.at == at for arg in node.args)
        for node in parts
    )  # fmt: skip


def _cases(parts: Sequence[ir.Node], at: int) -> Iterator[Case]:
    """For which cases alone the numbers at a place count."""
    for node in parts:
        if type(node) is ir.BinOp and node.op == "*":
            for factor, rest in ((node.left, node.right), (node.right, node.left)):
                yield from _equalities(rest) if _holds(factor, at) else ()
        elif type(node) is ir.Call and last_name(node.func) in lexicon().keys.choosing and len(node.args) > 1:
            yield from _equalities(node.args[0].value) if _holds(node.args[1].value, at) else ()


def _equalities(node: ir.Node | None) -> Iterator[Case]:
    if type(node) is ir.BinOp and node.op in ("*", "&"):
        yield from _equalities(node.left)
        yield from _equalities(node.right)
    elif type(node) is ir.Compare and node.ops == ["=="] and type(node.rights[0]) is ir.Const:
        yield node.left, node.rights[0]


def _replaces(parts: Sequence[ir.Node], names: Sequence[ir.Name], this: Use, found: Use) -> bool:
    """Whether the same statement runs again, and nobody has looked at what it gave before: the first run warms up.

    A module that gets its parameters again, of the same key, starts again.
    """
    second, first = (_binding(parts, use.site[1]) for use in (this, found))
    if first is None or second is None or first.at >= second.at or not same_text(first, second):
        return False
    bound = {target.id for target in bound_names(first.targets)}
    if not bound or not bound <= {name.id for name in names}:
        return False
    starts = not lexicon().keys.initialising.isdisjoint(this.stream.split())
    return starts or not _looks(parts, [n for n in names if n.id in bound], first, second)


def _looks(parts: Sequence[ir.Node], named: Sequence[ir.Name], first: ir.Assign, second: ir.Assign) -> bool:
    """Whether somebody reads what the first of two assignments gave."""
    stored = {id(name) for n in parts if type(n) is ir.Assign for name in bound_names(n.targets)}
    ignored = stored.union(id(n) for node in (first, *filter(_only_waits, parts)) for n in below(node))
    own = {id(n) for n in below(second.value)}
    return any(id(n) not in ignored and (first.at < n.at < second.at or id(n) in own) for n in named)


def _only_waits(node: ir.Node) -> bool:
    words = lexicon().timing
    names = words.waiting_methods | {name.rpartition(".")[2] for name in words.waiting}
    return type(node) is ir.ExprStmt and type(node.value) is ir.Call and last_name(node.value.func) in names


def _is_input(parts: Sequence[ir.Node], call: ir.Call, drawn: ir.Node, use: Use) -> bool:
    """Whether a draw only shows a module the shape of what it will get: ``module.init(keys, x)``."""
    if drawn is call or not use.api.startswith(RANDOM) or use.api == f"{RANDOM}split":
        return False
    keys = _made_of(parts, call)
    for node in parts:
        if type(node) is ir.Call and last_name(node.func) in lexicon().keys.only_variables and node.args:
            first, *rest = [arg.value for arg in node.args]
            made = type(first) is ir.Call and last_name(first.func) != "split"
            if any(part is drawn for part in rest) and keys & _read(first) and not made:
                return True
    return False


def _made_of(parts: Sequence[ir.Node], call: ir.Call) -> set[str]:
    """The names of the key that a call draws from, and of what else is made of it."""
    given = next((arg.value for arg in call.args if arg.name == "key"), call.args[0].value)
    names = _read(given)
    for node in sorted((n for n in parts if type(n) is ir.Assign), key=lambda n: n.at):
        if node.value is not call and names & _read(node.value):
            names |= {target.id for target in bound_names(node.targets)}
    return names


def _read(node: Optional[ir.Node]) -> set[str]:
    return {n.id for n in below(node) if type(n) is ir.Name}


def _binding(parts: Sequence[ir.Node], at: int) -> ir.Assign | None:
    return next((n for n in parts if type(n) is ir.Assign and _holds(n, at)), None)


def _holds(node: ir.Node | None, at: int) -> bool:
    return any(isinstance(part, ir.Node) and part.at == at for part in below(node))
