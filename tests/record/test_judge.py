"""What a recorded run says of findings: refuted, supported, open, not executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.outcome import Raises
from jitlint.driver.registry import rules
from jitlint.record.compare import CONFIRMED, OPEN, PASSED, REFUTED, relative_to, tally, verdicts
from jitlint.record.store import NAME, RecordedFunction, Store, read_store, still_true
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
precise = pytest.mark.skipif(sys.version_info < (3, 12), reason="lines need sys.monitoring (Python 3.12)")

PROGRAM = """\
import jax
import jax.numpy as jnp


@jax.jit
def plain(x):
    if x.ndim > 0:  # refuted
        return x
    return x + 1


@jax.jit
def handled(x):
    try:
        if x > 0:  # open
            return x
    except jax.errors.TracerBoolConversionError:
        return -x


@jax.jit
def ended(x):
    if x > 0:  # confirmed
        return x
    return -x


@jax.jit
def short(x, y=None):
    if y is not None and y > x:  # open
        return x
    return x


def counted(x, n):
    for _ in range(n):  # passed
        x = x + 1
    return x


@jax.jit
def never(x):
    if jnp.ndim(x) > 5:
        if x > 0:  # -
            return x
    return x


@jax.jit
def caught(x):
    try:
        y = max(x,
                fails(x))  # open
    except ValueError:
        y = x
    return y


def fails(x):
    if x.ndim == 0:
        raise ValueError(x.ndim)
    return x


@jax.jit
def on_one_line(x):
    f = lambda y: y if y.ndim else -y  # open
    return f(x)


def differentiated(x):
    if x > 0:  # -
        return x
    return -x


def generator(x):
    if x.ndim == 0:  # refuted
        yield x
    if x > 0:  # confirmed
        yield x


@jax.jit
def generated(x):
    return list(generator(x))


def eager(x):
    y = jnp.sum(x)  # ran
    return y


def twice(x):
    if x.ndim:  # refuted
        return x
    return x


def attempt(function, *arguments):
    try:
        function(*arguments)
    except jax.errors.JAXTypeError:
        pass


for _ in range(3):
    plain(1.0)
    handled(1.0)
    attempt(ended, 1.0)
    short(1.0)
    jax.jit(counted, static_argnums=1)(1.0, 3)
    never(1.0)
    caught(1.0)
    on_one_line(1.0)
    jax.grad(differentiated)(1.0)
    attempt(generated, 1.0)
    eager(1.0)
    twice(jnp.ones(1))
    jax.jit(twice)(1.0)
"""
WORDS = {"refuted": REFUTED, "passed": PASSED, "open": OPEN, "confirmed": CONFIRMED, "-": ""}


def _findings(text: str, path: str, code: str = "JIT101", ground: str = "jit") -> dict[int, Finding]:
    """A made-up finding on what each marked line tests or computes."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        code_part, mark, _ = line.partition("  # ")
        if not mark:
            continue
        start = next(
            (
                code_part.index(word) + len(word)
                for word in ("if ", "in ", "= ", "lambda y: ")
                if word in code_part
            ),
            len(code_part) - len(code_part.lstrip()),
        )
        end = len(code_part.rstrip(":"))
        span = Span(number, start + 1, number, end + 1)
        found[number] = Finding(code, "", Severity.ERROR, Confidence.CERTAIN, "", path, span, ground=ground)
    return found


def _marks(text: str) -> dict[int, str]:
    lines = enumerate(text.splitlines(), 1)
    return {number: line.partition("  # ")[2] for number, line in lines if "  # " in line}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Store]:
    root = tmp_path_factory.mktemp("judged")
    (root / "pyproject.toml").write_text("")
    (root / "a.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "jitlint", "record", "--", sys.executable, "a.py"]
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True, timeout=300)
    return root, read_store(str(root / NAME))


@precise
def test_each_line_gets_the_word_that_it_deserves(recorded: tuple[Path, Store]) -> None:
    root, store = recorded
    findings = _findings(PROGRAM, str(root / "a.py"))
    outcomes = {code: rule.outcome for code, rule in rules().items()}
    words = verdicts(store, list(findings.values()), outcomes, relative_to(str(root)))
    marks = {line: word for line, word in _marks(PROGRAM).items() if word in WORDS}
    said = dict(zip(findings, words))
    assert {line: said[line] for line in marks} == {line: WORDS[word] for line, word in marks.items()}


@precise
def test_what_fails_without_a_trace_is_judged_by_eager_calls(recorded: tuple[Path, Store]) -> None:
    root, store = recorded
    (line,) = [number for number, word in _marks(PROGRAM).items() if word == "ran"]
    outcomes = {"JIT404": Raises(("TypeError",))}
    for ground, word in (("eager", PASSED), ("jit", "")):
        finding = _findings(PROGRAM, str(root / "a.py"), "JIT404", ground)[line]
        assert verdicts(store, [finding], outcomes, relative_to(str(root))) == [word]


@precise
def test_what_shows_elsewhere_is_not_judged_by_its_line(recorded: tuple[Path, Store]) -> None:
    root, store = recorded
    (line, *_) = [number for number, word in _marks(PROGRAM).items() if word == "refuted"]
    for code in ("JIT208", "JIT304", "JIT509", "JIT512"):
        finding = _findings(PROGRAM, str(root / "a.py"), code)[line]
        outcomes = {each: rule.outcome for each, rule in rules().items()}
        assert verdicts(store, [finding], outcomes, relative_to(str(root))) == [OPEN]


def test_a_store_from_before_refutes_nothing(project: Write) -> None:
    root = project({"a.py": PROGRAM})
    old = {"version": 1, "functions": [{"file": "a.py", "line": 5, "qualname": "plain", "lines": [7, 8]}]}
    (root / NAME).write_text(json.dumps(old))
    store = read_store(str(root / NAME))
    assert store.functions[0].returned == []
    findings = _findings(PROGRAM, str(root / "a.py"))
    outcomes = {code: rule.outcome for code, rule in rules().items()}
    assert verdicts(store, [findings[7]], outcomes, relative_to(str(root))) == [OPEN]


def test_text_that_is_not_saved_was_not_run(project: Write) -> None:
    root = project({"a.py": "x = 1\n"})
    from jitlint.record.store import digest

    store = Store(
        functions=[RecordedFunction("a.py", 1, "f")],
        ran={"a.py": [1]},
        digests={"a.py": digest(str(root / "a.py"))},
    )
    assert still_true(store, str(root)).ran == {"a.py": [1]}
    other = still_true(store, str(root), [str(root / "a.py")])
    assert (other.functions, other.ran) == ([], {})


def test_the_tally_counts_each_finding_once() -> None:
    said = tally([REFUTED, PASSED, PASSED, CONFIRMED, OPEN, "", ""])
    assert said == "1 refuted, 1 supported, 2 not executed, 2 ran with other arguments, 1 open"
