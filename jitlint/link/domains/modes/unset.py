"""Equinox models that are evaluated as they are trained (layer: ``link``, room ``domains``).

A layer of Equinox drops numbers until `equinox.nn.inference_mode` makes a model that does not. What it does: finds layers that run
under a derivative, and again, without one and with a key, in a function that is named for evaluation, in a program that knows no
mode for it. What it does not: speak of code that draws several times on purpose, to see how sure a model is.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import WrongMode
from jitlint.infer.places import Step
from jitlint.infer.values import NONE, L
from jitlint.link.domains.modes.marks import KEYED, Mark, note
from jitlint.link.engine.domain import Activation, Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables import naming
from jitlint.syntax import ir
from jitlint.syntax.children import below

_Site = tuple[str, int, str]
_CALL: Final = ".__call__"


class Unset:
    """Where such layers learn, and whether somebody turns them off. off: so it is."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self.learned: set[_Site] = set()
        self.off = False

    def hears_of(self, dotted: str) -> bool:
        """Layers, and what tells a model its mode."""
        words = lexicon().modes
        return dotted in words.turning_off | words.changing or dotted.removesuffix(_CALL) in words.keyed

    def heard(self, f: Frame, library: Library) -> None:
        """A layer runs, or a model is told its mode."""
        words, call = lexicon().modes, self._m.texts.table(f).calls.get(library.at)
        named = (
            (part.name for part in below(call) if type(part) is ir.Attr)
            if library.dotted in words.changing
            else ()
        )
        if library.dotted in words.turning_off or not words.off_by.isdisjoint((*library.args.kw, *named)):
            self.off = True
        key = library.args.get(1, "key") if library.dotted.endswith(_CALL) else None
        if key is None or key is NONE or f.world.excused:
            return
        site = (f.module.name, library.at, f.qualname)
        if f.world.modes & L:
            self.learned.add(site)
        else:
            note(f, (Mark(KEYED, (), library.at, site),))

    def passed_on(self, f: Frame, activation: Activation, mark: Mark) -> None:
        """It ran in a function that is over."""
        fn = activation.func.fn
        words = lexicon().modes.several
        several = naming.has_word(fn.name, words) or any(
            naming.has_word(p.name, words) for p in fn.node.params
        )
        if several or fn.module.is_test:
            return
        if naming.has_word(fn.name, lexicon().keys.evaluating) and mark.site[2] != fn.qualname:
            layer = Step(mark.site[0], mark.site[1], "this layer still drops numbers")
            self._m.emit(
                f, WrongMode, mark.at, None, Confidence.LIKELY, when=(_Learned(self, mark.site),),
                where=(fn.module.name, fn.qualname), how="unset", also=(layer,),
            )  # fmt: skip
            return
        note(f, (mark._replace(at=activation.at),))


class _Learned:
    """A layer learns with a key elsewhere, and nobody ever turns such layers off."""

    def __init__(self, known: Unset, site: _Site) -> None:
        self._known = known
        self._site = site

    def holds(self, found: Found) -> bool:
        """Whether the whole program is like that."""
        return not self._known.off and self._site in self._known.learned
