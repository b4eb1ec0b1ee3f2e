"""Recording a real program under real JAX: what was traced, how, and what failed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from jitlint.frontends.cli import main
from jitlint.record.store import NAME, RecordedFunction, Store, merged, read_store
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
PRECISE = sys.version_info >= (3, 12)
precise = pytest.mark.skipif(not PRECISE, reason="lines and errors need sys.monitoring (Python 3.12)")

MODEL = """\
import jax
import jax.numpy as jnp
import numpy as np

TABLE = np.ones(1000, np.float32)


def helper(x, scale):
    return x * scale


@jax.jit
def step(x, n=2):
    y = helper(x, 3.0)
    return y + TABLE.sum() + n


class Model:
    def __call__(self, params, flag):
        return params["w"] + 1.0


def body(carry, x):
    return carry + x, None


def eager(x):
    return x


def broken(x):
    if x > 0:
        return x
    return -x


def fine(x):
    if x.ndim > 0:
        return x
    return x + 1


class Odd:
    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


@jax.jit
def odd(x):
    try:
        return x + Odd()
    except TypeError:
        return x


@jax.jit
def picky(x):
    class Local:
        kind = x.ndim

    if Local.kind != 1:
        raise ValueError(Local.kind)
    return x @ jnp.ones(7)
"""
TESTS = """\
import warnings

import jax
import model

warnings.simplefilter("error")


@jax.jit
def tested(x):
    return model.helper(x, 2.0) + one(x)


def one(x):
    return sum(model.helper(each, 1.0) for each in (x,))


for argument in (1.0, 2.0, jax.numpy.ones(3)):
    try:
        model.picky(argument)
    except (ValueError, TypeError):
        pass
tested(1.0)
model.odd(1.0)
"""
MAIN = """\
import multiprocessing
import sys

import jax
import jax.numpy as jnp
import model
import test_model


def child(size):
    model.step(jnp.ones(size))


if __name__ == "__main__":
    for size in (2, 3, 4):
        model.step(jnp.ones(size))
    jax.jit(model.Model(), static_argnums=1)({"w": jnp.ones(2)}, True)
    jax.lax.scan(model.body, 0.0, jnp.arange(3.0))
    jax.grad(model.fine)(1.0)
    jax.jit(model.fine)(1.0)
    jax.grad(lambda y: model.helper(1.0, y))(1.0)
    model.eager(1.0)
    process = multiprocessing.get_context("fork" if "fork" in sys.argv else "spawn").Process(target=child, args=(7,))
    process.start()
    process.join()
    print("done", sys.argv[1:])
    jax.jit(model.broken)(1.0)
