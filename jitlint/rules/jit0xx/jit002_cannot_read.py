"""JIT002: the file cannot be read. Reported by the driver; this file holds only the words (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Rule

RULE = Rule(
    code="JIT002",
    name="cannot-read",
    severity=Severity.ERROR,
    summary="the file cannot be read or decoded",
    explanation="""\
The file does not exist, may not be opened, is not text in the encoding that it declares (UTF-8 unless a
`# -*- coding: ... -*-` line says otherwise), or is not a valid notebook. Nothing in it was analysed.

Silence about such a file would look like a clean result, so it is reported as an error.
""",
    instead="Correct the path, the permissions or the encoding, or exclude the file.\n",
    bad="",
    good="",
    outcome=Advisory("JAX is not involved: the file was never read"),
    since="0.1",
    reference="https://docs.python.org/3/reference/lexical_analysis.html#encoding-declarations",
)
