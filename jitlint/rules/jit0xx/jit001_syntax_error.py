"""JIT001: the file is not valid Python. Reported by the driver; this file holds only the words (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Rule

RULE = Rule(
    code="JIT001",
    name="syntax-error",
    severity=Severity.ERROR,
    summary="the file is not valid Python",
    explanation="""\
The parser stopped at this place, so nothing in the file was analysed. Python itself would refuse the file too:

> SyntaxError: invalid syntax

Other files are still analysed; names that they import from this one count as unknown, so findings that lead
through this file are missing.
""",
    instead="Correct the syntax. Files for another Python (or templates that only look like Python) can be excluded.\n",
    bad="""\
rate = = 0.1  # expect: JIT001
""",
    good="""\
rate = 0.1
""",
    outcome=Raises(("SyntaxError",)),
    since="0.1",
    reference="https://docs.python.org/3/library/exceptions.html#SyntaxError",
)
