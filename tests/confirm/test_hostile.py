"""Whatever the code does, the run ends, says what happened, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.confirm.project import run, write

pytest.importorskip("jax", reason="proof needs JAX")

HEAD = """\
import contextlib, os, signal, socket, sys, time
import jax


@jax.jit
def branch(x):
    if x > 0:
        return x
    return -x


def case_hostile():
    branch
    {body}


def case_innocent():
    branch(1.0)
"""
BODIES = {
    "exits": "sys.exit(3)",
    "leaves": "os._exit(0)",
    "hangs": "while True: pass",
    "forks": "os.fork(); time.sleep(60 * 60 + {mark})",
    "eats": "block = [bytearray(1 << 28) for _ in range(1000)]",
    "prints": "print('x' * (1 << 26)); os.write(1, b'y' * (1 << 26))",
    "deletes": "os.remove(__file__)",
    # Where it has no process table of its own (its parent would be in it), -1 would be everything on the machine.
    "kills": "os.kill(os.getppid(), signal.SIGKILL); os.getppid() or os.kill(-1, signal.SIGKILL); time.sleep(60)",
    "crashes": "os.abort()",
    "asks": "input()",
    "scribbles": "for fd in range(3, 64):\n        with contextlib.suppress(OSError):\n            os.write(fd, b'!' * 100)",
}
# A number by which the processes of this test can be told from others.
MARK = os.getpid() % 1000


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str], set[str]]:
    folder = tmp_path_factory.mktemp("hostile")
    files = {
        f"{name}.py": HEAD.format(body=body.replace("{mark}", str(MARK))) for name, body in BODIES.items()
    }
    files["stops.py"] = HEAD.format(body="pass") + "\n\nsys.exit(1)\n"
    write(folder, files)
    before = set(os.listdir(tempfile.gettempdir()))
    return folder, run(folder, "--timeout", "3", "--no-cache", "--color", "never", "."), before


def _verdicts(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    lines = [
        line.split() for line in done.stdout.splitlines() if ".py:7" in line and not line.startswith(" ")
    ]
    return {words[1].partition(".")[0]: words[0] for words in lines}


def test_each_is_survived_and_the_next_call_is_made(
    done: tuple[Path, subprocess.CompletedProcess[str], set[str]],
) -> None:
    _, process, _ = done
    assert process.returncode == 1, process.stderr
    assert _verdicts(process) == dict.fromkeys([*BODIES, "stops"], "confirmed")


def test_nothing_is_left(done: tuple[Path, subprocess.CompletedProcess[str], set[str]]) -> None:
    folder, _, before = done
    left = {name for name in set(os.listdir(tempfile.gettempdir())) - before if name.startswith("jitlint-")}
    assert not left
    if os.path.isdir("/proc"):
        lines = [
            path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)
        ]
        assert not [line for line in lines if b"confirm.template" in line and str(folder).encode() in line]
    assert not list(folder.glob("**/__pycache__"))
