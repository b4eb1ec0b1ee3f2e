"""Optimisers whose update needs their state, or the parameters (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import NONE, ExtInst, Py, Value, py
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

OPTAX: Final = "optax."
_NEEDY: Final = "$needs parameters"
"""The attribute in which an optimiser remembers which transformation it is, or has inside, that needs them."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """An optimiser is made, or one updates."""
    dotted, args = library.dotted, library.args
    if library.owner is None:
        if type(library.result) is ExtInst:
            needy = _needy(dotted, args.pos)
            if needy:
                library.result.attrs[_NEEDY] = py(needy)
        return
    owner = library.owner
    if not dotted.endswith(".update") or args.more is not None or args.kw_more is not None:
        return
    if type(owner) is ExtInst and args.pos and args.get(1, "state") is None:
        m.emit(f, ApiMisuse, library.at, api=owner.dotted, problem="missing-argument", parameter="state")
        return
    name = _inside(owner)
    if not name:
        return
    given = args.get(2, "params")
    if given is None or given is NONE:
        m.emit(f, ApiMisuse, library.at, api=name, problem="missing-argument", parameter="params")


def _needy(dotted: str, parts: list[Value]) -> str:
    contracts = lexicon().contracts
    if dotted in contracts.needs_parameters:
        return dotted
    return next(filter(None, map(_inside, parts)), "") if dotted in contracts.composing else ""


def _inside(value: Value | None) -> str:
    name = value.attrs.get(_NEEDY) if type(value) is ExtInst else None
    return str(name.const) if type(name) is Py else ""
