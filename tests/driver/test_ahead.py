"""Early answers: what somebody types into is analysed before all the rest, and the exact answer comes later."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding, Severity
from jitlint.driver import run
from jitlint.driver.processes import ahead
from jitlint.driver.session import Session, Stopped
from tests.conftest import Write

SETTINGS = Settings(min_severity=Severity.INFO, tests="all")
LOSSES = '''"""Losses."""
import jax.numpy as jnp


def loss(params, x, n):
    total = 0.0
    for i in range(n):
        total += jnp.sum(params * x[i])
    return total


def shape(x):
    return x.reshape(-1)
'''
TRAIN = """import jax
from losses import loss, shape


@jax.jit
def step(params, batch):
    return jax.grad(loss)(params, batch["x"], batch["n"])


@jax.jit
def flat(x):
    return shape(x)
"""
PATIENCE = 60.0

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")


def _part(number: int) -> str:
    """A file that is in one unit with the others."""
    body = "\n".join(
        f"@jax.jit\ndef layer{at}(x, w):\n    y = jnp.dot(x, w) + {number}\n    return jnp.where(y > 0, shape(y), y)\n"
        for at in range(3)
    )
    return f"import jax\nimport jax.numpy as jnp\nfrom losses import shape\n\n{body}"


def _scratch(path: str, text: str) -> dict[str, list[Finding]]:
    result = run.check(
        ["."], SETTINGS, jobs=1, use_cache=False, unsaved={os.path.abspath(path): text.encode()}
    )
    found: dict[str, list[Finding]] = {}
    for finding in sorted([*result.problems, *result.findings], key=lambda each: each.sort_key):
        found.setdefault(os.path.abspath(finding.path), []).append(finding)
    return found


@pytest.fixture
def session(project: Write, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setattr(ahead, "_WORTH_WAITING", 0)
    parts = {f"parts/part{number}.py": _part(number) for number in range(3)}
    project({"losses.py": LOSSES, "train.py": TRAIN, **parts})
    session = Session(["."], SETTINGS, jobs=1, use_cache=False, ahead=True)
    session.refresh()
    yield session
    session.close()


def _opened(session: Session, path: str, text: str) -> None:
    """Open a file in the editor, and wait until an analysis waits for it."""
    session.update(path, text)
    end = time.monotonic() + PATIENCE
    while not session.is_ahead:
        assert time.monotonic() < end
        time.sleep(0.02)


def _settled(session: Session, path: str, text: str) -> None:
    """The early answer is that of a run from scratch, and so is the exact one."""
    assert session.early
    scratch = _scratch(path, text)
    assert session.findings == scratch
    assert session.settle() == {}
    assert not session.early
    assert session.findings == scratch


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("range(n)", "range(3)", []),
        ("    total = 0.0\n", "    # moved\n\n    total = 0.0\n    more = 1\n", ["JIT106"]),
        ("range(n)", "range(int(n))", ["JIT108"]),
        ("x.reshape(-1)", "(lambda y: float(y))(x)", ["JIT106", "JIT108"]),
        ("x.reshape(-1)", "x if x.sum() > 0 else -x", ["JIT101", "JIT106"]),
    ],
)
def test_an_edit_of_a_body_is_answered_early(session: Session, old: str, new: str, found: list[str]) -> None:
    _opened(session, "losses.py", LOSSES)
    text = LOSSES.replace(old, new)
    session.update("losses.py", text)
    assert sorted({each.code for each in session.findings.get(os.path.abspath("losses.py"), ())}) == found
    _settled(session, "losses.py", text)


def test_one_edit_after_the_other_in_one_function_and_in_another(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    for number in range(4):
        text = LOSSES.replace("total = 0.0", f"total = {number}.5").replace("range(n)", f"range({number})")
        session.update("losses.py", text)
        _settled(session, "losses.py", text)
        time.sleep(0.2)  # so that it gets nearer to the function
    text = text.replace("x.reshape(-1)", "int(x)")
    session.update("losses.py", text)
    _settled(session, "losses.py", text)
    session.update("losses.py", LOSSES)
    assert not session.early  # that was known
    assert session.findings == _scratch("losses.py", LOSSES)


def test_the_callers_of_a_helper_hear_of_its_edits(session: Session) -> None:
    _opened(session, "train.py", TRAIN)
    text = TRAIN.replace("return shape(x)", "return shape(x) if x.any() else shape(-x)")
    assert list(session.update("train.py", text)) == [os.path.abspath("train.py")]
    _settled(session, "train.py", text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def shape(x):", "def shape(x, y=0):"),
        ("import jax.numpy as jnp", "import jax.numpy as jnp, jax"),
        ("def shape", "def more():\n    pass\n\n\ndef shape"),
        ("    return total\n", "    return total\n\n\nTOTAL = 1\n"),
    ],
)
def test_an_edit_of_more_is_answered_exactly(session: Session, old: str, new: str) -> None:
    _opened(session, "losses.py", LOSSES)
    text = LOSSES.replace(old, new)
    session.update("losses.py", text)
    assert not session.early
    assert session.findings == _scratch("losses.py", text)
    _opened(session, "losses.py", text)  # and another analysis waits for what comes next
    text = text.replace("range(n)", "range(3)")
    session.update("losses.py", text)
    _settled(session, "losses.py", text)


def test_half_a_statement(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    session.update("losses.py", LOSSES.replace("range(n)", "range(n"))
    assert session.findings == _scratch("losses.py", LOSSES.replace("range(n)", "range(n"))
    text = LOSSES.replace("range(n)", "range(n + 1)")
    session.update("losses.py", text)
    _settled(session, "losses.py", text)


def test_another_file_has_changed_meanwhile(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    train = TRAIN.replace("@jax.jit\ndef flat", "def flat")
    session.update("train.py", train)
    assert not session.early
    session.update("train.py", None)
    session.update("losses.py", LOSSES.replace("range(n)", "range(3)"))
    assert session.findings == _scratch("losses.py", LOSSES.replace("range(n)", "range(3)"))


def test_when_the_process_is_gone_the_answer_is_exact(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    assert session._ahead is not None
    waiting = session._ahead._waiting
    assert waiting is not None
    waiting.process.kill()
    waiting.process.wait()
    text = LOSSES.replace("range(n)", "range(3)")
    session.update("losses.py", text)
    assert not session.early
    assert session.findings == _scratch("losses.py", text)


def test_who_does_not_want_the_answer_gets_none(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    before = session.findings
    with pytest.raises(Stopped):
        session.update("losses.py", LOSSES.replace("range(n)", "range(3)"), lambda: True)
    assert session.findings == before
    text = LOSSES.replace("range(n)", "range(4)")
    session.update("losses.py", text)
    _settled(session, "losses.py", text)


def test_the_processes_end_with_the_session(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    session.update("losses.py", LOSSES.replace("range(n)", "range(3)"))
    assert session._ahead is not None
    waiting = session._ahead._waiting
    assert waiting is not None
    session.close()
    assert waiting.process.poll() is not None
    assert not session.is_ahead
    session.update("losses.py", LOSSES.replace("range(n)", "range(5)"))
    assert not session.early


def test_a_small_project_needs_nothing_beside_it(project: Write) -> None:
    project({"losses.py": LOSSES, "train.py": TRAIN})
    session = Session(["."], SETTINGS, jobs=1, use_cache=False, ahead=True)
    session.update("losses.py", LOSSES)
    assert session._ahead is not None
    assert session._ahead._waiting is None


def test_a_trial_is_exact(session: Session) -> None:
    _opened(session, "losses.py", LOSSES)
    text = LOSSES.replace("range(n)", "range(3)")
    found = session.trial({os.path.abspath("losses.py"): text.encode()})
    assert [each.code for each in found.findings if each.path == os.path.abspath("losses.py")] == []
    assert not session.early


MANY = "import jax\nimport jax.numpy as jnp\nfrom losses import shape\n" + "".join(
    f"\n\n@jax.jit\ndef layer{at}(x, n):\n    y = {f'layer{at - 1}(x, 2)' if at % 7 else 'shape(x)'}\n    return y * {at}\n"
    for at in range(40)
)


def _copies(process: int) -> list[int]:
    """The children of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
    return sorted(found)


