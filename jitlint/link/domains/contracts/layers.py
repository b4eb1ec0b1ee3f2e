"""Layers that cannot be made without the keys of their first parameters (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made: it draws from an argument that has no default and goes by its name only."""
    parameter, args = lexicon().contracts.makes_with[library.dotted], library.args
    if args.more is None and args.kw_more is None and parameter not in args.kw:
        m.emit(f, ApiMisuse, library.at, api=library.dotted, problem="missing-argument", parameter=parameter)
