"""What `jitlint record` has seen settles findings, and gives arguments for the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jitlint.record.store import NAME, RecordedError, RecordedFunction, Store, digest, write_store
from tests.confirm.project import confirmed, run, write

SOURCE = """
import jax
from functools import partial


@jax.jit
def failed(x):
    if x > 0:
        return x
    return -x


@jax.jit
def passed(x):
    if x > 0:
        return x
    return -x


@partial(jax.jit, static_argnames="width")
def demanding(x, y, *, width):
    assert x.shape == (2, 3) and y.ndim == 1 and width == 5
    return float((x + y)[0, 0])
"""
STORE = Store(
    python="3.12.0",
    command=["/usr/bin/python", "train.py", "--steps", "3"],
    functions=[
        RecordedFunction(
            "model.py",
            6,
            "failed",
            staged=1,
            errors=[RecordedError("model.py", 8, "jax.errors.TracerBoolConversionError")],
        ),
        RecordedFunction(
            "model.py", 13, "passed", staged=1, calls={"T": 1}, lines=[15], returned=[15], held={"15": ["x"]}
        ),
        RecordedFunction(
            "model.py", 20, "demanding", staged=1, signatures={"x=f32[2,3], y=i32[3]~, width=5": 1}
        ),
    ],
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(tmp_path, {"model.py": SOURCE})
    STORE.digests = {"model.py": digest(str(tmp_path / "model.py"))}
    write_store(STORE, str(tmp_path / NAME))
    return tmp_path


def _said(found: list[dict[str, Any]]) -> dict[int, tuple[str, str, str]]:
    return {item["line"]: (item["verdict"], item["evidence"], item["inputs"]) for item in found}


def test_findings_on_recorded_lines_start_no_worker(project: Path) -> None:
    (project / "model.py").write_text(SOURCE.partition("@partial")[0])
    STORE.digests = {"model.py": digest(str(project / "model.py"))}
    write_store(STORE, str(project / NAME))
    # A worker could not import this, and the command would fail.
    write(project / "elsewhere", {"jax/__init__.py": "raise ImportError('no worker is wanted')\n"})
    said = _said(confirmed(project, "model.py", path=str(project / "elsewhere")))
    how = "python train.py --steps 3"
    assert said == {
        8: ("confirmed", "a recorded run raised jax.errors.TracerBoolConversionError here", how),
        15: (
            "refuted",
            "a recorded run went through here while JAX traced, and nothing was raised",
            how,
        ),
    }


def test_what_no_finding_explains_is_listed_as_missed(project: Path) -> None:
    text = "import jax\n\n\ndef helper(x):\n    raise ValueError\n\n\ndef other(x):\n    return missing(x)\n"
    write(project, {"model.py": text, "test_model.py": text})
    errors = [
        RecordedError("model.py", 5, "ValueError", deliberate=True),
        RecordedError("model.py", 9, "NameError"),
        RecordedError("test_model.py", 9, "NameError"),
    ]
    store = Store(
        command=["/usr/bin/python", "train.py"],
        functions=[
            RecordedFunction(
                "model.py", 8, "other", staged=1, errors=errors, compiles=30, signatures={"x=1": 1}
            )
        ],
        digests={name: digest(str(project / name)) for name in ("model.py", "test_model.py")},
    )
    write_store(store, str(project / NAME))
    listed = [
        (item["path"], item["line"], item["verdict"], item["evidence"], item["inputs"])
        for item in confirmed(project, ".")
    ]
    assert listed == [
        ("model.py", 9, "missed", "in a recorded run NameError ended a trace", "python train.py"),
        (
            "model.py",
            8,
            "missed",
            "in a recorded run `other` was compiled 30 times in 1 forms",
            "python train.py",
        ),
    ]
    assert confirmed(project, "--no-recorded", ".") == []


def test_recorded_arguments_are_tried(project: Path) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    verdict, evidence, inputs = _said(confirmed(project, "--no-cache", "model.py"))[23]
    assert (verdict, inputs) == ("confirmed", "x=f32[2, 3], y=i32[3], width=5")
    assert evidence.startswith("jax.errors.ConcretizationTypeError")


def test_recorded_run_can_be_left_aside(project: Path) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    said = _said(confirmed(project, "--no-cache", "--no-recorded", "model.py"))
    assert {line: verdict for line, (verdict, _, _) in said.items()} == {
        8: "confirmed",
        15: "confirmed",
        23: "no-inputs",
    }


def test_changed_file_is_run_again(project: Path) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    with (project / "model.py").open("a") as stream:
        stream.write("\n# changed\n")
    assert _said(confirmed(project, "--no-cache", "model.py"))[15][0] == "confirmed"


def test_store_that_cannot_be_read_is_an_error(project: Path) -> None:
    (project / NAME).write_text("[]")
    done = run(project, "model.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert "not a recorded run" in done.stderr