def _divided(session: Session, before: list[int], kept: int) -> list[int]:
    """Wait until copies of the process are near to all parts of the file, so many of those that were there before among them."""
    assert session._ahead is not None
    waiting = session._ahead._waiting
    assert waiting is not None
    end = time.monotonic() + PATIENCE
    while len(copies := _copies(waiting.process.pid)) != 4 or len({*copies} & {*before}) != kept:
        assert time.monotonic() < end
        time.sleep(0.02)
    time.sleep(0.5)  # the last one has still to get there
    return copies


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted as Linux lists them")
def test_a_file_with_many_functions_is_waited_for_in_parts(session: Session) -> None:
    Path("many.py").write_text(MANY)
    session.refresh()
    _opened(session, "many.py", MANY)
    copies = _divided(session, [], 0)
    text = MANY
    for at in (3, 30, 17, 38):
        session.update("many.py", text.replace(f"return y * {at}\n", f"return y * {at} + 1\n"))
        text = text.replace(f"return y * {at}\n", f"return y * {at} if n > {at} else y\n")
        session.update("many.py", text)
        _settled(session, "many.py", text)
        assert [each.code for each in session.findings[os.path.abspath("many.py")]].count("JIT101") >= 1
        if at == 3:  # which waits to be changed again, wherever somebody goes next
            _divided(session, copies, 1)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted as Linux lists them")
def test_who_was_asked_answers_even_if_others_are_wanted_from_now_on(session: Session) -> None:
    Path("many.py").write_text(MANY)
    session.refresh()
    _opened(session, "many.py", MANY)
    copies = _divided(session, [], 0)

    def edit(*functions: int, by: int) -> None:
        text = MANY
        for at in functions:
            text = text.replace(f"return y * {at}\n", f"return y * {at} + {by}\n")
        end = time.monotonic() + PATIENCE
        session.update("many.py", text, lambda: time.monotonic() > end)
        assert session.early
        assert session.findings == _scratch("many.py", text)

    edit(3, by=1)
    edit(3, by=2)
    _divided(session, copies, 1)  # the third function waits everywhere
    edit(30, by=1)
    edit(30, 31, by=2)  # and now it is the thirtieth
