"""Changes of the copies that a trace makes of its arguments: a mistake when the caller looks for them (layer: ``link``, room ``domains``).

A traced function gets its containers made anew: what it does to them its caller never sees. That is a good way to put
a result together, and a mistake only if the caller goes on with the object that it handed over. What it does: remembers who
hands what to a compiled function, and asks at the end whether it is read afterwards. What it does not: find the changes;
`mutations` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Mutation
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Bound, Func, Value, Xform, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import nodes
from jitlint.syntax import ir


@dataclass(frozen=True, slots=True)
class Site:
    """Host code calls a compiled function. shift: arguments before those that are written. statement: its origin."""

    module: str
    fn: FuncInfo | None
    node: ir.Call
    shift: int
    statement: int
    loops: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A parameter's copy is changed and not given back. what: the function of a library that has changed it. place:
    module and function of the origin, if it is not that of the frame."""

    frame: Frame
    at: int
    fn: FuncInfo
    name: str
    level: Confidence
    what: str = ""
    place: tuple[str, str] | None = None


@dataclass(slots=True)
class Copies:
    """rebuilt: containers that a trace makes of its arguments, by identity, with the function and the parameter.
    objects: the same of objects that a library looks after. changes: of these. sites: calls of compiled functions, by the number of the function."""

    rebuilt: dict[int, tuple[Value, FuncInfo, str]] = field(default_factory=dict)
    objects: dict[int, tuple[Value, FuncInfo, str]] = field(default_factory=dict)
    changes: dict[tuple[str, int], Change] = field(default_factory=dict)
    sites: dict[int, dict[tuple[str, int], Site]] = field(default_factory=dict)


def handed(copies: Copies, f: Frame, node: ir.Call, callee: Value) -> None:
    """Host code calls something: remember it if that is a compiled function."""
    for alt in alternatives(callee):
        made = alt.func if type(alt) is Bound else alt
        if type(made) is not Xform:
            continue
        shift = int(type(alt) is Bound)
        target = made.target
        if type(target) is Bound:
            target, shift = target.func, shift + 1
        if type(target) is Func:
            site = Site(f.module.name, f.fn, node, shift, f.at, f.loops)
            copies.sites.setdefault(target.fn.id, {})[f.module.name, node.at] = site


def finish(m: Machine, copies: Copies) -> None:
    """Record the changes that a caller may look for."""
    for change in copies.changes.values():
        sites = copies.sites.get(change.fn.id, {}).values()
        if any(_is_read(m, site, _argument(site, change)) for site in sites):
            f = change.frame
            m.emit(
                f, Mutation, change.at, None, change.level, change.place, target="element", what=change.what,
                name=change.name, lost=True,
            )  # fmt: skip


def _argument(site: Site, change: Change) -> ir.Node | None:
    """The expression that a call hands over for the parameter, None when that cannot be told."""
    names = [p.name for p in change.fn.node.params]
    place = names.index(change.name) - site.shift if change.name in names else -1
    for i, arg in enumerate(site.node.args):
        if arg.star:
            return None
        if arg.name == change.name or (arg.name is None and i == place):
            return arg.value
    return None


def _is_read(m: Machine, site: Site, handed_over: ir.Node | None) -> bool:
    """Whether the caller reads a variable or attribute after the statement that has handed it over."""
    path = _path(handed_over)
    if not path:
        return False
    body = site.fn.body if site.fn is not None else m.modules[site.module].tree.body
    found = _nodes(body)
    statement = next((n for n in found if n.at == site.statement), None)
    if statement is None or path in _bound(statement):
        return False
    if site.loops and not any(path in _bound(node) for node in nodes(site.loops[-1])):
        return True
    return _is_read_after(statement, path, found)


def _is_read_after(statement: ir.Node, path: str, found: list[ir.Node]) -> bool:
    last = max(node.at for node in _nodes(statement))
    stored = {id(target) for node in found for target in _targets(node)}
    return any(_path(node) == path and node.at > last and id(node) not in stored for node in found)


def _nodes(part: ir.Node | Sequence[ir.Node] | None) -> list[ir.Node]:
    return [node for node in nodes(part) if isinstance(node, ir.Node)]


def _targets(node: ir.Node | None) -> list[ir.Node]:
    if type(node) is not ir.Assign:
        return []
    flat: list[ir.Node] = []
    for target in node.targets:
        flat += target.elts if isinstance(target, (ir.Tuple, ir.List)) else [target]
    return flat


def _bound(node: ir.Node | None) -> set[str]:
    return {_path(target) for target in _targets(node)} - {""}


def _path(node: ir.Node | None) -> str:
    if type(node) is ir.Name:
        return str(node.id)
    if type(node) is ir.Attr:
        base = _path(node.obj)
        return f"{base}.{node.name}" if base else ""
    return ""
