"""What all tests share: JAX on the CPU, a project on disk, and an analysis small enough to predict."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before anything imports JAX. What is compiled here runs once or twice: how fast it runs does not matter.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")

# How fast a machine draws examples is no question of theirs.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")

Write = Callable[[dict[str, str]], Path]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files into an empty project, makes it the working directory and returns its top."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JITLINT_CACHE_DIR", raising=False)

    def write(files: dict[str, str]) -> Path:
        for name, text in {"pyproject.toml": "", **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write
