"""Layers of `flax.linen` that drop or measure nothing although they are given what they need for it (layer: ``link``, room ``domains``).

What it does: notes layers that are certainly switched off where they are called, hands that on from callee to caller, and
compares it with an ``apply`` that gives a key for dropping, or collects statistics, while a derivative is taken. What it does
not: speak of modules in which anything may still do that, or of calls that ask for the mode of evaluation themselves.
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
from jitlint.link.values.questions import collecting

_OFF: Final = "off"
_DRAWS: Final = "draws"
KINDS: Final = (_OFF, _DRAWS)
"""Needs that say only whether a layer does, or may do, what it is there for."""

_DROPOUT: Final = "dropout"
_TRAIN: Final = "train"


def called(f: Frame, at: int, layer: str, off: Value | None) -> Need:
    """What is to be remembered of a layer that drops numbers or measures batches: that it is off, or that it may be on."""
    name = collecting.STATISTICS if layer.endswith("BatchNorm") else _DROPOUT
    return Need(_OFF if off is TRUE else _DRAWS, name, layer, f.module.name, at, f.qualname, f.confidence)


def drawn(f: Frame, at: int, api: str) -> Need:
    """Something else may draw from a stream of keys."""
    return Need(_DRAWS, _DROPOUT, api, f.module.name, at, f.qualname, f.confidence)


def applied(m: Machine, f: Frame, at: int, args: Args, needs: tuple[Need, ...]) -> None:
    """A module is applied whose layers need this, all that there are."""
    if not f.world.modes & L or f.world.excused or args.kw_more is not None or _asks_to_be_off(args):
        return
    for name, given in (
        (_DROPOUT, _gives_key(args) and "rngs"),
        (collecting.STATISTICS, collecting.of_batches(args) and "mutable"),
    ):
        alike = [need for need in needs if need.name == name and need.kind in (*KINDS, given)]
        if given and alike and all(need.kind == _OFF for need in alike):
            off = alike[0]
            step = Step(off.module, off.at, f"`{off.api}` is switched off here")
            m.emit(f, WrongMode, at, None, Confidence.LIKELY, how="idle", given=given, also=(step,))
            return


def _gives_key(args: Args) -> bool:
    """Whether a call gives a key to drop numbers with."""
    rngs = args.kw.get("rngs")
    return type(rngs) is Map and not rngs.open and _DROPOUT in rngs.entries


def _asks_to_be_off(args: Args) -> bool:
    """Whether a call asks for the mode of evaluation by name."""
    asked = lexicon().modes.asked_by.items()
    return any(args.kw.get(name) is (FALSE if mode == _TRAIN else TRUE) for name, mode in asked)
