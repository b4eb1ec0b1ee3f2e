"""``tools/new_rule.py`` writes a rule that loads, and refuses what would clash with an existing one."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from jitlint.base.rule import Rule

TOOL = Path(__file__).resolve().parents[2] / "tools" / "new_rule.py"


def _start(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), "--root", str(root), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "jitlint" / "rules").mkdir(parents=True)
    return tmp_path


def test_writes_a_rule_file_that_loads_and_its_fixtures(root: Path) -> None:
    done = _start(root, "112", "traced-sleep")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "jitlint/rules/jit1xx/jit112_traced_sleep.py",
        "fixtures/JIT112_traced_sleep/bad.py",
        "fixtures/JIT112_traced_sleep/good.py",
    ]
    spec = importlib.util.spec_from_file_location(
        "started", root / "jitlint/rules/jit1xx/jit112_traced_sleep.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rule: Rule = module.RULE
    assert (rule.code, rule.name, len(rule.checks)) == ("JIT112", "traced-sleep", 1)
    bad = (root / "fixtures/JIT112_traced_sleep/bad.py").read_text(encoding="utf-8")
    assert "# expect: JIT112" in bad
    compile(bad, "bad.py", "exec")


@pytest.mark.parametrize(
    ("number", "name"), [("112", "traced-nap"), ("113", "traced-sleep")], ids=["same number", "same name"]
)
def test_never_touches_an_existing_rule(root: Path, number: str, name: str) -> None:
    _start(root, "112", "traced-sleep")
    before = sorted(root.rglob("*"))
    done = _start(root, number, name)
    assert done.returncode == 2
    assert done.stderr == "new_rule: jitlint/rules/jit1xx/jit112_traced_sleep.py exists\n"
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize(("number", "name"), [("12", "traced-nap"), ("012", "traced-nap"), ("112", "Nap")])
def test_refuses_malformed_numbers_and_names(root: Path, number: str, name: str) -> None:
    done = _start(root, number, name)
    assert done.returncode == 2
    assert "is not a rule" in done.stderr
    assert list((root / "jitlint" / "rules").iterdir()) == []
