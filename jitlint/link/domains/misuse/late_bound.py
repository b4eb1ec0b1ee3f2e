"""Branches that a loop makes, and that all read its variable when they run (layer: ``link``, room ``domains``).

``[lambda x: x * k for k in factors]``: each of these functions looks at ``k`` when it is called, and finds the last one. What it does:
looks at the branches of a choice that are made in a loop, and at transformed functions that a comprehension collects, if they read
what that goes through. What it does not: so for functions that get it as a default, or are called in the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import LateBinding
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func, Seq, Tup, Value, Xform
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import bound_names, code_of, makes
from jitlint.syntax import ir
from jitlint.syntax.children import below

SWITCH: Final = "jax.lax.switch"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A branch is chosen."""
    for func in _made_several(library.args.get(1, "branches")):
        maker = func.scope.fn
        code = code_of(func.fn.module, maker)
        for at, loop, names in _loops(code, func.fn):
            late = sorted(names.intersection(func.fn.outer_names))
            if late and not any(type(node) is ir.Call and node.at == library.at for node in loop):
                place = Frame(func.fn.module, func.fn.module.scope, HOST, maker, ground="jit")
                where = (func.fn.module.name, maker.qualname if maker is not None else "<module>")
                m.emit(place, LateBinding, at, None, Confidence.LIKELY, where, name=late[0])
                return


def made(m: Machine, f: Frame, at: int, value: Value) -> None:
    """A function is transformed: ``{k: jax.jit(lambda x: x * k) for k in factors}`` keeps it for later."""
    loop = f.loops[-1] if f.loops else None
    func = value.target if type(value) is Xform else None
    if type(loop) is not ir.Comp or type(func) is not Func or func.fn.module is not f.module:
        return
    if _collected(loop).at != at or loop.kind == "generator":
        return
    for _, _, names in _loops([loop], func.fn):
        late = sorted(names.intersection(func.fn.outer_names))
        if late and type(value) is Xform:
            m.emit(f, LateBinding, at, None, Confidence.LIKELY, name=late[0], transform=value.spec.name)


def _made_several(branches: Value | None) -> list[Func]:
    """The functions of the program among the branches that are made more than once, each of them one time."""
    items: list[Value] = []
    if isinstance(branches, (Tup, Seq)):
        items = list(branches.items or ())
        items += [branches.rest] * 2 if type(branches) is Seq and branches.rest is not None else []
    alike: dict[int, list[Func]] = {}
    for item in items:
        if type(item) is Func:
            alike.setdefault(item.fn.id, []).append(item)
    several = (same for same in alike.values() if len(same) > 1)
    return [same[0] for same in several if all(func.scope is same[0].scope for func in same)]


def _collected(loop: ir.Comp) -> ir.Expr:
    """What a comprehension puts together: of a dict, the values."""
    return loop.elt if loop.value is None else loop.value


def _loops(code: list[ir.Node], fn: FuncInfo) -> Iterator[tuple[int, list[ir.Node], set[str]]]:
    """Where a function is written in each loop around it, the loop's code and its variables."""
    for node in code:
        if not isinstance(node, (ir.For, ir.Comp)):
            continue
        inside = below(list(node.body) if isinstance(node, ir.For) else [_collected(node)])
        made = next((part for part in inside if makes(part, fn)), None)
        targets = [node.target] if isinstance(node, ir.For) else [part.target for part in node.fors]
        if made is not None:
            yield made.at, inside, {name.id for name in bound_names(targets)}
