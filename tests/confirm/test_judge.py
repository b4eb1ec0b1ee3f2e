"""What a call says of a finding when the effect is not seen."""

from __future__ import annotations

import pytest

from jitlint.confirm.child import judge
from jitlint.confirm.observe import Runs
from jitlint.confirm.protocol import Flag
from tests.confirm.programs import runs

BRANCH = "@jax.jit\ndef f(x, n):\n    if {test}:  # here\n        return x\n    return -x\n\nf({call})\n"


def _judged(source: str, code: str, names: list[str]) -> tuple[str, str]:
    observed, statement = runs(source)
    path = statement.path
    variables = {(path, statement.line): frozenset(names)}
    observed = Runs(observed.run, observed.watched, variables)
    flag = Flag(0, code, path, statement.line, statement.first, statement.last, "", names)
    result = judge(flag, observed)
    return result.status, result.evidence


@pytest.mark.parametrize(
    ("source", "status"),
    [
        (BRANCH.format(test="x > 0", call="1.0, 2"), "confirmed"),
        (BRANCH.format(test="x is None", call="1.0, 2"), "passed"),
        (BRANCH.format(test="len(str(3))", call="1.0, 2"), "unshown"),
        ("def f(x):\n    return x  # here\n\nf\n", "missed"),
    ],
)
def test_passing_a_line_with_traced_values_refutes(source: str, status: str) -> None:
    assert _judged(source, "JIT101", ["x"] if "len" not in source else ["str"])[0] == status


def test_a_silent_effect_that_does_not_show_refutes_nothing() -> None:
    source = "@jax.jit\ndef f(x):\n    print(x)  # here\n    return x\n\nf(1.0)\n"
    assert _judged(source, "JIT301", ["x"])[0] == "unshown"
