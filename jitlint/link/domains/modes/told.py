"""Modules of `flax.linen` that are told a mode in which they do not do what the call is for (layer: ``link``, room ``domains``).

What it does: reads the flags that a call of ``apply`` gives as plain True or False, and what else it gives, and whether anybody
keeps the statistics that it collects. What it does not: speak of flags that are computed, or of modules whose parameters for the
mode have other names.
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
from jitlint.link.engine.sink import Found
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import bound_names, last_name
from jitlint.link.values.questions import collecting
from jitlint.syntax import ir


class Collected:
    """Whether any call that collects statistics hands them on, for the whole program."""

    def __init__(self) -> None:
        self.is_kept = False

    def holds(self, found: Found) -> bool:
        """Whether all of them are thrown away."""
        return not self.is_kept


def applied(m: Machine, f: Frame, library: Library, call: ir.Call, collected: Collected) -> None:
    """A module is applied: a flag may contradict what it is given, or the code around."""
    if collecting.of_batches(library.args):
        _measured(m, f, library, call, collected)
    flag = _flag(call)
    given = "mutable" if _is_given(library.args, "mutable") else "rngs" if _draws(library.args) else ""
    if flag is None or not given or library.args.kw_more is not None:
        return
    name, trains = flag
    model = last_name(call.func.obj) if type(call.func) is ir.Attr else ""
    if f.world.modes & L and not trains:
        _say(m, f, library.at, model, "asked", name, given)
    elif trains and not f.world.modes & L and (how := _in_evaluation(f, call, given)):
        _say(m, f, library.at, model, how, name, given)


def _in_evaluation(f: Frame, call: ir.Call, given: str) -> str:
    """What a call in the mode of training does wrong in code that evaluates, "" for other code."""
    if not _has_word(f, lexicon().keys.evaluating):
        return ""
    if given == "rngs":
        return "" if _has_word(f, lexicon().modes.several) else "drops"
    return "kept" if _throws_away(f, call) else ""


def _measured(m: Machine, f: Frame, library: Library, call: ir.Call, collected: Collected) -> None:
    """Statistics are collected while a derivative is taken: somebody has to keep them."""
    if not _throws_away(f, call):
        collected.is_kept = True
    elif f.world.modes & L:
        model = last_name(call.func.obj) if type(call.func) is ir.Attr else ""
        m.emit(
            f, WrongMode, library.at, None, Confidence.LIKELY, when=(collected,), model=model, how="lost", given="mutable"
        )  # fmt: skip


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


def _has_word(f: Frame, words: frozenset[str]) -> bool:
    """Whether a function, or one around it, is called something like that."""
    return any(naming.has_word(name, words) for name in f.qualname.split("."))


def _throws_away(f: Frame, call: ir.Call) -> bool:
    """Whether the second result of a call, what was measured, is read by nobody."""
    for part in f.fn.parts if f.fn is not None else ():
        if type(part) is ir.Sub and part.obj is call:
            return type(part.index) is ir.Const and part.index.value == 0
        if type(part) is ir.Assign and part.value is call and type(part.targets[0]) is ir.Tuple:
            names = [name.id for name in bound_names(part.targets)]
            return len(names) == 2 and (names[1].startswith("_") or not _is_read(f, names[1]))
    return False


def _is_read(f: Frame, name: str) -> bool:
    return f.fn is None or name not in f.fn.node.local_names or bound_once.is_read(f.fn, name)
