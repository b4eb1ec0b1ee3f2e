"""Which object an instance is, however much is known of it at a place (layer: ``infer``)."""

from __future__ import annotations

from jitlint.infer.values import Inst, Value


def seen_as(inst: Inst, attrs: dict[str, Value]) -> Inst:
    """The same object, with something else known of its attributes."""
    out = Inst(inst.cls, attrs, inst.level, inst.token, inst.open)
    out.born, out.modes, out.why, out.like = inst.born, inst.modes, inst.why, itself(inst)
    return out


def itself(inst: Inst) -> Inst:
    """The object that an instance is, whatever is known of it here."""
    return inst if inst.like is None else inst.like


def is_cold(inst: Inst) -> bool:
    """Whether an instance only stands for the objects that others may make of its class."""
    return inst.cls.cold is itself(inst)
