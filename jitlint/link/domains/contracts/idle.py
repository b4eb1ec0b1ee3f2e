"""Layers of `flax.linen` that drop nothing although a key is given for that (layer: ``link``, room ``domains``).

What it does: notes layers that are certainly switched off where they are called, hands that on from callee to caller, and
compares it with an ``apply`` that gives a key for dropping while a derivative is taken. What it does not: speak of modules in
which anything may still draw from the key, or of calls that say themselves which mode they want.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import WrongMode
from jitlint.infer.places import Step
from jitlint.infer.values import FALSE, TRUE, L, Map, Value
from jitlint.link.domains.contracts.needs import Need
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine

_OFF: Final = "off"
_DRAWS: Final = "draws"
KINDS: Final = (_OFF, _DRAWS)
"""Needs that say only whether something is drawn from the stream for dropping."""
_STREAM: Final = "dropout"


def called(f: Frame, at: int, layer: str, off: Value | None) -> Need:
    """What is to be remembered of a layer that drops numbers: that it is off, or that it may draw."""
    kind = _OFF if off is TRUE else _DRAWS
    return Need(kind, _STREAM, layer, f.module.name, at, f.qualname, f.confidence)


def drawn(f: Frame, at: int, api: str) -> Need:
    """Something else may draw from a stream of keys."""
    return Need(_DRAWS, _STREAM, api, f.module.name, at, f.qualname, f.confidence)


def applied(m: Machine, f: Frame, at: int, args: Args, needs: tuple[Need, ...]) -> None:
    """A module is applied whose layers need this, all that there are."""
    off = next((need for need in needs if need.kind == _OFF), None)
    if off is None or not f.world.modes & L or f.world.excused or args.kw_more is not None:
        return
    rngs = args.kw.get("rngs")
    gives = type(rngs) is Map and not rngs.open and _STREAM in rngs.entries
    says = any(args.kw.get(name) in (TRUE, FALSE) for name in lexicon().modes.asked_by)
    if gives and not says and not any(need.kind in (_DRAWS, "rngs") for need in needs):
        step = Step(off.module, off.at, f"`{off.api}` is switched off here")
        m.emit(f, WrongMode, at, None, Confidence.LIKELY, how="idle", given="rngs", also=(step,))
