"""Clocks that are read too early (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.timing import check
from jitlint.link.engine.domain import Domain, Library
from jitlint.link.engine.frame import Frame


class Timing(Domain[None]):
    """Walks once more over the host code that reads a clock, when it is known which code does."""

    def hears_of(self, dotted: str) -> bool:
        """What begins and ends profiles: they measure, as clocks do."""
        words = lexicon().timing
        return dotted in words.profile_starts | words.profile_stops | words.profiled_blocks

    def on_library(self, f: Frame, library: Library) -> None:
        """Note which host code does so."""
        if not f.world.level:
            self.m.host_calls.clocks[f.module.name, f.fn] = None

    def finish(self) -> None:
        """Who reads a clock is known now."""
        check.check(self.m)
