"""Gradients that belong to something else than what is changed by them (layer: ``link``, room ``domains``).

What it does: looks at each call of a derivative, at what its function does with the results, and at the loss if that is written there.
What it does not: follow gradients out of a function.
"""

from __future__ import annotations

from jitlint.infer.values import Value
from jitlint.link.domains.crossed import around, changes, taken
from jitlint.link.engine.domain import Domain, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.values.questions import derivatives


class Crossed(Domain[None]):
    """Looks at derivatives where they have been taken. Tests are left out, which look at derivatives for their own sake."""

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A differentiated function has run."""
        if transformed.x.spec.result not in derivatives.DERIVED or f.module.is_test:
            return
        derivative = taken.at(self.m, f, transformed)
        if derivative is not None:
            changes.check(self.m, f, derivative)
            around.check(self.m, f, derivative)
