"""A baseline loses nothing that a run has not looked for, and takes nothing in without a word."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.fingerprint import fingerprints
from jitlint.frontends.cli import main
from tests.conftest import Write

Capture = pytest.CaptureFixture[str]

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
FLOAT = "import jax\n\n\n@jax.jit\ndef g(x):\n    return float(x)\n"
PRINTS = "import jax\n\n\n@jax.jit\ndef h(x):\n    print(x)\n    return x\n"


def _said(capsys: Capture, *arguments: str) -> str:
    capsys.readouterr()
    main(["check", *arguments])
    return capsys.readouterr().err


def _listed(root: Path) -> list[tuple[str, str]]:
    entries = json.loads((root / "known.json").read_text())["findings"]
    return [(entry["path"], entry["code"]) for entry in entries]


def test_entries_of_files_that_were_not_named_are_kept(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH, "b.py": FLOAT})
    assert _said(capsys, "--write-baseline", "known.json") == "Wrote 2 findings to known.json.\n"
    (root / "a.py").write_text(FLOAT)
    assert _said(capsys, "a.py", "--write-baseline", "known.json") == (
        "Wrote 2 findings to known.json: 1 new, 1 dropped, 1 kept that this run did not look for.\n"
    )
    assert _listed(root) == [("a.py", "JIT108"), ("b.py", "JIT108")]


@pytest.mark.parametrize(
    "options",
    [
        ["--select", "JIT101"],
        ["--ignore", "JIT301"],
        ["--min-severity", "error"],
        ["--per-file-ignores", "b.py:JIT3"],
    ],
    ids=" ".join,
)
def test_entries_of_what_is_not_selected_are_kept(
    options: list[str], project: Write, capsys: Capture
) -> None:
    root = project({"a.py": BRANCH, "b.py": PRINTS})
    _said(capsys, "--write-baseline", "known.json")
    assert "not there any more" not in _said(capsys, *options, "--baseline", "known.json")
    _said(capsys, *options, "--write-baseline", "known.json")
    assert _listed(root) == [("a.py", "JIT101"), ("b.py", "JIT301")]


def test_what_less_sure_runs_found_is_kept(project: Write, capsys: Capture) -> None:
    root = project(
        {"a.py": "def f(x):\n    if x.sum() > 0:\n        return x.T\n    return -x\n\n\nimport jax\n"}
    )
    _said(capsys, "--min-confidence", "possible", "--write-baseline", "known.json")
    before = _listed(root)
    assert before == [("a.py", "JIT101")]
    assert (
        _said(capsys, "--prune-baseline", "--baseline", "known.json") == "Dropped nothing from known.json.\n"
    )
    assert _listed(root) == before


def test_a_new_finding_is_counted_when_it_is_taken_in(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH})
    _said(capsys, "--write-baseline", "known.json")
    (root / "a.py").write_text(BRANCH + FLOAT)
    assert _said(capsys, "--write-baseline", "known.json") == "Wrote 2 findings to known.json: 1 new.\n"


def test_pruning_drops_what_is_gone_and_takes_nothing_in(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH, "b.py": FLOAT})
    _said(capsys, "--write-baseline", "known.json")
    (root / "a.py").write_text(FLOAT)
    capsys.readouterr()
    assert main(["check", "--baseline", "known.json", "--prune-baseline"]) == 1
    told = capsys.readouterr()
    assert told.err == "Dropped 1 finding from known.json.\n"
    assert "a.py:6:12: error[JIT108]" in told.out
    assert _listed(root) == [("b.py", "JIT108")]


def test_what_stays_listed_stays_in_its_place(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH + PRINTS + FLOAT, "jitlint.toml": 'baseline = "known.json"\n'})
    _said(capsys, "--write-baseline", "known.json")
    before = (root / "known.json").read_text()
    for options in (["--select", "JIT108"], ["--select", "JIT301"]):
        _said(capsys, *options, "--write-baseline", "known.json")
        assert (root / "known.json").read_text() == before
    (root / "a.py").write_text(BRANCH + FLOAT)
    assert _said(capsys, "--prune-baseline") == "Dropped 1 finding from known.json.\n"


def test_the_entries_of_a_deleted_file_are_gone(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH, "pkg/b.py": FLOAT})
    _said(capsys, "--write-baseline", "known.json")
    (root / "pkg" / "b.py").unlink()
    said = "jitlint: warning: 1 finding in the baseline is not there any more; --prune-baseline drops it\n"
    assert _said(capsys, "--baseline", "known.json") == said
    assert _said(capsys, "a.py", "--baseline", "known.json") == ""
    _said(capsys, "--baseline", "known.json", "--prune-baseline")
    assert _listed(root) == [("a.py", "JIT101")]


def test_what_is_excluded_now_is_not_gone(project: Write, capsys: Capture) -> None:
    root = project({"a.py": BRANCH, "b.py": FLOAT})
    _said(capsys, "--write-baseline", "known.json")
    _said(capsys, "--exclude", "b.py", "--baseline", "known.json", "--prune-baseline")
    assert len(_listed(root)) == 2


@pytest.mark.parametrize("broken", ["import jax\ndef (\n", "import jax\nfrom a import f\nx = = 1\n"])
def test_nothing_is_gone_while_something_cannot_be_analysed(
    broken: str, project: Write, capsys: Capture
) -> None:
    root = project({"a.py": BRANCH, "b.py": FLOAT})
    _said(capsys, "--write-baseline", "known.json")
    (root / "a.py").write_text("import jax\n")
    (root / "b.py").write_text(broken)
    assert "not there any more" not in _said(capsys, "--baseline", "known.json")
    assert "known.json: nothing is dropped" in _said(capsys, "--baseline", "known.json", "--prune-baseline")
    _said(capsys, "--write-baseline", "known.json")
    assert len(_listed(root)) == 2


def test_a_finding_is_not_gone_because_nobody_looked_for_callers(project: Write, capsys: Capture) -> None:
    root = project(
        {
            "lib.py": "def f(x):\n    return float(x)\n",
            "use.py": "import jax\nfrom lib import f\n\njax.jit(f)(1.0)\n",
        }
    )
    _said(capsys, "--write-baseline", "known.json")
    _said(capsys, "lib.py", "--no-context", "--baseline", "known.json", "--prune-baseline")
    assert _listed(root) == [("lib.py", "JIT108")]


TIDY = """\
import jax
import jax.numpy as jnp


