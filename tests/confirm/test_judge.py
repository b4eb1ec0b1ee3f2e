"""What a call says of a finding when the effect is not seen."""

from __future__ import annotations

import sys

import pytest

from jitlint.base.parts import parsed
from jitlint.confirm.child import judge, watches
from jitlint.confirm.planning.drivers import read_module
from jitlint.confirm.planning.statements import guarded_by, statement_around
from jitlint.confirm.protocol import Flag
from jitlint.confirm.watch.runs import Runs
from tests.confirm.programs import runs

# Python before 3.11 does not tell which expression of a line ran: nothing is refuted.
PASSED = "passed" if sys.version_info >= (3, 11) else "unshown"
BRANCH = "@jax.jit\ndef f(x, n):\n    if {test}:  # here\n        return x\n    return -x\n\nf({call})\n"


def _judged(source: str, code: str, names: list[str], reads: list[str] | None = None) -> tuple[str, str]:
    observed, statement = runs(source)
    path = statement.path
    flag = Flag(
        0, code, path, statement.line, statement.first, statement.last, "", names, reads or [], always=True
    )
    observed = Runs(observed.run, observed.watched, watches([flag]))
    result = judge(flag, observed)
    return result.status, result.evidence


@pytest.mark.parametrize(
    ("source", "status"),
    [
        (BRANCH.format(test="x > 0", call="1.0, 2"), "confirmed"),
        (BRANCH.format(test="x is None", call="1.0, 2"), PASSED),
        (BRANCH.format(test="len(str(3))", call="1.0, 2"), "unshown"),
        ("def f(x):\n    return x  # here\n\nf\n", "missed"),
    ],
)
def test_passing_a_line_with_traced_values_refutes(source: str, status: str) -> None:
    assert _judged(source, "JIT101", ["x"] if "len" not in source else ["str"])[0] == status


def test_a_silent_effect_that_does_not_show_refutes_nothing() -> None:
    source = "@jax.jit\ndef f(x):\n    print(x)  # here\n    return x\n\nf(1.0)\n"
    assert _judged(source, "JIT301", ["x"])[0] == "unshown"


CAPTURES = """\
SHIFT = 1.0
RATE = 2.0

@jax.jit
def f(x):
    {first}
    {second}
    return x

f(1.0)
RATE = 5.0
answer = f(1.0)
"""


@pytest.mark.parametrize(
    ("first", "second", "read", "status"),
    [
        ("x = x * RATE  # here", "x = x + SHIFT", "RATE", "confirmed"),
        ("x = x * RATE", "x = x + SHIFT  # here", "SHIFT", "unshown"),
    ],
)
def test_of_two_captured_values_the_one_that_changed_is_the_cause(
    first: str, second: str, read: str, status: str
) -> None:
    source = CAPTURES.format(first=first, second=second)
    assert _judged(source, "JIT306", [read], [read])[0] == status


LEAKS = """\
kept, log = [], []

@jax.jit
def leaks(x):
    kept.append(x){first}
    return x

@jax.jit
def keeps(x):
    log.append(x){second}
    return x

leaks(1.0)
keeps(1.0)
kept[0] + 1
"""


@pytest.mark.parametrize(
    ("first", "second", "status"), [("  # here", "", "confirmed"), ("", "  # here", "unshown")]
)
def test_leak_belongs_to_the_function_that_jax_names(first: str, second: str, status: str) -> None:
    assert _judged(LEAKS.format(first=first, second=second), "JIT304", ["x"])[0] == status


def test_type_error_of_another_kind_confirms_no_outcome() -> None:
    source = "@jax.jit\ndef f(x):\n    return x  # here\n\nf(1.0)\nlen(3)\n"
    assert _judged(source, "JIT512", ["x"])[0] != "confirmed"


def test_error_below_the_line_refutes_nothing() -> None:
    source = "def g(x):\n    return {}[0]\n\n@jax.jit\ndef f(x):\n    if g(x) > 0:  # here\n        return x\n\nf(1.0)\n"
    assert _judged(source, "JIT101", ["x"])[0] == "unshown"


def test_jit_without_retracing_is_counted() -> None:
    source = "def f(x):\n    return x\n\nfor _ in range(4):\n    jax.jit(f)(1.0)  # here\n"
    assert _judged(source, "JIT501", ["f"]) == ("unshown", "`f` was jitted 4 times here, and traced once")


def test_two_findings_on_a_line_have_their_own_variables() -> None:
    source = "@jax.jit\ndef f(x, n):\n    return x if n is None else x  # here\n\nf(1.0, None)\n"
    observed, statement = runs(source)
    place = (statement.path, statement.line, statement.first, statement.last)
    flags = [
        Flag(number, "JIT101", *place, "", [name], always=True) for number, name in enumerate(("n", "x"))
    ]
    seen = Runs(observed.run, observed.watched, watches(flags))
    assert [judge(flag, seen).status for flag in flags] == ["unshown", PASSED]


def test_what_python_warns_of_in_the_code_is_not_told(recwarn: pytest.WarningsRecorder) -> None:
    source = (
        'def f(x):\n    """In \\m."""\n    try:\n        return x\n    except OSError:\n        return 1\n'
    )
    assert parsed(source) is not None and parsed("def") is None
    assert read_module(source) is not None
    assert guarded_by(source, 4) != statement_around(source, 1)
    assert not recwarn.list
