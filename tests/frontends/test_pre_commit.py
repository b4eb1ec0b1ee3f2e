"""The pre-commit hook, with the real pre-commit in a repository of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BAD = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
GOOD = "import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n"
HELPER = "def g(x):\n    if x > 0:\n        return x\n    return -x\n"
CALLER = "import jax\nfrom helper import g\n\nprint(jax.jit(g)(1.0))\n"

pytest.importorskip("pre_commit", reason="needs pre-commit")
if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)


class Repository:
    """A git repository with the hook installed, run by this Python instead of an environment of its own."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "HOME": str(home),
            "PRE_COMMIT_HOME": str(home / "pre-commit"),
            "PYTHONPATH": str(ROOT),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        yaml = pytest.importorskip("yaml")
        (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
        assert hook["entry"].split()[0] == "jitlint"
        hook |= {"language": "system", "entry": f"{sys.executable} -m {hook['entry']}"}
        config = {"repos": [{"repo": "local", "hooks": [hook]}]}
        self.git("init", "-q", "-b", "main")
        self.write(".gitignore", ".jitlint_cache/\n")
        self.write(".pre-commit-config.yaml", json.dumps(config))
        self.git("add", ".")
        self.git("commit", "-qm", "start")
        self.run(sys.executable, "-m", "pre_commit", "install")

    def write(self, name: str, text: str) -> None:
        (self.root / name).write_text(text, encoding="utf-8")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.root, env=self.environment, capture_output=True, text=True, timeout=120
        )

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("git", "-c", "user.name=n", "-c", "user.email=e@example.org", *arguments)

    def commit(self) -> subprocess.CompletedProcess[str]:
        return self.git("commit", "-m", "next")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    root, home = tmp_path / "repository", tmp_path / "home"
    root.mkdir()
    home.mkdir()
    return Repository(root, home)


def test_the_manifest_is_valid(repository: Repository) -> None:
    done = repository.run(
        sys.executable, "-m", "pre_commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml")
    )
    assert done.returncode == 0, done.stdout


def test_a_commit_with_a_mistake_fails_and_without_passes(repository: Repository) -> None:
    repository.write("a.py", BAD)
    repository.git("add", "a.py")
    failed = repository.commit()
    assert failed.returncode == 1
    assert "a.py:6:8: error[JIT101]" in failed.stdout + failed.stderr
    repository.write("a.py", GOOD)
    repository.git("add", "a.py")
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_a_commit_without_python_is_not_looked_at(repository: Repository) -> None:
    repository.write("a.py", BAD)
    repository.write("b.txt", "text\n")
    repository.git("add", "b.txt")
    done = repository.commit()
    assert done.returncode == 0
    assert "no files to check" in done.stdout + done.stderr


def test_what_is_staged_counts(repository: Repository) -> None:
    repository.write("a.py", GOOD)
    repository.git("add", "a.py")
    repository.write("a.py", BAD)
    assert repository.commit().returncode == 0
    assert (repository.root / "a.py").read_text(encoding="utf-8") == BAD
    repository.git("add", "a.py")
    repository.write("a.py", GOOD)
    assert repository.commit().returncode == 1


def test_callers_that_are_not_staged_are_seen(repository: Repository) -> None:
    repository.write("caller.py", CALLER)
    repository.write("helper.py", "def g(x):\n    return x\n")
    repository.git("add", ".")
    assert repository.commit().returncode == 0
    repository.write("helper.py", HELPER)
    repository.git("add", "helper.py")
    done = repository.commit()
    assert "helper.py:2:8: error[JIT101]" in done.stdout + done.stderr


def test_what_is_staged_is_told_what_it_brings_about_elsewhere(repository: Repository) -> None:
    repository.write("caller.py", CALLER.replace("jax.jit(g)", "g"))
    repository.write("helper.py", HELPER)
    repository.git("add", ".")
    assert repository.commit().returncode == 0
    repository.write("caller.py", CALLER)
    repository.git("add", "caller.py")
    done = repository.commit()
    assert done.returncode == 1
    assert "caller.py:4:7: error[JIT101]" in done.stdout + done.stderr


def test_what_the_configuration_excludes_is_left_out(repository: Repository) -> None:
    repository.write("jitlint.toml", 'exclude = ["*_gen.py"]\n')
    repository.write("a_gen.py", BAD)
    repository.git("add", ".")
    passed = repository.commit()
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_all_files(repository: Repository) -> None:
    """The hook is serial: one process sees all files, so that none is judged without the others."""
    for number in range(40):
        repository.write(f"f{number}.py", BAD)
    repository.git("add", ".")
    done = repository.run(sys.executable, "-m", "pre_commit", "run", "--all-files")
    assert done.returncode == 1
    assert done.stdout.count("error[JIT101]") == 40
