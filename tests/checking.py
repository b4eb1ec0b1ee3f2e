"""`jitlint check` as a process of its own, as tests of many programs at once run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.versions import DESCRIBED

ROOT = Path(__file__).resolve().parents[1]


def checked(folder: Path, *options: str, codes: tuple[int, ...] = (0, 1)) -> list[dict[str, Any]]:
    """The findings in a folder, as JSON has them, for the JAX that the catalogue describes. codes: those that may come."""
    command = [sys.executable, "-m", "jitlint", "check", "--output-format", "json", "--no-cache"]
    command += ["--jax-version", DESCRIBED, *options, "."]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in codes, f"exit code {done.returncode}\n{done.stderr}"
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def errors(folder: Path) -> list[dict[str, Any]]:
    """Those of them that are errors."""
    return [item for item in checked(folder) if item["severity"] == "error"]
