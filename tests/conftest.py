"""What all tests share: JAX on the CPU, a project on disk, and an analysis small enough to predict."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from jitlint.confirm.compiling import compile_quickly

# Before anything imports JAX. What is compiled here runs once or twice: how fast it runs does not matter.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# Two devices, so that there is something to split over.
os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=2")
# What one process has compiled, no other one compiles again.
_SHARED = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
_COMPILED = pytest.StashKey[str]()

# How fast a machine draws examples is no question of theirs.
settings.register_profile("any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any-machine")


def pytest_configure(config: pytest.Config) -> None:
    """Make compiling cheap, for this process and all that it starts."""
    if hasattr(config, "workerinput"):
        return
    compile_quickly()
    if "JAX_COMPILATION_CACHE_DIR" not in os.environ:
        folder = config.stash[_COMPILED] = tempfile.mkdtemp(prefix="jitlint-jax-")
        os.environ.update(_SHARED, JAX_COMPILATION_CACHE_DIR=folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Forget what was compiled."""
    if _COMPILED in config.stash:
        shutil.rmtree(config.stash[_COMPILED], ignore_errors=True)


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
