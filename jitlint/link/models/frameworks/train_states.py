"""Training states of `flax`: what they are made of, and that their function and optimiser are no data (layer: ``link``, room ``models``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import UNKNOWN, Ext, Inst, Py, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import classes
from jitlint.link.values.questions.kinds import mro

STATE: Final = "flax.training.train_state.TrainState"
_NEEDED: Final = ("apply_fn", "params", "tx")
_STATIC: Final = frozenset({"apply_fn", "tx"})


def create(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``TrainState.create(apply_fn=..., params=..., tx=...)``."""
    return created(m, f, at, _library_class(m, f), args)


def created(m: Machine, f: Frame, at: int, info: ClassInfo, args: Args) -> Value:
    """The same of a class that derives from it."""
    if args.pos or args.more is not None or args.kw_more is not None:
        return UNKNOWN
    lacking = next((name for name in _NEEDED if name not in args.kw), "")
    if lacking:
        m.emit(
            f, ApiMisuse, at, api=f"{info.name}.create", problem="wrong-call", parameter=lacking, detail="missing",
            exception="TypeError",
        )  # fmt: skip
        return UNKNOWN
    info.meta_fields |= _STATIC
    attrs = {"step": Py("int"), "opt_state": UNKNOWN, **args.kw}
    state = Inst(info, attrs, f.world.level, f.token, True)
    m.domains.on_make(f, at, state)
    return state


def is_state(info: ClassInfo) -> bool:
    """Whether a class is one of these, or derives from the library's."""
    return any(type(base) is Ext and base.dotted == STATE for cls in mro(info) for base in cls.bases)


def _library_class(m: Machine, f: Frame) -> ClassInfo:
    """The library's own class, made when it is first used."""
    found = next((info for info in m.classes if info.qualname == STATE), None)
    if found is None:
        scope = f.module.scope
        found = ClassInfo(len(m.classes) + 1, f.module, "TrainState", STATE, 0, [Ext(STATE)], {}, {}, scope)
        m.classes.append(found)
        classes.inherit(m, found)
    return found