@jax.jit
def f(x, y):
    if jnp.any(x > 0, axis=0):
        return x['a']
    return float(x + {"k": 1}["k"])
"""
UNTIDY = """\
import jax
import jax.numpy as jnp


@jax.jit
def f( x,y ):
    if jnp.any(
        x>0,  # what is positive
        axis = 0,
    ):
        return x["a"]
    loss = float(x
                 +{'k':1,}[ 'k' ])
    return loss
"""


def test_another_layout_brings_nothing_back(project: Write, capsys: Capture) -> None:
    root = project({"a.py": TIDY})
    _said(capsys, "--write-baseline", "known.json")
    assert len(_listed(root)) >= 2
    (root / "a.py").write_text(UNTIDY)
    capsys.readouterr()
    assert main(["check", "--baseline", "known.json"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f(x)", "f( x, )", True),
        ("f('a')", 'f("a")', True),
        ("f('''a''')", 'f("""a""")', True),
        ("f(U'a', B'b')", "f('a', b'b')", True),
        ("f('a b')", "f('a  b')", False),
        ("f('#')", "f('')", False),
        ("f('\"')", "f('')", False),
        ("f(x)", "f(y)", False),
        ("not x", "notx", False),
        ("x  # a", "x", True),
        ("f(r'\\')[0]", "f(r'\\') [0]", True),
    ],
)
def test_what_is_the_same_code(one: str, other: str, same: bool) -> None:
    def mark(text: str) -> str:
        finding = Finding(
            "JIT101", "", Severity.ERROR, Confidence.CERTAIN, "", "a.py", Span(1, 1, 1, len(text) + 1)
        )
        return fingerprints([finding], lambda path: [text], str)[0]

    assert (mark(one) == mark(other)) is same


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_of_two_equal_findings_the_one_on_a_changed_line_is_new(project: Write, capsys: Capture) -> None:
    old = "import jax\n\n\n@jax.jit\ndef f(x, y):\n    a = float(x)\n    return y, a\n"
    root = project({"a.py": old})
    _said(capsys, "--write-baseline", "known.json")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=n", "-c", "user.email=e@x.org", "commit", "-qm", "1"],
    ):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    for line in ("    b = float(x)\n    a = float(x)\n", "    a = float(x)\n    b = float(x)\n"):
        (root / "a.py").write_text(old.replace("    a = float(x)\n", line))
        capsys.readouterr()
        assert (
            main(["check", "--baseline", "known.json", "--diff", "HEAD", "--output-format", "concise"]) == 1
        )
        place = 6 + line.splitlines().index("    b = float(x)")
        assert capsys.readouterr().out.startswith(f"a.py:{place}:")
