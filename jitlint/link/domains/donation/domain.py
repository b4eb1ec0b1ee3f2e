"""Buffers that are read after they were given away (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.link.domains.donation import check
from jitlint.link.engine.domain import Domain


class Donation(Domain[None]):
    """Walks once more over the host code that gives arguments away, when it is known which code does."""

    def finish(self) -> None:
        """Who gives something away is known now."""
        check.check(self.m)
