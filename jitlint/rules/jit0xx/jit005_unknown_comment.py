"""JIT005: a comment for jitlint that jitlint does not understand. Reported by the driver; only the words (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Rule

RULE = Rule(
    code="JIT005",
    name="unknown-comment",
    severity=Severity.WARNING,
    summary="a `# jitlint:` comment that means nothing",
    explanation="""\
The comment was written to silence something or to say something about the code, but it is misspelt
(`# jitlint: ignroe[JIT101]`, `# jitlnt: ignore[JIT101]`), has the wrong brackets or none (`# jitlint: ignore(JIT101)`,
`# jitlint: ignore JIT101`) or names no rule (`# jitlint: ignore[]`, `# jitlint: ignore[JIT999]`). It does nothing.

What it should have silenced is reported as if it were not there, and what it should have said is not known.
""",
    instead="Correct the comment: `# jitlint: ignore[JIT101]`.\n",
    bad="",
    good="",
    outcome=Advisory("JAX is not involved: this is about a comment"),
    since="0.1",
)
