"""jitlint as a flake8 plug-in: the same findings, under flake8's own rules of selection and silence."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from jitlint.frontends.flake8_plugin import Plugin
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
HELPER = "def g(x):\n    if x > 0:\n        return x\n    return -x\n"
CALLER = "import jax\nfrom helper import g\n\nprint(jax.jit(g)(1.0))\n"


def _is_registered() -> bool:
    points = importlib.metadata.entry_points(group="flake8.extension")
    return any(point.name == "JIT" for point in points)


pytestmark = pytest.mark.skipif(
    not _is_registered(), reason="jitlint is not installed, so flake8 cannot find it"
)


def _run(command: list[str], cwd: Path, text: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )


def _flake8(cwd: Path, *options: str, text: str | None = None) -> list[str]:
    """Lines ``path:line:column: code`` of what flake8 reports."""
    done = _run(["flake8", "--select", "JIT", *options], cwd, text)
    assert done.stderr == ""
    return [" ".join(line.split(" ")[:2]).removeprefix("./") for line in done.stdout.splitlines()]


def test_both_report_the_same_on_all_fixtures() -> None:
    """Code, line and column of every finding, the fixtures' own ``noqa`` comments included."""
    shown = set(_flake8(ROOT, "fixtures", "--jitlint-no-cache"))
    done = _run(["jitlint", "check", "fixtures", "--no-cache", "--output-format", "json"], ROOT)
    expected = {f"{f['path']}:{f['line']}:{f['column']}: {f['code']}" for f in json.loads(done.stdout)}
    assert len(expected) > 500
    assert shown == expected


def test_message_and_exit_code(project: Write) -> None:
    root = project({"a.py": BRANCH})
    done = _run(["flake8", "--select", "JIT"], root)
    assert done.returncode == 1
    assert done.stdout.startswith("./a.py:6:8: JIT101 `if` needs a concrete True or False")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_one_file_is_judged_with_its_callers(project: Write, jobs: str) -> None:
    root = project({"helper.py": HELPER, "caller.py": CALLER})
    assert _flake8(root, "-j", jobs) == ["helper.py:2:8: JIT101"]
    assert _flake8(root, "-j", jobs, "helper.py") == ["helper.py:2:8: JIT101"]
    assert _flake8(root, "-j", jobs, "caller.py") == ["caller.py:4:7: JIT101"]


def test_what_our_configuration_excludes_is_left_out_however_it_is_named(project: Write) -> None:
    root = project({"jitlint.toml": 'exclude = ["gen/"]\n', "gen/a.py": BRANCH, "b.py": BRANCH})
    assert _flake8(root) == _flake8(root, "gen/a.py", "gen", "b.py") == ["b.py:6:8: JIT101"]
    assert _flake8(root, "--stdin-display-name", "gen/a.py", "-", text=BRANCH) == []


def test_environments_are_left_out_however_their_files_are_named(project: Write) -> None:
    packages = ".venv/lib/python3.11/site-packages"
    root = project({f"{packages}/helper.py": HELPER, f"{packages}/caller.py": CALLER, "a.py": BRANCH})
    assert _flake8(root, f"{packages}/helper.py", f"{packages}/caller.py", "a.py") == ["a.py:6:8: JIT101"]
    assert _flake8(root, ".") == ["a.py:6:8: JIT101"]


def test_what_unsaved_text_brings_about_in_another_file_is_shown_in_it(project: Write) -> None:
    root = project({"helper.py": HELPER, "caller.py": CALLER})
    assert _flake8(root, "--stdin-display-name", "caller.py", "-", text="\n" + CALLER) == [
        "caller.py:5:7: JIT101"
    ]


def test_unsaved_text_takes_the_place_of_the_file(project: Write) -> None:
    root = project({"helper.py": "", "caller.py": CALLER})
    assert _flake8(root, "--stdin-display-name", "helper.py", "-", text=HELPER) == ["helper.py:2:8: JIT101"]
    assert _flake8(root, "--stdin-display-name", "new.py", "-", text=BRANCH) == ["new.py:6:8: JIT101"]
    assert _flake8(root, "-", text=BRANCH) == ["stdin:6:8: JIT101"]


@pytest.mark.parametrize(
    ("options", "config", "shown"),
    [
        ([], "", True),
        (["--ignore", "JIT101"], "", False),
        (["--extend-ignore", "JIT1"], "", False),
        (["--per-file-ignores", "a.py:JIT101"], "", False),
        (["--select", "E"], "", False),
        (["--select", "JIT2"], "", False),
        ([], "[flake8]\nextend-ignore = JIT101\n", False),
        ([], "[flake8]\njitlint-config = other.toml\n", False),
    ],
)
def test_selection_is_that_of_flake8(project: Write, options: list[str], config: str, shown: bool) -> None:
    root = project({"a.py": BRANCH, ".flake8": config, "other.toml": 'ignore = ["JIT1"]'})
    assert bool(_flake8(root, *options)) is shown


