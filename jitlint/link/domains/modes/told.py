"""Modules of `flax.linen` that are told a mode in which they do not do what the call is for (layer: ``link``, room ``domains``).

What it does: reads the flags that a call of ``apply`` gives as plain True or False, and what else it gives. What it does not:
speak of flags that are computed, or of modules whose parameters for the mode have other names.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import WrongMode
from jitlint.infer.values import FALSE, NONE, L, Map
from jitlint.link.domains.modes.marks import TRAIN
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_names, last_name
from jitlint.syntax import ir


def applied(m: Machine, f: Frame, library: Library, call: ir.Call) -> None:
    """A module is applied: a flag may contradict what it is given, or the code around."""
    flag = _flag(call)
    given = "mutable" if _is_given(library.args, "mutable") else "rngs" if _draws(library.args) else ""
    if flag is None or not given or library.args.kw_more is not None:
        return
    name, trains = flag
    model = last_name(call.func.obj) if type(call.func) is ir.Attr else ""
    if f.world.modes & L and not trains:
        _say(m, f, library.at, model, "asked", name, given)
    elif trains and given == "mutable" and not f.world.modes & L and _is_check(f) and _throws_away(f, call):
        _say(m, f, library.at, model, "kept", name, given)


def _say(m: Machine, f: Frame, at: int, model: str, how: str, name: str, given: str) -> None:
    m.emit(f, WrongMode, at, None, Confidence.LIKELY, model=model, how=how, argument=name, given=given)


def _flag(call: ir.Call) -> tuple[str, bool] | None:
    """The argument of a call that says which mode is meant, and whether that is training."""
    for arg in call.args:
        asked = lexicon().modes.asked_by.get(arg.name or "")
        if asked is not None and type(arg.value) is ir.Const and isinstance(arg.value.value, bool):
            return arg.name or "", (asked == TRAIN) == arg.value.value
    return None


def _is_given(args: Args, name: str) -> bool:
    return args.kw.get(name, FALSE) not in (FALSE, NONE)


def _draws(args: Args) -> bool:
    """Whether a call gives a key to drop numbers with."""
    rngs = args.kw.get("rngs")
    return type(rngs) is Map and not rngs.open and rngs.entries.keys() == {"dropout"}


def _is_check(f: Frame) -> bool:
    words = lexicon().keys.evaluating
    return any(naming.has_word(name, words) for name in f.qualname.split("."))


def _throws_away(f: Frame, call: ir.Call) -> bool:
    """Whether the second result of a call, what was measured, is read by nobody."""
    for part in f.fn.parts if f.fn is not None else ():
        if type(part) is ir.Sub and part.obj is call:
            return type(part.index) is ir.Const and part.index.value == 0
        if type(part) is ir.Assign and part.value is call and type(part.targets[0]) is ir.Tuple:
            names = [name.id for name in bound_names(part.targets)]
            return len(names) == 2 and names[1].startswith("_")
    return False
