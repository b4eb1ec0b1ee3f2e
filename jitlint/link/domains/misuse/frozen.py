"""Assignments to fields of objects that cannot be changed (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ArrayStore
from jitlint.infer.objects import is_cold
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Class, Ext, ExtInst, Inst, Tup
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions import closing
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

_BUILDING: Final = Slot[frozenset[int]](inherited=True)
"""Objects under construction, by identity."""

_STARTED: Final = Slot[tuple[int, str]](inherited=True)
"""The object of a method that was started by no code of the project, by identity, and the name of the method."""

_BUILDERS: Final = frozenset({"__init__", "__post_init__", "__setup__", "setup", "__setstate__", "__new__"})
_OPEN_WHILE_BUILT: Final = frozenset({"eqx", "linen"})
_DECLARING: Final = "eqx"
"""The role of classes whose constructor sets declared fields, and nothing else."""
_ALWAYS: Final = frozenset({"struct"})


class Builders:
    """The methods that constructors of the project call on what they build, found when somebody asks."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._names: set[str] | None = None

    def call(self, name: str) -> bool:
        """Whether some constructor calls a method of this name, or another one does that it calls."""
        if self._names is None:
            named: dict[str, list[FuncInfo]] = {}
            for fn in self._m.functions:
                named.setdefault(fn.name, []).append(fn)
            self._names, waiting = set(), [*_BUILDERS]
            while waiting:
                found = {other for fn in named.get(waiting.pop(), ()) for other in _own_calls(fn)}
                waiting += found - self._names
                self._names |= found
        return name in self._names


def _own_calls(fn: FuncInfo) -> Iterator[str]:
    """The methods that a method calls on its own object."""
    receiver = fn.first
    calls = (part.func for part in fn.parts if type(part) is ir.Call)
    for func in calls:
        if type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == receiver:
            yield func.name


def entered(f: Frame, inner: Frame) -> None:
    """What a constructor and all that it calls do to its object is building."""
    if inner.fn is None or not inner.scope.vars:
        return
    around, receiver = _BUILDING.of(f), id(next(iter(inner.scope.vars.values())))
    if inner.fn.name in _BUILDERS:
        around = (around or frozenset()) | {receiver}
    if around:
        _BUILDING.put(inner, around)
    started = (receiver, inner.fn.name) if f.fn is None else _STARTED.of(f)
    if started:
        _STARTED.put(inner, started)


def stored(m: Machine, f: Frame, store: Store, builders: Builders) -> None:
    """An attribute is assigned: is the object one that refuses that."""
    owner = store.owner
    if type(owner) is Tup and owner.cls is not None:
        _report(m, f, store, owner.cls.name)
    elif type(owner) is ExtInst:
        if owner.dotted in lexicon().types.frozen and not store.form:
            _report(m, f, store, owner.dotted)
    elif type(owner) is Inst and not store.form and (store.key is None or isinstance(store.key, str)):
        _into_object(m, f, store, owner, builders)


def _into_object(m: Machine, f: Frame, store: Store, owner: Inst, builders: Builders) -> None:
    cls, name = owner.cls, store.key or ""
    if closing.is_closed(f, owner):
        _report(m, f, store, cls.name)
    elif f.world.level or cls.pytree:
        built = _is_built(f, owner, builders)
        if _is_frozen(cls, name, built):
            _report(m, f, store, cls.name)
        elif built and cls.role == _DECLARING and not is_cold(owner) and name and _is_undeclared(cls, name):
            _report(m, f, store, cls.name, "undeclared")


def _is_built(f: Frame, owner: Inst, builders: Builders) -> bool:
    """Whether a constructor is at work, or a method that was started by itself and that a constructor calls too."""
    if id(owner) in (_BUILDING.of(f) or ()):
        return True
    started = _STARTED.of(f)
    open_then = owner.cls.role in _OPEN_WHILE_BUILT
    return open_then and started is not None and started[0] == id(owner) and builders.call(started[1])


def _is_frozen(cls: ClassInfo, name: str, building: bool) -> bool:
    line = mro(cls)
    if any(c.extern or "__setattr__" in c.namespace for c in line):
        return False
    if any(c.frozen and (c is cls or name in c.fields) for c in line) or cls.role in _ALWAYS:
        return True
    return cls.role in _OPEN_WHILE_BUILT and not building


def _is_undeclared(cls: ClassInfo, name: str) -> bool:
    """Whether neither a class nor one of its bases, all of which are known, declares a field; names of Python's own are let through."""
    line = mro(cls)
    bases = [base for c in line for base in c.bases]
    words = lexicon().types
    known = all(
        type(base) is Class
        or (type(base) is Ext and base.dotted in words.harmless_bases | words.declaring_bases)
        for base in bases
    )
    named = name.startswith("__") or any(name in c.fields or name in c.namespace for c in line)
    return known and not named and not any("__setattr__" in c.namespace or c.extern for c in line)


def _report(m: Machine, f: Frame, store: Store, cls: str, op: str = "field") -> None:
    m.emit(f, ArrayStore, store.at, op=op, what=f"{cls}.{store.key or ''}")
