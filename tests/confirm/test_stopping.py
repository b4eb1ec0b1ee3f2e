"""A run that is ended early tells what it has found, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.confirm.project import ROOT, run, write

pytest.importorskip("jax", reason="proof needs JAX")

FAILS = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x if x > 0 else 0.0\n\n\n"
FILES = {
    "quick.py": f"{FAILS}def case_f():\n    f(1.0)\n",
    "slow.py": f"import time\n{FAILS}def case_f():\n    time.sleep(600)\n    f(1.0)\n",
}
OPTIONS = ("--no-cache", "--jobs", "2", "--timeout", "300", "--output-format", "jsonl", ".")


def _verdicts(text: str) -> dict[str, tuple[str, str]]:
    items = [json.loads(line) for line in text.splitlines()]
    return {item["path"]: (item["verdict"], item["evidence"]) for item in items}


def test_the_time_for_all_calls_is_limited(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    began = time.monotonic()
    done = run(tmp_path, "--total-timeout", "15", *OPTIONS)
    assert time.monotonic() - began < 120
    assert done.returncode == 1, done.stderr
    found = _verdicts(done.stdout)
    assert found["quick.py"][0] == "confirmed"
    assert found["slow.py"] == ("not-reached", "not run: the time for the whole run was up")
    assert "the time for the whole run was up: 1 of 2 findings were not run" in done.stderr


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_everything_and_lose_nothing(tmp_path: Path, name: str) -> None:
    project, temporary = tmp_path / "project", tmp_path / "temporary"
    write(project, FILES)
    temporary.mkdir()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "jitlint", "confirm", *OPTIONS]
    with subprocess.Popen(
        command, cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # told while the other one sleeps
        process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    found = _verdicts(first + out)
    assert [*_verdicts(first)] == ["quick.py"]
    assert found["quick.py"][0] == "confirmed"
    assert found["slow.py"] == ("not-reached", f"not run: the run was ended by {name}")
    assert not os.listdir(temporary)


def test_what_many_findings_wait_for_is_named_once(tmp_path: Path) -> None:
    needs = FAILS.replace("    return", "    somelibrary.prepare()\n    return")
    write(tmp_path, {"quick.py": f"import somelibrary._version\n{needs}{needs}def case_f():\n    f(1.0)\n"})
    done = run(tmp_path, "--no-cache", ".")
    assert "2 findings need `somelibrary`, which is not there" in done.stderr, done.stdout
