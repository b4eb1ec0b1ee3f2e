"""Layers of Equinox that draw when they are called, unless they are told not to (layer: ``link``, room ``domains``).

What it does: remembers of a layer whether it was made to drop anything, and looks for a key where it is called. What it
does not: speak of layers whose rate is not known, or of a key that a caller may hand over or leave out.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import NO_CONST, NONE, TRUE, ExtInst, Py, Value
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine

DROPOUT: Final = "equinox.nn.Dropout"
_CALLED: Final = f"{DROPOUT}.__call__"
_DROPS: Final = "$drops"
"""Where a layer remembers that it drops something."""
_SILENT: Final = ("inference", "deterministic")


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made, or called."""
    args, owner = library.args, library.owner
    if args.more is not None or args.kw_more is not None:
        return
    silent = _may_be_silent(args)
    if library.dotted == DROPOUT and type(library.result) is ExtInst:
        if _drops(args.get(0, "p")) and not silent:
            library.result.attrs[_DROPS] = TRUE
        return
    drops = library.dotted == _CALLED and type(owner) is ExtInst and _DROPS in owner.attrs
    if drops and not silent and args.kw.get("key", NONE) is NONE:
        m.emit(f, ApiMisuse, library.at, api=DROPOUT, problem="missing-argument", parameter="key")


def _drops(rate: Value | None) -> bool:
    """Whether a rate is certainly not zero; it is one half if nobody says anything."""
    return rate is None or (type(rate) is Py and rate.const is not NO_CONST and bool(rate.const))


def _may_be_silent(args: Args) -> bool:
    """Whether a call may say that nothing is to be dropped."""
    told = [args.kw[name] for name in _SILENT if name in args.kw]
    left_open = all(type(value) is Py and (value.kind == "none" or value.const is False) for value in told)
    return not left_open or len(args.pos) > 1
