"""Every option of `check` and every key of the configuration does something: a table, and a check of its completeness."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

from jitlint.base.config import KEYS
from jitlint.frontends.check_command import check
from jitlint.frontends.cli import cli, main
from jitlint.record.store import RecordedError, RecordedFunction, Store, digest, write_store
from tests.conftest import Write

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
RANGE = "import jax\n\n\n@jax.jit\ndef g(n):\n    for i in range(n):\n        pass\n    return n\n"
BOTH = BRANCH + RANGE.replace("import jax\n", "")
POSSIBLE = "import jax\nimport jax.numpy as jnp\n\n\ndef f(x: jax.Array):\n    y = jnp.sin(x)\n    if y > 0:\n        return y\n    return -y\n"
IDIOM = "import jax.numpy as np\n\nprint(np.zeros(3))\n"
CALLED = "def f(x):\n    import jax.numpy as jnp\n    y = jnp.sin(x)\n    if y > 0:\n        return y\n    return -y\n"
WRAPPED = "from mine import fast\n\n\n@fast\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
MINE = '[wrap."mine.fast"]\nparams = "function"\nfunction = "function"\nmodes = "S"\n'
UNUSED = "import jax\n\nx = 1  # jitlint: ignore[JIT101]\n"


@dataclass(frozen=True)
class Effect:
    """Findings (``path:line code``) without and with the option."""

    files: dict[str, str]
    option: list[str]
    before: str
    after: str
    config: str = ""
    common: list[str] = field(default_factory=list)


PRINTING = "import jax\n\n\n@jax.jit\ndef f(x):\n    print(x)\n    return x\n\n\nf(1.0)\n"
TWO = {"a.py": BRANCH, "b/c.py": RANGE}
ALL = "a.py:6 JIT101, b/c.py:6 JIT106"
EFFECTS: dict[str, Effect] = {
    "select": Effect(TWO, ["--select", "JIT106"], ALL, "b/c.py:6 JIT106", 'select = ["traced-range"]'),
    "extend-select": Effect(
        {"a.py": BRANCH, "d.py": UNUSED},
        ["--extend-select", "JIT004"],
        "a.py:6 JIT101",
        "a.py:6 JIT101, d.py:3 JIT004",
        'extend-select = ["unused-suppression"]',
    ),
    "ignore": Effect(TWO, ["--ignore", "JIT106"], ALL, "a.py:6 JIT101", 'ignore = ["JIT106"]'),
    "extend-ignore": Effect(TWO, ["--extend-ignore", "JIT1"], ALL, "", 'extend-ignore = ["JIT1"]'),
    "per-file-ignores": Effect(
        TWO,
        ["--per-file-ignores", "b/*.py:JIT106,JIT2"],
        ALL,
        "a.py:6 JIT101",
        'per-file-ignores = {"b/" = ["JIT106"]}',
    ),
    "min-confidence": Effect(
        {"a.py": POSSIBLE},
        ["--min-confidence", "possible"],
        "",
        "a.py:7 JIT101",
        'min-confidence = "possible"',
    ),
    "min-severity": Effect(
        {"a.py": IDIOM}, ["--min-severity", "info"], "", "a.py:1 JIT702", 'min-severity = "info"'
    ),
    "tests": Effect(
        {"a.py": PRINTING, "tests/test_a.py": PRINTING, "examples/b.py": PRINTING},
        ["--tests", "all"],
        "a.py:6 JIT301, examples/b.py:6 JIT301",
        "a.py:6 JIT301, examples/b.py:6 JIT301, tests/test_a.py:6 JIT301",
        'tests = "all"',
    ),
    "exclude": Effect(TWO, ["--exclude", "b/"], ALL, "a.py:6 JIT101", 'exclude = ["b/"]'),
    "extend-exclude": Effect(
        TWO, ["--extend-exclude", "a.py"], ALL, "b/c.py:6 JIT106", 'extend-exclude = ["a.py"]'
    ),
    "force-exclude": Effect(
        TWO,
        ["--force-exclude"],
        ALL,
        "a.py:6 JIT101",
        "force-exclude = true",
        common=["a.py", "b/c.py", "--exclude", "b/"],
    ),
    "config": Effect(
        {**TWO, "other.toml": 'ignore = ["JIT101"]'}, ["--config", "other.toml"], ALL, "b/c.py:6 JIT106"
    ),
    "isolated": Effect({**TWO, "jitlint.toml": 'ignore = ["JIT1"]'}, ["--isolated"], "", ALL),
    "context": Effect(
        {
            "a.py": "import jax\nfrom b import f\n\nprint(jax.jit(f)(1.0))\n",
            "b.py": CALLED,
            "c.py": "import b\n",
            "jitlint.toml": "",
        },
        ["--context", "c.py"],
        "b.py:4 JIT101",
        "",
        common=["b.py"],
    ),
    "no-context": Effect(
        {
            "a.py": "import jax\nfrom b import f\n\nprint(jax.jit(f)(1.0))\n",
            "b.py": CALLED,
            "jitlint.toml": "",
        },
        ["--no-context"],
        "b.py:4 JIT101",
        "",
        common=["b.py"],
    ),
    "extend": Effect(
        {**TWO, "base.toml": 'ignore = ["JIT106"]'}, [], ALL, "a.py:6 JIT101", 'extend = "base.toml"'
    ),
    "jax-version": Effect(
        {"a.py": "import jax\n\ndouble = jax.tree_map(lambda x: 2 * x, [1])\n"},
        ["--jax-version", "0.4.30"],
        "a.py:3 JIT511",
        "",
        'jax-version = "0.4.30"',
    ),
    "from-jax-version": Effect(
        {"a.py": "import jax\n\ndouble = jax.tree_map(lambda x: 2 * x, [1])\n"},
        ["--from-jax-version", "0.4.30"],
        "a.py:3 JIT511",
        "a.py:3 JIT513",
        'from-jax-version = "0.4.30"',
    ),
    "traced": Effect({"a.py": CALLED}, [], "", "a.py:4 JIT101", 'traced = ["a.f"]'),
    "documents": Effect(
        {"docs/a.md": f"```python\n{BRANCH}```\n", "b.md": f"```python\n{BRANCH}```\n"},
        [],
        "",
        "docs/a.md:7 JIT101",
        'documents = ["docs/"]',
    ),
    "catalogue": Effect({"a.py": WRAPPED, "m.toml": MINE}, [], "", "a.py:6 JIT101", 'catalogue = ["m.toml"]'),
}


def _findings(capsys: pytest.CaptureFixture[str], options: list[str]) -> str:
    main(["check", "--output-format", "json", "--no-cache", *options])
    found = json.loads(capsys.readouterr().out)
    return ", ".join(f"{item['path']}:{item['line']} {item['code']}" for item in found)


@pytest.mark.parametrize("name", [name for name, effect in EFFECTS.items() if effect.option])
def test_options_change_what_is_found(name: str, project: Write, capsys: pytest.CaptureFixture[str]) -> None:
    effect = EFFECTS[name]
    project(effect.files)
    assert _findings(capsys, effect.common) == effect.before
    assert _findings(capsys, [*effect.common, *effect.option]) == effect.after


@pytest.mark.parametrize("name", [name for name, effect in EFFECTS.items() if effect.config])
def test_keys_change_what_is_found(name: str, project: Write, capsys: pytest.CaptureFixture[str]) -> None:
    effect = EFFECTS[name]
    project(effect.files)
    assert _findings(capsys, effect.common) == effect.before
    project({"jitlint.toml": effect.config + "\n"})
    assert _findings(capsys, effect.common) == effect.after


def test_errors_in_tests_are_shown_and_warnings_are_counted(
    project: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"tests/test_a.py": PRINTING, "tests/test_b.py": BRANCH})
    shown = _out(capsys)
    assert "JIT101" in shown
    assert shown.endswith("(2 files checked; 1 in tests, which `--tests all` shows).\n")
    (Path("tests") / "test_b.py").unlink()
    assert _out(capsys) == "No findings in 1 file (1 in tests, which `--tests all` shows).\n"
    assert main(["check", "--tests", "some"]) == 2
    assert "'some' says nothing about tests; use errors or all" in capsys.readouterr().err


def _out(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    main(["check", "--no-cache", *options])
    return capsys.readouterr().out


Test = Callable[[Path, pytest.CaptureFixture[str]], None]
OTHERS: dict[str, Test] = {}


def _covers(*names: str) -> Callable[[Test], Test]:
    def register(test: Test) -> Test:
        OTHERS.update(dict.fromkeys(names, test))
        return test

    return register


@_covers("output-format", "output-file")
def _formats(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        _out(capsys, "--output-format", name)
        for name in "full concise json jsonl github gitlab sarif junit".split()
    }
    assert len(texts) == 8
    assert all("JIT101" in text for text in texts)
    assert "JIT101" not in _out(capsys, "-o", "report.txt", "--output-format", "concise")
    assert (root / "report.txt").read_text(encoding="utf-8").startswith("a.py:6:8: JIT101 ")


@_covers("statistics")
def _statistics(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "whose function is known" in _out(capsys, "--statistics")
    assert "whose function is known" not in _out(capsys)


@_covers("show-path")
def _show_path(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is jitted" in _out(capsys, "--show-path", "--output-format", "concise")
    assert "is jitted" not in _out(capsys, "--output-format", "concise")


@_covers("stdin-filename")
def _standard_input(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RANGE.encode())))
        shown = _out(capsys, "-", "--stdin-filename", "a.py", "--output-format", "concise")
    assert shown.startswith("a.py:6:14: JIT106")
    assert "JIT101" not in shown


@_covers("baseline", "write-baseline", "prune-baseline")
def _baseline(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--write-baseline", "base.json"]) == 0
    assert "No findings" not in capsys.readouterr().out
    assert main(["check", "--baseline", "base.json"]) == 0
    (root / "a.py").write_text("import os\n\n" + BOTH, encoding="utf-8")
    capsys.readouterr()
    assert _out(capsys, "--baseline", "base.json", "--output-format", "concise", "-q").count("JIT10") == 1
    (root / "jitlint.toml").write_text('baseline = "base.json"\n', encoding="utf-8")
    assert _out(capsys, "--output-format", "concise", "-q").count("JIT10") == 1
    (root / "a.py").write_text("import jax\n", encoding="utf-8")
    main(["check"])
    said = "1 finding in the baseline is not there any more; --prune-baseline drops it"
    assert said in capsys.readouterr().err
    main(["check", "--prune-baseline"])
    assert "Dropped 1 finding from " in capsys.readouterr().err
    assert json.loads((root / "base.json").read_text(encoding="utf-8"))["findings"] == []


@_covers("diff")
def _diff(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "one")
    assert "JIT" not in _out(capsys, "--diff", "HEAD", "--output-format", "concise", "-q")
    (root / "a.py").write_text(BOTH, encoding="utf-8")
    (root / "new.py").write_text(BRANCH, encoding="utf-8")
    shown = _out(capsys, "--diff", "HEAD", "--output-format", "concise", "-q").splitlines()
    assert [line.split(" ")[0] for line in shown] == ["a.py:13:14:", "new.py:6:8:"]
    (root / "c.py").write_text(CALLED, encoding="utf-8")
    (root / "d.py").write_text("from c import f\n\nprint(f(1.0))\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-qm", "two")
    (root / "d.py").write_text("import jax\nfrom c import f\n\nprint(jax.jit(f)(1.0))\n", encoding="utf-8")
    shown = _out(capsys, "--diff", "HEAD", "--output-format", "concise", "-q").splitlines()
    assert [line.split(" ")[0] for line in shown] == ["d.py:4:7:"]  # the cause has changed
    assert shown[0].endswith("(c.py:4:8)")
    assert main(["check", "--diff", "nonsense"]) == 2
    assert "no commit 'nonsense'" in capsys.readouterr().err


@_covers("fix", "unsafe-fixes", "diff-fixes", "show-fixes", "confirm")
def _fixes(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "fix (unsafe)" in _out(capsys, "--show-fixes")
    assert "+    return jax.numpy.where(x > 0, x, -x)" in _out(capsys, "--diff-fixes", "--unsafe-fixes")
    assert main(["check", "--confirm"]) == 2
    assert "--confirm is for --fix or --diff-fixes" in capsys.readouterr().err
    assert main(["check", "--fix"]) == 1
    assert (root / "a.py").read_text(encoding="utf-8") == BRANCH
    assert main(["check", "--fix", "--unsafe-fixes"]) == 0
    assert "return jax.numpy.where(x > 0, x, -x)\n" in (root / "a.py").read_text(encoding="utf-8")


@_covers("add-noqa")
def _add_noqa(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--add-noqa"]) == 0
    assert "    if x > 0:  # noqa: JIT101\n" in (root / "a.py").read_text(encoding="utf-8")
    assert main(["check"]) == 0
    assert main(["check", "--add-noqa"]) == 0
    assert (root / "a.py").read_text(encoding="utf-8").count("noqa") == 1


def test_comments_are_not_written_for_what_the_baseline_knows(project: Write) -> None:
    root = project(TWO)
    assert main(["check", "a.py", "--write-baseline", "known.json"]) == 0
    assert main(["check", "--add-noqa", "--baseline", "known.json"]) == 0
    assert "noqa" not in (root / "a.py").read_text(encoding="utf-8")
    assert "# noqa: JIT106" in (root / "b" / "c.py").read_text(encoding="utf-8")


@_covers("show-refuted")
def _show_refuted(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = RecordedFunction("a.py", 4, "f", 1, lines=[6, 7], returned=[6, 7], held={"6": ["x"]})
    store = Store(functions=[function], digests={"a.py": digest(str(root / "a.py"))})
    write_store(store, str(root / ".jitlint_recorded.json"))
    assert main(["check", "--statistics"]) == 0
    shown = capsys.readouterr().out
    assert "(1 refuted by a recorded run, which `--show-refuted` shows)" in shown
    assert "findings refuted by a recorded run: 1" in shown
    assert "info[JIT101]" in _out(capsys, "--show-refuted")
    function.held = {}
    write_store(store, str(root / ".jitlint_recorded.json"))
    shown = " ".join(_out(capsys).split())
    assert "error[JIT101]" in shown
    assert "(a recorded run went through with other arguments)" in shown


@_covers("no-recorded")
def _no_recorded(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = RecordedFunction("a.py", 4, "f", 1, lines=[6, 7], returned=[6, 7], held={"6": ["x"]})
    store = Store(functions=[function], digests={"a.py": digest(str(root / "a.py"))})
    write_store(store, str(root / ".jitlint_recorded.json"))
    assert "JIT101" not in _out(capsys)
    assert "JIT101" in _out(capsys, "--no-recorded")
    unsaved = io.StringIO(BRANCH + "\n")
    unsaved.buffer = io.BytesIO((BRANCH + "\n").encode())  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", unsaved)
        assert "JIT101" in _out(capsys, "-", "--stdin-filename", "a.py")
    (root / "a.py").write_text(BRANCH + "\n", encoding="utf-8")
    assert "JIT101" in _out(capsys)
    (root / "a.py").write_text(BRANCH, encoding="utf-8")
    function.errors = [
        RecordedError("a.py", 6, "jax.errors.TracerBoolConversionError"),
        RecordedError("a.py", 7, "ValueError"),
    ]
    write_store(store, str(root / ".jitlint_recorded.json"))
    main(["check", "--no-cache"])
    shown = capsys.readouterr()
    assert "(a recorded run failed here)" in shown.out
    assert "a.py:7: missed: in a recorded run ValueError ended a trace" in shown.err


@_covers("show-files")
def _show_files(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "b.py").write_text("", encoding="utf-8")
    assert _out(capsys, "--show-files").splitlines() == ["a.py", "b.py"]


@_covers("show-settings")
def _show_settings(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "jitlint.toml").write_text(
        'ignore = ["JIT1"]\nper-file-ignores = {"a" = ["JIT2"]}\n', encoding="utf-8"
    )
    shown = _out(capsys, "--show-settings")
    assert 'ignore = ["JIT1"]' in shown
    assert 'per-file-ignores = {"a" = ["JIT2"]}' in shown
    assert all(key.name in shown for key in KEYS)


@_covers("exit-zero")
def _exit_zero(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["check"]), main(["check", "--exit-zero"])) == (1, 0)


@_covers("jobs", "no-cache")
def _cache_and_jobs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "JIT101" in _out(capsys, "--jobs", "2")
    assert main(["check", "--jobs", "0"]) == 2
    assert not (root / ".jitlint_cache").exists()
    main(["check"])
    assert (root / ".jitlint_cache").exists()


@_covers("shard")
def _shard(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(_out(capsys, "--shard", "1/2"))["shards"] == 2


@_covers("executor", "scheduler")
def _cluster(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in (["--executor", "dask"], ["--scheduler", "tcp://127.0.0.1:1"]):
        assert main(["check", *options]) == 2
        assert "--executor dask" in capsys.readouterr().err


@_covers("color")
def _color(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "\033[" in _out(capsys, "--color", "always")
    assert "\033[" not in _out(capsys, "--color", "never")


@_covers("quiet", "verbose")
def _verbosity(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Found 1 error" in _out(capsys)
    assert "Found" not in _out(capsys, "-q")
    main(["check", "-v"])
    assert "configuration: " in capsys.readouterr().err


@pytest.mark.parametrize("test", sorted(set(OTHERS.values()), key=lambda test: test.__name__))
def test_options_do_what_they_say(test: Test, project: Write, capsys: pytest.CaptureFixture[str]) -> None:
    test(project({"a.py": BRANCH}), capsys)


def test_no_option_and_no_key_is_left_out() -> None:
    options = {max(p.opts, key=len).lstrip("-") for p in check.params if isinstance(p, click.Option)}
    assert options == {n for n, e in EFFECTS.items() if e.option} | set(OTHERS)
    assert {key.name for key in KEYS} == {n for n, e in EFFECTS.items() if e.config} | {
        "baseline",
        "fixable",
        "unfixable",
    }


def test_other_commands(project: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = project({"a.py": BRANCH})
    main(["check"])
    assert main(["clean"]) == 0
    assert not (root / ".jitlint_cache").exists()
    assert main(["clean"]) == 0
    for shell in ("bash", "zsh", "fish"):
        capsys.readouterr()
        assert main(["completion", shell]) == 0
        assert "_JITLINT_COMPLETE" in capsys.readouterr().out
    assert {"check", "traced", "rules", "explain", "clean", "completion"} <= set(cli.commands)


def test_who_reads_of_a_removed_name_is_told_which_jax_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import jax\n\njax.tree_map(abs, [1])\n")

    def said(*options: str) -> str:
        command = [sys.executable, "-m", "jitlint", "check", "--isolated", "--no-cache", *options, "a.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    assert "JIT511" in said()
    assert said().splitlines()[-1].startswith("JAX: ")
    assert "JAX: 0.12.0 (" in said("--jax-version", "0.12.0")
    assert "JAX: " not in said("--jax-version", "0.4.20")
