"""Python's builtins, ``math``, ``cmath`` and ``operator`` with a tracer: what JAX does, and that the analysis agrees."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

from tests.catalogue.differences import Book
from tests.checking import errors

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CALLS: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("python_calls.toml").read_text(encoding="utf-8")
)["calls"]
PRELUDE = """\
import cmath
import math
import operator

import jax
import numpy as np

VEC = np.array([1.5, 0.5, 2.0, 3.0], np.float32)

"""


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Call → codes of the errors that the analysis finds in a jitted function with this call."""
    folder = tmp_path_factory.mktemp("python")
    folder.joinpath("pyproject.toml").write_text("", encoding="utf-8")
    lines = PRELUDE.splitlines()
    owners = {}
    for number, (call, (value, _)) in enumerate(CALLS.items()):
        lines += [
            "",
            "@jax.jit",
            f"def case_{number}(traced):",
            f"    kept = {call}",
            "    return traced",
            "",
        ]
        owners[len(lines) - 2] = call
        lines += ["", f"def use_{number}():", f"    case_{number}({value})", ""]
    folder.joinpath("calls.py").write_text("\n".join(lines), encoding="utf-8")
    found: dict[str, set[str]] = defaultdict(set)
    for item in errors(folder):
        found[owners[item["line"]]].add(item["code"])
    return found


@pytest.mark.parametrize("call", list(CALLS))
def test_the_analysis_agrees(call: str, reported: dict[str, set[str]]) -> None:
    assert bool(reported[call]) == bool(CALLS[call][1])


def test_probing_again_gives_the_same(book: Book) -> None:
    pytest.importorskip("jax")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, str(ROOT / "tools" / "probe_python.py"), "--diff"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode in (0, 1), done.stderr
    lines = [line.partition(": measured ") for line in done.stdout.splitlines()]
    book.check_all("python", {call: text.partition(", written ")[0] for call, _, text in lines})
