"""Probabilities that are taken for scores (layer: ``link``, room ``domains``).

What it does: follows what a softmax or a sigmoid has made, from function to function, to what makes probabilities of scores itself. What
it does not: speak of what was computed with the probabilities in between, or of tests.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TwiceNormalised
from jitlint.infer.values import Arr
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Something takes scores."""
    tables, args = lexicon().arrays, library.args
    draws = library.dotted.startswith("jax.random.")
    given = (
        args.get(1, "logits")
        if draws
        else args.get(0, "x" if library.dotted.startswith("jax.nn.") else "logits")
    )
    if type(given) is not Arr or given.weak or f.module.is_test or m.guards:
        return
    made = given.about.made
    if made and tables.probabilities[made] == tables.scores[library.dotted]:
        m.emit(f, TwiceNormalised, library.at, given, Confidence.LIKELY, api=library.dotted, made=made)
