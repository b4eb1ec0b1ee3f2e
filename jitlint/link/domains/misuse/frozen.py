"""Assignments to fields of objects that cannot be changed (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ArrayStore
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import ExtInst, Inst, Tup
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions.kinds import mro

_BUILDING: Final = Slot[frozenset[int]](inherited=True)
"""Objects under construction, by identity."""

_BUILDERS: Final = frozenset({"__init__", "__post_init__", "__setup__", "setup", "__setstate__", "__new__"})
_OPEN_WHILE_BUILT: Final = frozenset({"eqx", "linen"})
_ALWAYS: Final = frozenset({"struct"})


def entered(f: Frame, inner: Frame) -> None:
    """What a constructor and all that it calls do to its object is building."""
    around = _BUILDING.of(f)
    if inner.fn is not None and inner.fn.name in _BUILDERS and inner.scope.vars:
        around = (around or frozenset()) | {id(next(iter(inner.scope.vars.values())))}
    if around:
        _BUILDING.put(inner, around)


def stored(m: Machine, f: Frame, store: Store) -> None:
    """An attribute is assigned: is the object one that refuses that."""
    owner = store.owner
    if type(owner) is Tup and owner.cls is not None:
        _report(m, f, store, owner.cls.name)
    elif type(owner) is ExtInst:
        if owner.dotted in lexicon().types.frozen and not store.form:
            _report(m, f, store, owner.dotted)
    elif type(owner) is Inst and not store.form and (store.key is None or isinstance(store.key, str)):
        building = id(owner) in (_BUILDING.of(f) or ())
        if (f.world.level or owner.cls.pytree) and _is_frozen(owner.cls, store.key or "", building):
            _report(m, f, store, owner.cls.name)


def _is_frozen(cls: ClassInfo, name: str, building: bool) -> bool:
    line = mro(cls)
    if any(c.extern or "__setattr__" in c.namespace for c in line):
        return False
    if any(c.frozen and (c is cls or name in c.fields) for c in line) or cls.role in _ALWAYS:
        return True
    return cls.role in _OPEN_WHILE_BUILT and not building


def _report(m: Machine, f: Frame, store: Store, cls: str) -> None:
    m.emit(f, ArrayStore, store.at, op="field", what=f"{cls}.{store.key or ''}")
