"""The extension for VS Code: what is committed of it; and its own tests, where Node's packages are installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import jitlint

ROOT = Path(__file__).resolve().parents[2]
EXTENSION = ROOT / "editors" / "vscode"


def test_the_extension_has_the_version_of_the_package() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    assert manifest["version"] == jitlint.__version__.partition(".dev")[0]
    locked = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert locked["version"] == manifest["version"]
    assert locked["packages"][""]["devDependencies"] == manifest["devDependencies"]


def test_the_lock_file_names_no_registry() -> None:
    text = (EXTENSION / "package-lock.json").read_text(encoding="utf-8")
    assert not re.findall(r"https?://\S+", text)
    packages = json.loads(text)["packages"]
    assert all(about.get("integrity") for name, about in packages.items() if name)


def test_its_own_tests() -> None:
    """Compiled in the compiler's strict mode, bundled; then the server is started as the extension starts it."""
    pytest.importorskip("pygls", reason="needs pygls")
    npm = shutil.which("npm")
    if npm is None or not (EXTENSION / "node_modules").is_dir():
        pytest.skip("Node's packages are not installed: `npm ci` in editors/vscode does it")
    environment = {**os.environ, "JITLINT_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [npm, "test"],
        cwd=EXTENSION,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^# skipped 0$", done.stdout, re.MULTILINE), done.stdout
