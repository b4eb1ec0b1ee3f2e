"""An attribute is set of which nobody knows the name (layer: ``link``, room ``models``)."""

from __future__ import annotations

from jitlint.infer.changes import give_way, is_default, reached
from jitlint.infer.values import UNKNOWN, Inst, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.values.boxes import with_attributes
from jitlint.link.values.questions.kinds import mro


def with_any_attributes(f: Frame, inst: Inst, known: dict[str, Value], more: Value | None) -> Inst:
    """A copy of an instance with some attributes replaced, and others perhaps whose names are not known."""
    new = with_attributes(f, inst, {})
    if more is not None:
        set_anywhere(new, more)
    new.attrs.update(known)
    return new


def set_anywhere(inst: Inst, value: Value) -> None:
    """An attribute is set of which nobody knows the name: it may be any that the object has, or that its class gives it."""
    held = [pair for info in mro(inst.cls) for pair in info.namespace.items()]
    of_class = {name for name, value in held if is_default(value) and not name.startswith("__")}
    for one in (inst, *reached(inst)):
        give_way(one.attrs, value)
        one.attrs.update(dict.fromkeys(of_class - one.attrs.keys(), UNKNOWN))
        one.open = True
