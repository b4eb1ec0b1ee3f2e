"""Clocks that are read, and buffers that are written, too early (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.timing import check, cold
from jitlint.link.domains.timing.buffers import Writes
from jitlint.link.engine.domain import Change, Domain, Library, Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


class Timing(Domain[None]):
    """Walks once more over the host code that reads a clock, or writes into buffers, when it is known which code does."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._writes = Writes()

    def hears_of(self, dotted: str) -> bool:
        """What begins and ends profiles: they measure, as clocks do."""
        words = lexicon().timing
        return dotted in words.profile_starts | words.profile_stops | words.profiled_blocks

    def on_library(self, f: Frame, library: Library) -> None:
        """Note which host code does so."""
        if not f.world.level:
            self.m.host_calls.clocks[f.module.name, f.fn] = None

    def on_store(self, f: Frame, store: Store) -> None:
        """Note which buffers are written."""
        self._writes.stored(f, store)

    def on_change(self, f: Frame, change: Change) -> None:
        """Note which buffers are written."""
        self._writes.changed(f, change)

    def finish(self) -> None:
        """Who does so is known now."""
        check.check(self.m, self._writes)
        cold.check(self.m)