POSSIBLE = "import jax\nimport jax.numpy as jnp\n\n\ndef f(x: jax.Array):\n    y = jnp.sin(x)\n    if y > 0:\n        return y\n    return -y\n"
# Our options: files, value, and the findings without and with it.
OPTIONS = {
    "jitlint-min-confidence": ({"a.py": POSSIBLE}, "possible", [], ["a.py:7:8: JIT101"]),
    "jitlint-min-severity": (
        {"a.py": "import jax.numpy as np\n\nprint(np.zeros(3))\n"},
        "info",
        [],
        ["a.py:1:1: JIT702"],
    ),
    "jitlint-severity": (  # the old name
        {"a.py": "import jax.numpy as np\n\nprint(np.zeros(3))\n"},
        "info",
        [],
        ["a.py:1:1: JIT702"],
    ),
    "jitlint-config": ({"a.py": BRANCH, "b.toml": 'ignore = ["JIT1"]'}, "b.toml", ["a.py:6:8: JIT101"], []),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_our_options_change_what_is_found(project: Write, name: str) -> None:
    files, value, before, after = OPTIONS[name]
    root = project(files)
    assert _flake8(root) == before
    assert _flake8(root, f"--{name}", value) == after
    project({".flake8": f"[flake8]\n{name} = {value}\n"})
    assert _flake8(root) == after


def test_no_cache_on_request(project: Write) -> None:
    root = project({"a.py": BRANCH})
    _flake8(root, "--jitlint-no-cache")
    project({".flake8": "[flake8]\njitlint-no-cache = true\n"})
    _flake8(root)
    assert not (root / ".jitlint_cache").exists()
    project({".flake8": ""})
    _flake8(root)
    assert (root / ".jitlint_cache").exists()


def test_the_baseline_of_the_configuration_holds(project: Write) -> None:
    root = project({"a.py": BRANCH, "jitlint.toml": 'baseline = "known.json"\n'})
    assert _run(["jitlint", "check", "--write-baseline", "known.json"], root).returncode == 0
    assert _flake8(root) == []
    more = BRANCH + BRANCH.replace("def f", "def g").replace("import jax\n", "")
    assert _flake8(root, "--stdin-display-name", "a.py", "-", text=more) == ["a.py:13:8: JIT101"]
    project({"a.py": more})
    assert _flake8(root) == ["a.py:13:8: JIT101"]


def test_no_option_is_left_out() -> None:
    class Manager:
        names: ClassVar[list[str]] = []

        def add_option(self, name: str, **details: object) -> None:
            assert details["parse_from_config"]
            self.names.append(name.removeprefix("--"))

    Plugin.add_options(Manager())
    assert set(Manager.names) == {*OPTIONS, "jitlint-no-cache"}


@pytest.mark.parametrize(
    ("comment", "shown"),
    [
        ("# noqa", False),
        ("# noqa: JIT101", False),
        ("# noqa: JIT102", True),
        ("# jitlint: ignore[JIT101]", False),
    ],
)
def test_comments(project: Write, comment: str, shown: bool) -> None:
    root = project({"a.py": BRANCH.replace("if x > 0:", f"if x > 0:  {comment}")})
    assert bool(_flake8(root)) is shown
    assert bool(_flake8(root, "--disable-noqa")) is (shown or "noqa" in comment)


def test_bad_configuration_is_a_sentence(project: Write) -> None:
    root = project({"a.py": BRANCH, "jitlint.toml": "selct = 1\n"})
    done = _run(["flake8"], root)
    assert done.returncode == 1
    assert "unknown key 'selct'" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_syntax_error_is_left_to_flake8(project: Write) -> None:
    root = project({"a.py": "def f(:\n"})
    done = _run(["flake8"], root)
    assert "E999" in done.stdout
    assert "JIT" not in done.stdout


def test_the_message_says_first_why_the_code_is_traced(project: Write) -> None:
    root = project({"helper.py": HELPER, "caller.py": CALLER})
    done = _run(["flake8", "--select", "JIT", "helper.py"], root)
    assert done.stdout.strip().endswith(
        "is traced (traced because caller.py:4: `g` is jitted with `jax.jit` here)"
    )


def test_a_syntax_error_is_shown_beside_our_codes(project: Write) -> None:
    """flake8 asks no plug-in about a file that cannot be parsed; it says so itself, where that is selected."""
    root = project({"a.py": BRANCH + "def (\n"})
    done = _run(["flake8", "--select", "JIT,E9", "a.py"], root)
    assert re.match(r"(\./)?a\.py:9:\d+: E999 ", done.stdout)
