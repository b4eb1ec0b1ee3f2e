"""JIT003: the file is too large or too deeply nested. Reported by the driver; only the words (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Rule

RULE = Rule(
    code="JIT003",
    name="too-complex",
    severity=Severity.WARNING,
    summary="the file is too large or too deeply nested to analyse",
    explanation="""\
Very long chains (`a + b + c + ...` with thousands of terms), very deep nesting and very large files cost the
parser minutes or gigabytes. Such files, generated tables most of the time, are recognised beforehand and left out.

Nothing in the file was analysed; names that other files import from it count as unknown.
""",
    instead="Move the data out of the code (a JSON or `.npy` file), break the expression up, or exclude the file.\n",
    bad="",
    good="",
    outcome=Advisory("JAX is not involved: the file was not analysed"),
    since="0.1",
)
