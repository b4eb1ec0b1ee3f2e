"""Names and attribute paths: what is known of them now, and what was narrowed (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.infer.values import NO_CONST, Ext, Inst, Scope, Value, const_of
from jitlint.link.engine import scopes
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import attributes
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir


def path_key(node: ir.Node | None) -> str:
    """The key under which a narrowed attribute path is remembered, or "" for anything else."""
    if type(node) is ir.Attr and type(node.obj) is ir.Name:  # nearly all of them
        return f"path:{node.obj.id}.{node.name}"
    names: list[str] = []
    while type(node) is ir.Attr:
        names.append(node.name)
        node = node.obj
    if type(node) is not ir.Name:
        return ""
    return "path:" + ".".join([node.id, *reversed(names)])


def forget_paths(scope: Scope, name: str) -> None:
    """Drop what was narrowed about attributes of a variable that is rebound or stored to, and which sides its tests took."""
    if "$paths" not in scope.vars:
        return
    prefix = f"path:{name}."
    for key in [k for k in scope.vars if k.startswith(prefix)]:
        del scope.vars[key]


def forget_tests(f: Frame, key: str) -> None:
    """Drop which side tests of a path have taken, now that it is stored to."""
    if "$paths" in f.scope.vars:
        for name in [k for k in f.scope.vars if k.startswith(f"{key}.")]:
            del f.scope.vars[name]


def part_of(f: Frame, node: ir.Attr | ir.Sub) -> tuple[Scope | None, object]:
    """The scope of the variable that an expression takes a part of, and its name with that part; None: not known."""
    part: object = node.name if type(node) is ir.Attr else None
    if type(node) is ir.Sub and type(node.index) is ir.Const:
        part = node.index.value
    if part is None or type(node.obj) is not ir.Name:
        return None, ""
    return scopes.holder(f.scope, node.obj.id), (node.obj.id, part)


def store_part(m: Machine, f: Frame, node: ir.Attr | ir.Sub, value: Value | None) -> None:
    """A part of an object that is not understood gets a value, or is changed in place."""
    scope, path = part_of(f, node)
    if scope is not None:
        m.domains.on_store(f, Store(node.at, "part", scope, path, value))


def peek(m: Machine, f: Frame, node: ir.Node | None) -> Value | None:
    """The current value of a name or attribute path, without events; None for other expressions."""
    if type(node) is ir.Name:
        return scopes.lookup(f, node.id)
    if type(node) is ir.Walrus:
        return scopes.lookup(f, node.target)
    if type(node) is ir.Attr:
        known = f.scope.vars.get(path_key(node))
        if known is not None:
            return known
        obj = peek(m, f, node.obj)
        return None if obj is None else attributes.peek(m, f, obj, node.name)
    return None


def constant(m: Machine, f: Frame, node: ir.Node) -> object:
    """The constant that an expression is, or that a name or attribute path holds; NO_CONST for others."""
    if type(node) is ir.Const:
        return node.value
    value = peek(m, f, node)
    return NO_CONST if value is None else const_of(value)


def method(m: Machine, f: Frame, func: ir.Node | None) -> tuple[Value | None, Inst | None]:
    """What the class of an object has under a name, and the object: of ``obj.name`` where that is an instance."""
    owner = peek(m, f, func.obj) if type(func) is ir.Attr else None
    if type(func) is ir.Attr and type(owner) is Inst:
        return find_method(owner, func.name), owner
    return None, None


def dotted(m: Machine, f: Frame, node: ir.Node | None) -> str:
    """The name of a library that a path means, "" if it means something else."""
    if type(node) is ir.Name:
        value = scopes.lookup(f, node.id)
        return value.dotted if type(value) is Ext else ""
    owner = dotted(m, f, node.obj) if type(node) is ir.Attr else ""
    return m.catalogue.canonical(f"{owner}.{node.name}") if owner and type(node) is ir.Attr else ""
