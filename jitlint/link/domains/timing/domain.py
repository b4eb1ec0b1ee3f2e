"""Clocks that are read too early (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.link.domains.timing import check
from jitlint.link.engine.domain import Domain


class Timing(Domain[None]):
    """Walks once more over the host code that reads a clock, when it is known which code does."""

    def finish(self) -> None:
        """Who reads a clock is known now."""
        check.check(self.m)
