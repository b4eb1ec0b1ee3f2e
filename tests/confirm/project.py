"""What the tests of the command share: writing a project and running `jitlint confirm` over it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a project."""
    folder.mkdir(exist_ok=True)
    (folder / "pyproject.toml").write_text("")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")


def run(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in the folder. ``path``: where imports look first."""
    command = [sys.executable, "-m", "jitlint", "confirm", *arguments]
    environment = os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}", "JITLINT_DEBUG": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=2700
    )


def confirmed(folder: Path, *arguments: str, path: str = "") -> list[dict[str, Any]]:
    """The findings with their verdicts."""
    done = run(folder, "--output-format", "json", *arguments, path=path)
    assert done.returncode in (0, 1), done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