"""


def _record(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    return subprocess.run(
        [sys.executable, "-m", "jitlint", "record", *command],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def recorded(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str], Store]:
    root = tmp_path_factory.mktemp("project")
    files = {"model.py": MODEL, "main.py": MAIN, "test_model.py": TESTS, "pyproject.toml": ""}
    for name, text in files.items():
        (root / name).write_text(text, encoding="utf-8")
    done = _record(root, "--reasons", "--", sys.executable, "main.py", "one", "two")
    return root, done, read_store(str(root / NAME))


def _function(store: Store, qualname: str) -> RecordedFunction:
    (function,) = [
        f for f in store.functions if f.qualname.rpartition(".")[2] == qualname or f.qualname == qualname
    ]
    return function


Recorded = tuple[Path, "subprocess.CompletedProcess[str]", Store]


def test_the_program_runs_as_without_us(recorded: Recorded) -> None:
    _, done, store = recorded
    assert done.returncode == 1
    assert done.stdout == "done ['one', 'two']\n"
    assert "TracerBoolConversionError" in done.stderr
    assert store.command[1:] == ["main.py", "one", "two"]
    assert store.jax


def test_what_was_traced(recorded: Recorded) -> None:
    store = recorded[2]
    step = _function(store, "step")
    assert (step.file, step.line) == ("model.py", 12)
    assert step.parameters == {"x": "traced", "n": "static"}
    assert step.modes.keys() == {"jit"}
    assert step.root_of["jit"] == 4
    assert next(iter(step.signatures)) == "x=f32[2], n=2"
    assert step.traces >= 3
    assert step.compiles >= 3
    assert step.compile_seconds > 0
    assert step.captured == {"TABLE": 4000}
    helper = _function(store, "helper")
    assert helper.parameters == {"x": "traced", "scale": "static"}
    assert helper.calls.keys() == {"T-"}
    assert helper.entries > helper.staged
    assert not helper.root_of
    call = _function(store, "__call__")
    assert call.parameters["params"] == "traced"
    assert call.parameters["flag"] == "static"
    assert "scan" in _function(store, "body").modes
    assert "grad" in _function(store, "fine").modes
    assert "eager" not in {f.qualname for f in store.functions}
    assert ("model.py", MODEL[: MODEL.index("def eager")].count("\n") + 1) in store.eager


def test_child_processes_are_recorded(recorded: Recorded) -> None:
    assert "x=f32[7], n=2" in _function(recorded[2], "step").signatures


@precise
def test_errors_and_lines(recorded: Recorded) -> None:
    store = recorded[2]
    line = MODEL[: MODEL.index("    if x > 0")].count("\n") + 1
    (error,) = _function(store, "broken").errors
    assert (error.file, error.line) == ("model.py", line)
    assert error.exception.endswith("TracerBoolConversionError")
    assert line + 6 in _function(store, "fine").lines
    first, second = _function(store, "picky").errors
    assert (first.exception, first.deliberate) == ("ValueError", True)
    assert (second.exception, second.deliberate) == ("TypeError", False)
    assert second.line == first.line + 1
    assert not _function(store, "__getattribute__").errors


def test_iterators_make_jax_warn_of_nothing(recorded: Recorded) -> None:
    generator = _function(recorded[2], "<genexpr>")
    assert generator.parameters == {".0": "static"}
    assert "Warning" not in recorded[1].stderr


def test_staged_entries_say_what_is_traced() -> None:
    def seen(parameters: dict[str, str], staged: int) -> Store:
        calls = {"".join("T" if kind == "traced" else "-" for kind in parameters.values()): 1}
        return Store(
            functions=[
                RecordedFunction("a.py", 1, "f", staged, 1, parameters=parameters, calls=calls, eager=1)
            ]
        )

    loose = seen({"x": "static", "y": "traced"}, 0)
    staged = seen({"x": "traced", "y": "static"}, 1)
    for order in ([0, 1, 0], [1, 0, 0], [0, 0, 1]):
        (function,) = merged(
            msgspec.convert(msgspec.to_builtins([loose, staged][i]), Store) for i in order
        ).functions
        assert function.parameters == {"x": "traced", "y": "static"}
        assert function.calls == {"T-": 1}
        assert (function.staged, function.entries) == (1, 3)


def test_class_bodies_are_no_functions(recorded: Recorded) -> None:
    assert not [f for f in recorded[2].functions if f.qualname.endswith("Local")]


def test_the_report_names_what_was_compiled(recorded: Recorded) -> None:
    done = _record(recorded[0], "--report")
    assert "model.py:12" in done.stdout
    assert "4 kB" in done.stdout
    assert "helper" not in done.stdout


def test_the_static_side_knew_it_all(recorded: Recorded) -> None:
    done = _record(recorded[0], "--compare")
    assert "traced-function recall 8 of 9 (88.9%), with a traced argument 8 of 8\n" in done.stdout
    assert "traced-function recall in tests 3 of 3 (100.0%), with a traced argument 2 of 2\n" in done.stdout
    assert "parameters called traced that were static 0 of" in done.stdout
    if PRECISE:
        assert "findings at error level 1: 0 refuted" in done.stdout
        assert "1 supported, 0 not executed, 0 ran with other arguments, 0 open\n" in done.stdout
        assert "supported: model.py:32: JIT101" in done.stdout
        shown = done.stdout.splitlines()
        missed = [n for n, line in enumerate(shown) if line.startswith("missed")]
        assert [shown[n : n + 2] for n in missed] == [
            ["missed in model.py:44 __getattribute__", "    not called traced; the run traced it (jit)"],
            ["missed in model.py:56 picky", "    line 63: TypeError ended a trace"],
        ]


def test_commands_that_cannot_run_and_nothing_to_do(
    project: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    project({})
    assert main(["record", "--", "no-such-program-here"]) == 2
    assert main(["record"]) == 2
    assert main(["record", "--report"]) == 2
    shown = capsys.readouterr().err
    assert "no-such-program-here: cannot be run" in shown
    assert "nothing to do" in shown
    assert "nothing is recorded" in shown


def test_the_users_own_start_up_module_still_runs(project: Write) -> None:
    root = project({"own/sitecustomize.py": "print('mine')\n", "a.py": "print('a')\n"})
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{root / 'own'}"}
    command = [sys.executable, "-m", "jitlint", "record", "--", sys.executable, "a.py"]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-2:] == ["mine", "a"]
    assert json.loads((root / NAME).read_text(encoding="utf-8"))["functions"] == []


ENDLESS = """\
import time

import jax


@jax.jit
def step(x):
    return x + 1


step(1.0)
time.sleep(2.2)
jax.jit(lambda x: step(x + 1))(1.0)
print("going", flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals end processes on POSIX systems")
def test_a_run_that_is_ended_from_outside_keeps_what_it_saw(project: Write) -> None:
    pytest.importorskip("jax", reason="recording needs JAX")
    root = project({"a.py": ENDLESS})
    command = [sys.executable, "-m", "jitlint", "record", "--", sys.executable, "a.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"going\n"
        running.terminate()
        code = running.wait(timeout=30)
    assert code == 128 + signal.SIGTERM
    assert _function(read_store(str(root / NAME)), "step").staged
