"""The documentation is in step with the code, and it builds without a broken link."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_generated_pages_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/generate_docs.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == ""
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_rooms_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, "tools/draw_rooms.py", "--check"], cwd=ROOT, check=False, timeout=60
    )
    assert done.returncode == 0


def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    """Sphinx warns of links to pages and headings that do not exist."""
    pytest.importorskip("myst_parser", reason="needs the docs extra")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "-q",
        "-d",
        str(tmp_path / "trees"),
        "docs",
        str(tmp_path / "site"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "rules" / "JIT101.html").exists()


def test_the_picture_shows_what_the_readme_says() -> None:
    pytest.importorskip("rich", reason="needs rich")
    done = subprocess.run(
        [sys.executable, "tools/terminal_picture.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == ""
    assert done.returncode == 0, done.stderr
