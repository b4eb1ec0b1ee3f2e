"""States of optimisers that a step computes anew and keeps nowhere (layer: ``link``, room ``domains``).

``updates, new = tx.update(grads, state)`` where nobody reads ``new``: the averages of the optimiser begin again in each step. What it
does: looks at where the old state comes from, and whether the step gives the parameters on that it has moved. What it does not:
speak of steps that are taken for their updates alone, or that no loop goes round with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.program import FuncInfo
from jitlint.link.engine import callers
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import last_name, nodes, path_text
from jitlint.syntax import ir

_APPLIES: Final = "apply_updates"


class GoesRound:
    """Of a function that takes one step: it holds if a loop calls it to go on from what it gave."""

    __slots__ = ("_fn", "_m")

    def __init__(self, m: Machine, fn: FuncInfo) -> None:
        self._m = m
        self._fn = fn

    def holds(self, found: Found) -> bool:
        """Whether the program has such a loop."""
        return callers.goes_round(self._m, self._fn)


def check(m: Machine, f: Frame, pair: ir.Tuple, call: ir.Call, state: ir.Expr) -> None:
    """An optimiser is stepped: does anybody get to see the state that it gives."""
    fn, updates, new = f.fn, pair.elts[0], pair.elts[1]
    if fn is None or type(updates) is not ir.Name or type(new) is not ir.Name or f.module.is_test:
        return
    moved = set() if is_kept(fn, new.id, call) else set(_moved(fn, updates.id))
    path = path_text(state) if moved else ""
    when: tuple[GoesRound, ...] = (GoesRound(m, fn),)
    bound = bound_once.bindings(fn, path)
    if any(part.value is not call for part in bound):
        lost = new.id != "_" and _is_before(f, bound)
        when = ()
    elif type(state) is ir.Name:
        lost = not moved.isdisjoint(_returned(fn)) and (new.id != "_" or path in fn.outer_names)
    else:
        lost = _stays(fn, path, moved)
        when = ()
    if path and lost:
        m.emit(f, DroppedUpdate, f.at, None, Confidence.LIKELY, when=when, kept=path)


def _is_before(f: Frame, bound: list[ir.Assign]) -> bool:
    """Whether a state is made before the loop that steps, once, and is the same in all its turns."""
    loop = f.loops[-1] if f.loops else None
    return loop is not None and len(bound) == 1 and bound[0].at < loop.at


def _stays(fn: FuncInfo, path: str, moved: set[str]) -> bool:
    """Whether a method moves the parameters that its object holds, and leaves the state that is there too."""
    own = f"{fn.first}."
    stores = [one for part in fn.parts if type(part) is ir.Assign for one in map(path_text, part.targets)]
    return (
        bool(fn.first)
        and path.startswith(own)
        and path not in stores
        and any(one.startswith(own) for one in moved)
    )


def is_kept(fn: FuncInfo, new: str, call: ir.Call) -> bool:
    """Whether anything reads the state that a step gives; the old one, if it has the same name, is read by the step itself."""
    outer = {*fn.node.global_names, *fn.node.nonlocal_names}
    return new in outer or bound_once.is_read(fn, new, but=call, after=call.at)


def _moved(fn: FuncInfo, updates: str) -> Iterator[str]:
    """The places that get what the updates are added to; "return" if it is handed out."""
    for part in fn.parts:
        value = part.value if isinstance(part, (ir.Assign, ir.Return)) else None
        added = any(
            type(one) is ir.Call
            and last_name(one.func) == _APPLIES
            and any(type(arg.value) is ir.Name and arg.value.id == updates for arg in one.args)
            for one in nodes(value)
        )
        if added:
            yield from map(path_text, part.targets) if type(part) is ir.Assign else ("return",)


def _returned(fn: FuncInfo) -> set[str]:
    """The variables that a function gives back as they are, and "return" for what it computes there."""
    found = {"return"}
    for part in fn.parts:
        value = part.value if type(part) is ir.Return else None
        parts: Sequence[ir.Node] = (
            value.elts if type(value) is ir.Tuple else [value] if value is not None else []
        )
        found.update(one.id for one in parts if type(one) is ir.Name)
    return found
