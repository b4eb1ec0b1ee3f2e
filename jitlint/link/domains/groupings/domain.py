"""Scans that combine neighbours in any grouping (layer: ``link``, room ``domains``).

What it does: hands the operator of each to `operators`, which computes it with numbers. What it does not: know anything of operators.
"""

from __future__ import annotations

from jitlint.link.domains.groupings import operators
from jitlint.link.engine.domain import Domain, Library
from jitlint.link.engine.frame import Frame


class Groupings(Domain[None]):
    """Looks at the operators of associative scans."""

    def hears_of(self, dotted: str) -> bool:
        """The scan."""
        return dotted == operators.SCAN

    def on_library(self, f: Frame, library: Library) -> None:
        """A scan gets its operator."""
        operators.heard(self.m, f, library)
