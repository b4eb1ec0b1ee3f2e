"""After a change only what it concerns is looked at again, and the answer is that of a run without a cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Severity
from jitlint.base.result import CheckResult
from jitlint.driver import linking, run, wording, workspace
from jitlint.driver.project import callers_of
from tests.conftest import Write

LOSS = '''"""Losses."""
import jax.numpy as jnp


def loss(params, x, n):
    total = 0.0
    for i in range(n):
        total += jnp.sum(params * x[i])
    return total
'''
TRAIN = """import jax
from losses import loss


@jax.jit
def step(params, batch):
    return jax.grad(loss)(params, batch["x"], batch["n"])
"""
APART = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
PROJECT = {"losses.py": LOSS, "train.py": TRAIN, "scripts/apart.py": APART}


def _check(*paths: str, **options: bool) -> CheckResult:
    return run.check(
        list(paths) or ["."],
        Settings(min_severity=Severity.INFO, tests="all", extend_select=("JIT004",)),
        jobs=1,
        context=callers_of(paths or ["."]),
        **options,
    )


def _work(result: CheckResult) -> tuple[int, int, int]:
    """Units analysed, files parsed, files looked into for positions."""
    statistics = result.statistics
    return statistics.units_run, statistics.lowered, statistics.placed


def _same(*paths: str) -> CheckResult:
    """The answer, after it has been compared with one from scratch."""
    found, fresh = _check(*paths), _check(*paths, use_cache=False)
    assert found.findings == fresh.findings
    assert found.problems == fresh.problems
    return found


@pytest.fixture
def root(project: Write) -> Path:
    root = project(PROJECT)
    assert _work(_check()) == (2, 3, 3)
    return root


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    total = 0.0\n", "    # a comment\n\n    total = 0.0  # another\n"),
        ("total += jnp.sum(params * x[i])", "total += jnp.sum(\n            (params * x[i]),\n        )"),
        ('"""Losses."""', '"""What is to be\nmade small."""'),
        ("    total = 0.0\n", "    total = 0.0  # noqa\n"),
        ("range(n):", "range(n):  # jitlint: ignore[JIT106]"),
        ("range(n)", "range( n )"),
        ("def loss", "\n\n\ndef loss"),
    ],
)
def test_what_says_nothing_runs_nothing(root: Path, old: str, new: str) -> None:
    (root / "losses.py").write_text(LOSS.replace(old, new))
    units, parsed, _ = _work(_same())
    assert (units, parsed) == (0, 1)


def test_positions_follow_the_text(root: Path) -> None:
    (root / "losses.py").write_text("# moved\n" + LOSS)
    (root / "train.py").write_text("\n\n" + TRAIN)
    (found,) = [finding for finding in _same().findings if finding.code == "JIT106"]
    assert found.span.line == 8
    assert [(step.path, step.span.line) for step in found.related] == [("train.py", 7), ("train.py", 9)]


def test_a_change_runs_its_own_unit_alone(root: Path) -> None:
    (root / "scripts" / "apart.py").write_text(APART.replace("x > 0", "x < 0"))
    result = _same()
    assert _work(result)[:2] == (1, 1)
    assert result.statistics.units == 2
    (root / "train.py").write_text(TRAIN.replace("jax.grad", "jax.jit"))
    assert _work(_same())[:2] == (1, 1)


def test_what_comes_back_is_known(root: Path) -> None:
    first = _check()
    (root / "losses.py").write_text(LOSS.replace("range(n)", "range(3)"))
    assert _work(_same())[0] == 1
    (root / "losses.py").write_text(LOSS + "\n")
    result = _same()
    assert _work(result) == (0, 1, 1)
    assert result.findings == first.findings


def test_an_import_joins_units_and_its_loss_parts_them(root: Path) -> None:
    (root / "scripts" / "apart.py").write_text("import train\n" + APART)
    assert _same().statistics.units == 1
    (root / "train.py").write_text("import jax\n")
    assert _same().statistics.units == 2


def test_what_a_test_runner_hands_over_joins_units(project: Write) -> None:
    project(
        {
            "tests/conftest.py": "import pytest, jax\n\n\n@pytest.fixture\ndef size():\n    return 3\n",
            "tests/deep/test_a.py": "import jax\n\n\ndef test_a(size):\n    jax.numpy.zeros(size)\n",
            "apart.py": APART,
        }
    )
    assert _check().statistics.units == 2
    assert _check("tests/deep/test_a.py").statistics.units_run == 0


def test_a_package_is_one_unit_however_its_modules_are_reached(project: Write) -> None:
    project(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": APART,
            "pkg/b.py": APART,
            "use.py": "import jax, pkg\npkg.a.f(1)\n",
            "lone/c.py": "import d, jax\nd.f(1)\n",
            "lone/d.py": APART,
        }
    )
    assert _same().statistics.units == 2


def test_files_come_and_go(root: Path) -> None:
    (root / "more.py").write_text("import losses, jax\njax.jit(losses.loss)(1, 2, 3)\n")
    assert _work(_same())[0] == 1
    os.unlink(root / "train.py")
    _same()
    os.unlink(root / "more.py")
    assert [finding.code for finding in _same().findings] == ["JIT101"]


def test_a_file_that_is_no_program_is_parsed_once(root: Path) -> None:
    (root / "train.py").write_text("import jax\nfrom losses import loss\n(\n")
    assert [problem.code for problem in _same().problems] == ["JIT001"]
    (root / "scripts" / "apart.py").write_text(APART + "# end\n")
    result = _same()
    assert _work(result)[:2] == (0, 1)
    assert [problem.path for problem in result.problems] == ["train.py"]


def test_a_file_named_alone_is_answered_from_what_is_known_of_the_whole(root: Path) -> None:
    whole = _check()
    for name in PROJECT:
        (root / name).write_text("# new\n" + PROJECT[name])
        result = _same(name)
        assert _work(result)[:2] == (0, 1)
        assert len(result.findings) == len([f for f in whole.findings if f.path == name])


def test_the_working_directory_makes_no_difference(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "scripts")
    (root / "losses.py").write_text("# moved\n" + LOSS)
    assert _work(_same(".."))[0] == 0


def test_comments_that_silence_nothing_are_told_again_after_a_change_elsewhere(root: Path) -> None:
    (root / "losses.py").write_text(LOSS.replace("range(n):", "range(n):  # jitlint: ignore[JIT106]"))
    assert "JIT106" not in [finding.code for finding in _same().findings]
    (root / "train.py").write_text(TRAIN.replace('batch["n"]', "3"))
    assert ("losses.py", "JIT004") in [(finding.path, finding.code) for finding in _same().findings]


def test_a_cache_without_its_pack_is_made_good(root: Path) -> None:
    os.unlink(root / ".jitlint_cache" / "pack")
    (root / "losses.py").write_text(LOSS.replace("range(n)", "range(n + 1)"))
    assert len(_same().findings) == 2
    (root / "losses.py").write_text(LOSS.replace("range(n)", "range(n + 2)"))
    assert _work(_same())[:2] == (1, 2)  # the other unit's file was not asked for before
    (root / "losses.py").write_text(LOSS.replace("range(n)", "range(n + 3)"))
    assert _work(_same())[:2] == (1, 1)


def test_another_version_of_the_tool_remembers_no_words(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "tool_fingerprint", lambda catalogue: "another")
    monkeypatch.setattr(wording, "words", lambda draft, lines, span: ("another message", ""))
    assert {finding.message for finding in _same().findings} == {"another message"}


def test_units_in_processes_give_the_same(project: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    project({f"p{i}/m.py": APART.replace("> 0", f"> {i}") for i in range(6)})
    monkeypatch.setattr(linking, "_WORTH_FORKING", 0)
    settings = Settings(tests="all")
    alone = run.check(["."], settings, jobs=1, use_cache=False)
    together = run.check(["."], settings, jobs=3, use_cache=False)
    assert (alone.statistics.units, together.statistics.units_run) == (6, 6)
    assert alone.findings == together.findings
    assert len(alone.findings) == 6
