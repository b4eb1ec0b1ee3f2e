"""Leaks wait until their trace is left: what is put back before that has not leaked (layer: ``link``, room ``domains``).

A frame keeps, by place, the last thing that was stored into what is older than the trace: a tracer that waits, or None
for anything else. When a call returns, its caller takes over what it kept; when the caller stands outside of the
trace, what still waits is a leak. Whether somebody reads the place afterwards is decided at the end of the analysis.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final, Optional

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Leak
from jitlint.infer.values import Arr, Inst, Scope, Tree, Value
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir
from jitlint.syntax.children import below


@dataclass(frozen=True, slots=True)
class Pending:
    """A tracer that was stored. frame, at: where. variable: the last name of what was changed. derived: it was made of what
    was there before. box: what holds it, alive as long as its identity says which place that is."""

    frame: Frame
    at: int
    tracer: Arr | Tree
    confidence: Confidence
    target: str
    what: str
    variable: str
    derived: bool
    is_attribute: bool
    box: object


Kept = dict[tuple[Hashable, ...], Optional[Pending]]
"""By place, what was stored there last."""

Leaked = dict[tuple[str, int, str, str], list[Pending]]
"""By statement and place, the tracers that were still there when their trace was left."""

KEPT: Final = Slot[Kept]()


def place(box: Value | Scope, what: str) -> tuple[Hashable, ...]:
    """What a store is known by until the trace is left: an attribute by its class, a container by itself."""
    if type(box) is Inst:
        return ("attribute", box.cls.id, what)
    return ("name", id(box), what) if type(box) is Scope else ("inside", id(box))


def keep(f: Frame, key: tuple[Hashable, ...], pending: Pending | None) -> bool:
    """Something is stored into an older place; None: it is no tracer of this trace. Whether it replaces one."""
    while f.outer is not None and f.outer.world.level == f.world.level > 0:
        f = f.outer  # still the same trace
    kept = KEPT.of(f)
    if kept is None:
        kept = {}
        KEPT.put(f, kept)
    before = kept.get(key)
    kept[key] = pending
    return pending is None and before is not None


def leave(leaked: Leaked, f: Frame, kept: Kept) -> None:
    """A call has returned to ``f``, or a remembered one is made again."""
    if f.scope.level == f.world.level:
        for key, pending in kept.items():
            keep(f, key, pending)
        return
    for pending in kept.values():
        if pending is not None:
            place = (pending.frame.module.name, pending.at, pending.target, pending.what)
            leaked.setdefault(place, []).append(pending)


def record(m: Machine, leaked: Leaked) -> None:
    """Record the leaks, each with whether its value is read later."""
    for found in leaked.values():
        for one in found:
            used = one.derived or _is_read(m, one)
            f = one.frame
            outer, f.confidence = f.confidence, one.confidence
            m.emit(f, Leak, one.at, one.tracer, target=one.target, what=one.what, used=used)
            f.confidence = outer


def _is_read(m: Machine, one: Pending) -> bool:
    """Whether code outside of the trace reads the place; what cannot be told counts as read."""
    if one.is_attribute:
        return any((one.what, level) in m.loads for level in range(one.tracer.level))
    name = (one.variable or one.what).lower()
    if not name:
        return True
    hosts = [fn for fn in m.functions if (fn.id not in m.traced or fn.hosted) and fn is not one.frame.fn]
    return any(_reads(fn.body, name) for fn in hosts) or any(
        _reads(info.tree.body, name) for info in m.modules.values()
    )


def _reads(body: Sequence[ir.Node], name: str) -> bool:
    """Whether statements mention a variable or attribute other than to store something there."""
    found = below(body)
    stores: set[int] = set()
    for node in found:
        for target in node.targets if type(node) is ir.Assign else ():
            stores.add(id(target.obj if type(target) is ir.Sub else target))
        call = node.value if type(node) is ir.ExprStmt else None
        if (
            type(call) is ir.Call
            and type(call.func) is ir.Attr
            and call.func.name in lexicon().containers.refilling
        ):
            stores.add(id(call.func.obj))
    return any(id(node) not in stores and _last_name(node).lower() == name for node in found)


def _last_name(node: ir.Node | None) -> str:
    if type(node) is ir.Attr:
        return str(node.name)
    return str(node.id) if type(node) is ir.Name else ""
