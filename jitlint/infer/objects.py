"""Which object an instance is, however much is known of it at a place, and what is noted of one (layer: ``infer``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    Arr,
    Bound,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Method,
    Mod,
    Partial,
    Value,
    Xform,
)

NO_ARRAYS: Final = frozenset({Bound, Class, Ext, Func, Method, Mod, Partial, Xform})
"""Leaves that no array takes the place of."""

NOTE: Final = "$note "
"""How attributes of library objects begin that nobody reads, and that two objects which may be meant need not share."""
MADE: Final = f"{NOTE}made"
"""Said of a layer whose parameters are those that it was made with."""
LEARNT: Final = f"{NOTE}learnt"
"""Where a layer has the modes that its parameters bring into what it computes."""
DRY: Final = f"{NOTE}dry"
"""Where a layer remembers that it was made without a stream of keys."""
MODE: Final = f"{NOTE}mode"
"""Where a layer remembers that it was made for one mode, or does nothing."""
MERGED: Final = f"{NOTE}merged"
"""Where a layer remembers which call in a trace has put its module together."""
TRAINS: Final = f"{NOTE}trains"
"""Where the graph of a module remembers that its layers learn from what they are given."""
SEEDED: Final = f"{NOTE}seeded"
"""Where streams of keys remember that compiled code starts them from constants."""


def seen_as(inst: Inst, attrs: dict[str, Value]) -> Inst:
    """The same object, with something else known of its attributes."""
    out = Inst(inst.cls, attrs, inst.level, inst.token, inst.open)
    out.born, out.modes, out.why, out.like = inst.born, inst.modes, inst.why, itself(inst)
    return out


def put_together_at(module: str, at: int) -> str:
    """What a layer remembers under `MERGED` of the call."""
    return f"{module}:{at}"


def itself(inst: Inst) -> Inst:
    """The object that an instance is, whatever is known of it here."""
    return inst if inst.like is None else inst.like


def unwrapped(value: Value | None) -> Value | None:
    """What is left of a function without the transforms around it."""
    while type(value) is Xform:
        value = value.target
    return value


def has_call(cls: ClassInfo) -> bool:
    """Whether a class, or one of the project that it is made from, says what calling its objects does."""
    return "__call__" in cls.namespace or any(
        type(base) is Class and base.info is not cls and has_call(base.info) for base in cls.bases
    )


def is_cold(inst: Inst) -> bool:
    """Whether an instance only stands for the objects that others may make of its class."""
    return inst.cls.cold is itself(inst)


def without_notes(obj: ExtInst) -> ExtInst:
    """The same object, of which nothing is noted: its parameters have other axes."""
    kept = {name: value for name, value in obj.attrs.items() if not name.startswith(NOTE)}
    return obj if len(kept) == len(obj.attrs) else ExtInst(obj.dotted, kept)


def forget_notes(value: Value) -> None:
    """Forget what is noted of an object that is changed, or that has what is changed, whoever holds it; of an array of NumPy,
    which may get another form in place, its axes."""
    obj = value.obj if type(value) is Method else value
    if type(obj) is ExtInst:
        obj.attrs = without_notes(obj).attrs
    elif type(obj) is Arr and obj.host:
        obj.rank = obj.dims = None
