"""JIT004: a comment silences nothing. Reported by the driver; only the words (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Remedy, Rule

RULE = Rule(
    code="JIT004",
    name="unused-suppression",
    severity=Severity.WARNING,
    summary="a suppression comment that silences nothing",
    explanation="""\
The comment names findings that are not there: the code was mended, or it never was wrong. Left in place, it would
silence the next, real mistake on that line.

`# noqa` counts only when every code in it is one of jitlint's; a bare `# noqa` may be meant for another tool.
""",
    instead="Remove the comment.\n",
    bad="",
    good="",
    outcome=Advisory("JAX is not involved: this is about a comment"),
    since="0.1",
    remedy=Remedy(
        Safety.SAFE,
        "Removes the comment, and nothing else of its line.",
    ),
    default=False,
)
