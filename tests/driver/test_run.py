"""A run from paths to findings: context, relevance, problems and the cache around it all."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import jitlint.link.domains.timing.check
import jitlint.link.program
from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence
from jitlint.base.result import AnalysisError, CheckResult
from jitlint.driver import run
from jitlint.driver.processes.deep import on_deep_stack
from jitlint.link.domains.timing.buffers import Writes
from jitlint.link.engine.machine import Machine
from jitlint.link.program import Analysis, ModuleInput, Options
from tests.conftest import Write

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"

Seen = list[tuple[list[ModuleInput], Options]]


def _check(*paths: str, settings: Settings | None = None, **options: bool) -> CheckResult:
    return run.check(list(paths) or ["."], settings or Settings(), jobs=1, **options)


def _lines(result: CheckResult) -> list[str]:
    return [f"{f.path}:{f.span.line}:{f.span.column} {f.code}" for f in result.findings]


def _age(root: Path) -> None:
    """Make all files look old enough to be trusted by their time stamps."""
    for path in root.rglob("*.py"):
        os.utime(path, ns=(10**18, 10**18))


def test_a_finding_from_end_to_end(project: Write, simple_analysis: Seen) -> None:
    project({"pkg/__init__.py": "", "pkg/a.py": BRANCH})
    result = _check()
    (finding,) = result.findings
    assert _lines(result) == ["pkg/a.py:6:8 JIT101"]
    assert finding.message == "`if` needs a concrete True or False, but `x > 0` is traced"
    assert [(step.path, step.span.line) for step in finding.related] == [("pkg/a.py", 5)]
    assert (result.statistics.files, result.statistics.lines, result.statistics.jit_sites) == (2, 8, 2)


def test_files_that_cannot_concern_jax_are_not_analysed(project: Write, simple_analysis: Seen) -> None:
    project(
        {
            "uses.py": "import jax\nimport helper",
            "helper.py": "import deeper",
            "deeper.py": "",
            "caller.py": "import uses",
            "island.py": "import bridge",
            "bridge.py": "",
            "pragma.py": "# jitlint: traced",
        }
    )
    _check()
    assert sorted(sorted(module.name for module in unit) for unit, _ in simple_analysis) == [
        ["caller", "deeper", "helper", "uses"],
        ["pragma"],
    ]
    simple_analysis.clear()
    _check(settings=Settings(traced=("island.*",)), use_cache=False)
    assert sum(len(unit) for unit, _ in simple_analysis) == 7


def test_a_file_that_is_named_itself_is_always_looked_into(project: Write, simple_analysis: Seen) -> None:
    project({"broken.py": "def f(:\n"})
    assert [problem.code for problem in _check("broken.py").problems] == ["JIT001"]
    assert _check(".").problems == []


def test_of_a_broken_file_the_other_statements_are_looked_at(project: Write) -> None:
    source = "import jax\n@jax.jit\ndef f(x):\n    return float(x)\n\n\ndef g(:\n    pass\n"
    project({"half.py": source})
    for _ in range(2):  # what is remembered is not taken for the whole
        found = _check("half.py")
        assert [(finding.code, finding.span.line) for finding in found.findings] == [("JIT108", 4)]
        assert [(problem.code, problem.span.line) for problem in found.problems] == [("JIT001", 7)]


def test_names_that_are_not_text_are_no_obstacle(project: Write, simple_analysis: Seen) -> None:
    root = project({"a.py": BRANCH})
    (root / os.fsdecode(b"b\xff.py")).write_text(BRANCH)
    _age(root)
    for _ in range(2):
        assert len(_check().findings) == 2


def test_imported_files_are_context_and_not_reported(project: Write, simple_analysis: Seen) -> None:
    project({"pkg/__init__.py": "", "pkg/a.py": "from pkg import b\n" + BRANCH, "pkg/b.py": BRANCH})
    assert _lines(_check("pkg/a.py")) == ["pkg/a.py:7:8 JIT101"]
    assert {module.name for module in simple_analysis[-1][0]} == {"pkg", "pkg.a", "pkg.b"}
    assert _lines(_check("pkg/b.py")) == ["pkg/b.py:6:8 JIT101"]


def test_modules_arrive_with_their_names_and_roles(project: Write, simple_analysis: Seen) -> None:
    project({"src/pkg/__init__.py": BRANCH, "tests/test_a.py": "import jax"})
    _check()
    modules = {module.name: module for unit, _ in simple_analysis for module in unit}
    assert (modules["pkg"].is_package, modules["pkg"].is_test) == (True, False)
    assert (modules["tests.test_a"].is_package, modules["tests.test_a"].is_test) == (False, True)
    assert modules["pkg"].path == "src/pkg/__init__.py"


def test_what_cannot_be_analysed_is_a_problem_and_the_rest_goes_on(
    project: Write, simple_analysis: Seen
) -> None:
    root = project({"good.py": BRANCH, "broken.py": "import jax\ndef f(:\n"})
    (root / "latin.py").write_bytes(b"import jax\nx = '\xe9'\n")
    (root / "null.py").write_bytes(b"import jax\0")
    os.symlink("nowhere.py", root / "dangling.py")
    result = _check(".", "missing.py")
    assert _lines(result) == ["good.py:6:8 JIT101"]
    assert [(problem.path, problem.code) for problem in result.problems] == [
        ("broken.py", "JIT001"),
        ("dangling.py", "JIT002"),
        ("latin.py", "JIT002"),
        ("missing.py", "JIT002"),
        ("null.py", "JIT001"),
    ]


def test_an_unchanged_tree_is_answered_from_the_cache(project: Write, simple_analysis: Seen) -> None:
    root = project({"pkg/__init__.py": "", "pkg/a.py": BRANCH, "bad.py": "import jax\n(\n"})
    _age(root)
    first = _check()
    again = _check()
    assert len(simple_analysis) == 1
    assert (again.findings, again.problems) == (first.findings, first.problems)
    assert (first.statistics.cached, again.statistics.cached) == (False, True)
    # What only chooses among findings needs no new analysis, what changes the analysis does.
    assert _check(settings=Settings(ignore=("JIT101",))).findings == []
    assert len(simple_analysis) == 1
    _check(settings=Settings(min_confidence=Confidence.POSSIBLE))
    _check(settings=Settings(traced=("x",)))
    assert len(simple_analysis) == 3


def test_a_change_is_seen(project: Write, simple_analysis: Seen) -> None:
    root = project({"a.py": "import b\n" + BRANCH, "b.py": "import jax"})
    _age(root)
    _check("a.py")
    (root / "b.py").write_text("import jax # changed")
    _check("a.py")
    assert len(simple_analysis) == 1  # a comment says nothing
    (root / "b.py").write_text("import jax; changed = 1")
    _check("a.py")
    assert len(simple_analysis) == 2
    (root / "a.py").write_text(BRANCH)
    assert _lines(_check("a.py")) == ["a.py:6:8 JIT101"]


def test_the_cache_survives_moving_the_tree(
    project: Write, simple_analysis: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"old/setup.py": "", "old/a.py": BRANCH})
    _age(root)
    assert _lines(_check("old")) == ["old/a.py:6:8 JIT101"]
    (root / "old").rename(root / "new")
    monkeypatch.chdir(root / "new")
    assert _lines(_check()) == ["a.py:6:8 JIT101"]
    assert len(simple_analysis) == 1


def test_without_cache_nothing_is_written(project: Write, simple_analysis: Seen) -> None:
    root = project({"a.py": BRANCH})
    _check(use_cache=False)
    _check(use_cache=False)
    assert len(simple_analysis) == 2
    assert not (root / ".jitlint_cache").exists()


def test_comments_and_confidence_reduce_findings(project: Write, simple_analysis: Seen) -> None:
    project(
        {
            "a.py": BRANCH.replace("> 0:", "> 0:  # noqa: JIT101"),
            "b.py": BRANCH.replace("def f", "def maybe"),
        }
    )
    assert _lines(_check()) == []
    assert _lines(_check(settings=Settings(min_confidence=Confidence.POSSIBLE))) == ["b.py:6:8 JIT101"]


def test_paths_outside_the_working_directory(
    project: Write, simple_analysis: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = project({"a.py": BRANCH, "sub/x.txt": ""})
    monkeypatch.chdir(root / "sub")
    assert _lines(_check("..")) == ["../a.py:6:8 JIT101"]


def test_an_encoding_line_and_a_byte_order_mark_are_honoured(project: Write, simple_analysis: Seen) -> None:
    root = project({})
    (root / "a.py").write_bytes(b"# -*- coding: latin-1 -*-\n# \xe9\n" + BRANCH.encode())
    (root / "b.py").write_bytes(b"\xef\xbb\xbf" + BRANCH.encode())
    (root / "c.py").write_bytes(BRANCH.replace("\n", "\r\n").encode())
    assert _lines(_check()) == ["a.py:8:8 JIT101", "b.py:6:8 JIT101", "c.py:6:8 JIT101"]


def test_processes_give_the_same_result(project: Write, simple_analysis: Seen) -> None:
    project({f"m{i}.py": BRANCH + f"# {'-' * 20_000}\n" for i in range(12)})
    alone = run.check(["."], Settings(), jobs=1, use_cache=False)
    together = run.check(["."], Settings(), jobs=3, use_cache=False)
    assert len(alone.findings) == 12
    assert together.findings == alone.findings


def test_traced_functions(project: Write, simple_analysis: Seen) -> None:
    root = project({"a.py": "import b\n" + BRANCH, "b.py": BRANCH})
    _age(root)
    for _ in range(2):
        (row,) = run.traced(["a.py"], Settings(), jobs=1).rows
        assert (row.path, row.qualname, row.line, row.modes) == ("a.py", "f", 5, ("staged",))
        assert row.parameters == (("x", "traced"),)
        assert [(reason.path, reason.line) for reason in row.because] == [("a.py", 6)]
    assert len(simple_analysis) == 1
    assert simple_analysis[0][1].include_possible


def test_a_mistake_in_the_analysis_is_reported_as_such(
    project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(modules: list[ModuleInput], options: Options) -> Analysis:
        raise KeyError("lost")

    monkeypatch.setattr(jitlint.link.program, "analyse", fail)
    project({"a.py": BRANCH})
    with pytest.raises(AnalysisError, match="KeyError: 'lost'"):
        _check()


def test_a_mistake_in_one_phase_costs_only_that_phase(
    project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(machine: Machine, writes: Writes) -> None:
        raise KeyError("lost")

    monkeypatch.delenv("JITLINT_DEBUG", raising=False)
    monkeypatch.setattr(jitlint.link.domains.timing.check, "check", fail)
    project({"a.py": BRANCH})
    result = _check()
    assert _lines(result) == ["a.py:6:8 JIT101"]
    (problem,) = result.problems
    assert (problem.path, problem.code) == (".", "JIT003")
    assert "all files together, please report it (KeyError: 'lost')" in problem.message


def test_deep_recursion_has_room() -> None:
    def depth(n: int) -> int:
        return 0 if n == 0 else 1 + depth(n - 1)

    limit = sys.getrecursionlimit()
    assert on_deep_stack(lambda: depth(20_000)) == 20_000
    assert sys.getrecursionlimit() == limit
    with pytest.raises(ZeroDivisionError):
        on_deep_stack(lambda: 1 // 0)


def test_the_warm_path_imports_neither_parser_nor_interpreter(project: Write) -> None:
    root = project({"a.py": BRANCH})
    _age(root)
    settings = replace(Settings())
    run.check(["."], settings, jobs=1)
    script = (
        "import sys\n"
        "from jitlint.frontends.cli import main\n"
        "main(['check', '-q', '.'])\n"
        "print([m for m in ('libcst', 'jax', 'jitlint.link', 'jitlint.catalogue.load') if m in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["check", "--help"]])
def test_what_needs_no_files_loads_next_to_nothing(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from jitlint.frontends.cli import main\n"
        f"main({arguments!r})\n"
        "heavy = ('libcst', 'msgspec', 'packaging', 'jitlint.rules', 'jitlint.link', 'jitlint.catalogue', 'jitlint.driver.run')\n"
        "print([m for m in heavy if m in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
