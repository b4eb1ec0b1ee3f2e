"""Fields that a constructor sets, or leaves out (layer: ``link``, room ``values``).

What it does: says which annotated field a constructor of `equinox` that has run certainly did not set, which is refused, and
whether a constructor sets what nobody can read. What it does not: speak of what is set
in a way that cannot be read, or of a constructor that was not followed to its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Descr, Func, Inst, Value, Xform
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.values import fields
from jitlint.link.values.questions.kinds import find_method, metaclass_method, mro
from jitlint.syntax import ir

_ROLE: Final = "eqx"
_HIDDEN: Final = frozenset({"setattr", "__setattr__", "__dict__", "vars", "update"})
"""Names in code that may set fields in a way that cannot be read."""
_SETTERS: Final = frozenset({"setattr", "__setattr__"})
_TABLES: Final = frozenset({"__dict__", "vars"})
_MAKERS: Final = ("__init__", "__new__", "__post_init__", "__init_subclass__")
_MADE_BY: Final = ("__new__", "__init__", "__call__")
_ABSTRACT: Final = "Abstract"


def check(m: Machine, f: Frame, at: int, inst: Inst) -> None:
    """A constructor has run: record a field that it certainly leaves out."""
    cls = inst.cls
    if cls.role != _ROLE or inst.open or cls.extern or m.guards or not inst.attrs:
        return
    missing = next(_missing(inst), "")
    if missing and _is_read(cls, missing):
        m.emit(
            f, ApiMisuse, at, api=cls.name, problem="wrong-call", detail="unset", parameter=missing,
            exception="TypeError",
        )  # fmt: skip


def _is_filled_by_name(info: ClassInfo) -> bool:
    """Whether constructors of a class, or what makes its subclasses, put members into place whose names cannot be read."""
    makers = [one.namespace[name] for one in mro(info) for name in _MAKERS if name in one.namespace]
    functions = [maker.func if type(maker) is Descr else maker for maker in makers]
    return any(_fills(part) for func in functions if type(func) is Func for part in func.fn.parts)


def _fills(node: ir.Node) -> bool:
    if type(node) is not ir.Call or ir_walk.last_name(node.func) not in _SETTERS:
        return ir_walk.last_name(node) in _TABLES
    return len(node.args) < 2 or type(node.args[-2].value) is not ir.Const


def is_mark(info: ClassInfo, owner: ClassInfo, name: str, found: Value) -> bool:
    """Whether a member that a class has of one of its bases may only mark what comes in its place in each object."""
    plain = type(found) is Inst and find_method(found, "__get__") is None
    return (is_replaced(info, found) or (plain and _is_filled_by_name(info))) and _is_written(owner, name)


def _is_written(info: ClassInfo, name: str) -> bool:
    """Whether the body of a class binds a name; what is set later is what came in its place."""
    if info.written is None:
        node = ir_walk.class_at(info.module.tree.body, info.qualname)
        body = [part for part in node.body if not _only_annotates(part)] if node is not None else []
        bound = frozenset(name for part in body for name in ir_walk.bound_by(part))
        info.written = bound if node is not None else frozenset(info.namespace)
    return name in info.written


def _only_annotates(node: ir.Node) -> bool:
    return type(node) is ir.AnnAssign and node.value is None


def is_replaced(info: ClassInfo, found: Value, of_class: bool = False) -> bool:
    """Whether the metaclass of a class may have put something else than this member in its place: there, or in each object."""
    if info.metaclass is None or isinstance(found, (Func, Xform, Descr)):
        return False
    makers = _MADE_BY[:2] if of_class else _MADE_BY
    return any(metaclass_method(info, name) is not None for name in makers)


def _missing(inst: Inst) -> Iterator[str]:
    """The fields without a default that nothing has set."""
    given = {name for one in mro(inst.cls) for name in one.namespace}
    for name, (annotation, default) in fields.ordered_fields(inst.cls).items():
        words = [node.id for node in ir_walk.nodes(annotation) if type(node) is ir.Name]
        words += [node.name for node in ir_walk.nodes(annotation) if type(node) is ir.Attr]
        abstract = any(word.startswith(_ABSTRACT) for word in words)
        if default is None and not abstract and name not in inst.attrs and name not in given:
            yield name


def _is_read(cls: ClassInfo, name: str) -> bool:
    """Whether all places in the methods of a class that may set a field were read, and stand under a condition."""
    for one in mro(cls):
        for method in one.namespace.values():
            if type(method) is Func and not _sets_on_condition(method, name):
                return False
    return True


def _sets_on_condition(method: Func, name: str) -> bool:
    parts = list(method.fn.parts)
    words = {node.id for node in parts if type(node) is ir.Name}
    words |= {node.name for node in parts if type(node) is ir.Attr}
    if words & _HIDDEN:
        return False
    return not any(_stores(node, name) for node in method.fn.body)


def _stores(node: ir.Node, name: str) -> bool:
    """Whether a statement sets the field, whatever happens."""
    if type(node) is ir.If:
        return False
    found = [part for part in ir_walk.nodes([node]) if isinstance(part, (ir.Assign, ir.AnnAssign))]
    targets = [t for part in found for t in (part.targets if isinstance(part, ir.Assign) else [part.target])]
    return any(type(t) is ir.Attr and t.name == name for top in targets for t in ir_walk.nodes([top]))
