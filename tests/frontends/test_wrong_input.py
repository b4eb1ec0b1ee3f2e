"""Whatever is wrong with what jitlint is given is said in a sentence, with the right exit code and without a traceback:
options, configuration, paths, encodings, comments, and files that change while they are looked at."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from jitlint.driver import pipeline
from jitlint.frontends.cli import main

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
FOUND = "a.py:6:8: error[JIT101]"


class Wrong(NamedTuple):
    """A command where `a.py` and other files are; what is said of it, and the exit code.

    files: contents by name; None makes a folder. blow: what happens to `a.py` once the run has looked at it.
    """

    command: str
    says: str
    code: int = 2
    files: Mapping[str, str | bytes | None] = {}
    blow: Callable[[Path], None] | None = None


def _config(text: str, says: str, code: int = 2) -> Wrong:
    return Wrong("check", says, code, {"jitlint.toml": text})


def _pyproject(text: str, says: str) -> Wrong:
    return Wrong("check", says, 2, {"pyproject.toml": text})


def _setup(text: str, says: str) -> Wrong:
    return Wrong("check", says, 2, {"setup.cfg": text})


def _source(data: str | bytes, says: str, code: int = 2) -> Wrong:
    return Wrong("check b.py", says, code, {"b.py": data})


def _comment(text: str, says: str) -> Wrong:
    """A comment that silences nothing, or not what it should."""
    return _source(BRANCH.replace("> 0:", f"> 0:  # {text}"), f"b.py:6:16: warning[JIT005] {says}", 1)


def _vanish(path: Path) -> None:
    path.unlink()


def _become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _change(path: Path) -> None:
    path.write_text("import jax\nx = 1\n")


def _nothing(option: str) -> Wrong:
    return Wrong(
        f"check {option} ''",
        f"jitlint: error: `{option}` is given nothing; is a variable of the shell not set?",
    )


SQUARE = "this comment silences nothing: after `ignore` come rules in square brackets"
WRONG: dict[str, Wrong] = {
    # ---------------------------------------------------------------- options
    "no revision": _nothing("--diff"),
    "no rules": _nothing("--select"),
    "a comma for rules": Wrong("check --ignore ,", "`--ignore` is given nothing"),
    "no patterns": _nothing("--exclude"),
    "no folder for callers": _nothing("--context"),
    "no baseline": _nothing("--baseline"),
    "no baseline to write": _nothing("--write-baseline"),
    "no configuration": _nothing("--config"),
    "no report": _nothing("--output-file"),
    "no name for standard input": _nothing("--stdin-filename"),
    "no version": _nothing("--jax-version"),
    "nothing to confirm with": Wrong("confirm --config ''", "`--config` is given nothing"),
    "an unknown option": Wrong("check --outputfromat=json", "no such option '--outputfromat'"),
    "an option that is nearly right": Wrong("check --output-fromat=json", "did you mean '--output-format'?"),
    "an option without its value": Wrong("check --select", "'--select' requires an argument"),
    "an unknown format": Wrong("check --output-format xml", "'xml' is not one of 'full', 'concise', 'json'"),
    "an unknown rule": Wrong(
        "check --select JIT999", "--select: 'JIT999' matches no rule; `jitlint rules` lists"
    ),
    "a rule that is nearly right": Wrong("check --ignore traced-brunch", "did you mean 'traced-branch'?"),
    "an unknown confidence": Wrong("check --min-confidence sure", "use possible, likely or certain"),
    "an unknown severity": Wrong("check --min-severity fatal", "use error, warning or info"),
    "no number of processes": Wrong("check --jobs many", "'--jobs': 'many' is not a valid integer"),
    "no processes at all": Wrong("check --jobs 0", "0 is not in the range"),
    "no version of JAX": Wrong("check --jax-version new", "'new' is not a version of JAX; write 0.6.2"),
    "a JAX that is not there yet": Wrong("check --jax-version 99.1", "jax-version: 99.1 is not known", 1),
    "a pattern without rules": Wrong("check --per-file-ignores a.py", "expected PATTERN:CODES, not 'a.py'"),
    "a pattern that is none": Wrong("check --exclude [", "--exclude: '[' is not a pattern as in .gitignore"),
    "a pattern that is none in the configuration": _pyproject(
        '[tool.jitlint]\nexclude = ["[a"]\n',
        "pyproject.toml: exclude: '[a' is not a pattern as in .gitignore",
    ),
    "a pattern of documents that is none": _config(
        'documents = ["["]\n', "jitlint.toml: documents: '[' is not a pattern as in .gitignore"
    ),
    "another file for a baseline": _pyproject(
        '[tool.jitlint]\nbaseline = "pyproject.toml"\n',
        "pyproject.toml: not a baseline, which is a file that",
    ),
    "a revision where no repository is": Wrong("check --diff HEAD", "--diff: not a git repository"),
    "a baseline that is not there": Wrong(
        "check --baseline x.json", "x.json: no such baseline; --write-baseline"
    ),
    "a baseline that is none": Wrong("check --baseline a.py", "a.py: not a baseline, which is a file that"),
    "a baseline of another time": Wrong(
        "check --baseline b.json",
        "a baseline of version 9, not 2; remove it and write a new one",
        2,
        {"b.json": '{"version": 9, "findings": []}'},
    ),
    "a baseline in the place of something else": Wrong(
        "check --write-baseline a.py",
        "a.py: not a baseline, which is a file that --write-baseline has written",
    ),
    "a baseline of what has changed": Wrong(
        "check --write-baseline b.json --diff HEAD", "--write-baseline and --diff exclude each other"
    ),
    "a baseline written and pruned": Wrong(
        "check --write-baseline b.json --prune-baseline",
        "--write-baseline and --prune-baseline exclude each other",
    ),
    "no baseline to prune": Wrong(
        "check --prune-baseline", "--prune-baseline needs a baseline: `--baseline FILE`"
    ),
    "fixes with a baseline pruned": Wrong(
        "check --fix --baseline b.json --prune-baseline", "--fix cannot be combined with --prune-baseline"
    ),
    "a report into a folder that is not there": Wrong(
        "check -o x/y.txt", "x/y.txt: cannot be written: No such file"
    ),
    "a report into a folder": Wrong("check -o .", ".: cannot be written: Is a directory"),
    "a format for a file": Wrong(
        "check -o json", "written to a file called json; `--output-format json` chooses", 1
    ),
    "a name without standard input": Wrong(
        "check --stdin-filename a.py", "--stdin-filename is for `-`, which is not"
    ),
    "standard input among others": Wrong("check - a.py", "`-` stands alone: no other paths beside it"),
    "a configuration and none": Wrong(
        "check --config a.toml --isolated", "--config and --isolated exclude each other"
    ),
    "callers and none": Wrong(
        "check --context . --no-context", "`--context` and `--no-context` exclude each other"
    ),
    "two ways to fix": Wrong("check --fix --diff-fixes", "--fix and --diff-fixes exclude each other"),
    "unsafe without fixes": Wrong("check --unsafe-fixes", "--unsafe-fixes is for --fix or --diff-fixes"),
    "an unknown command": Wrong("chekc", "no such command 'chekc'; did you mean 'check'?"),
    "a path for a command": Wrong("a.py", "'a.py' is a path, not a command; to check it: jitlint check a.py"),
    "no rule to explain": Wrong("explain JIT999", "no rule 'JIT999'; `jitlint rules` lists them"),
    "no place to ask about": Wrong("why a.py", "'a.py' is no place; write FILE:LINE or FILE:LINE:COLUMN"),
    "a line that is not there": Wrong("why a.py:99", "a.py: it has no line 99"),
    "a column that is not there": Wrong("why a.py:6:99", "a.py: line 6 has no column 99"),
    "a shell that nobody knows": Wrong("completion tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
    # ---------------------------------------------------------------- configuration
    "an unknown key": _config("colour = 1\n", "unknown key 'colour'; the keys are baseline, catalogue"),
    "a key that is nearly right": _config("exlude = []\n", "unknown key 'exlude'; did you mean 'exclude'?"),
    "a value of another kind": _config("select = 3\n", "select: expected a list of strings, not 3"),
    "no yes and no no": _config("force-exclude = 2\n", "force-exclude: 2 is neither true nor false"),
    "no TOML": _config('select = ["JIT1"\n', "jitlint.toml: not valid TOML: "),
    "a configuration that is no text": Wrong("check", "not valid TOML: ", 2, {"jitlint.toml": b"\xff\n"}),
    "a table where none is": _config("[tool.jitlint]\nselect = []\n", "here the keys stand at the top"),
    "a configuration that extends itself": _config(
        'extend = "jitlint.toml"\n', "jitlint.toml extends itself"
    ),
    "an extended one that is not there": _config('extend = "x.toml"\n', "x.toml: no such configuration file"),
    "knowledge that is not there": _config(
        'catalogue = ["x.toml"]\n', "x.toml: cannot be read: No such file"
    ),
    "knowledge that is no TOML": _config('catalogue = ["a.py"]\n', "a.py: not valid TOML: "),
    "functions that nobody has": _config('traced = ["b.*"]\n', "traced: 'b.*' matches no function", 1),
    "a table that is nearly right": _pyproject(
        "[tool.jitlnt]\n", "nobody reads [tool.jitlnt]; did you mean [tool.jitlint]?"
    ),
    "a table at the top": _pyproject("[jitlint]\n", "here the table is called [tool.jitlint], not [jitlint]"),
    "a word for a table": _pyproject("[tool]\njitlint = 3\n", "pyproject.toml: tool.jitlint must be a table"),
    "a section that is nearly right": _setup(
        "[jit-lint]\n", "nobody reads [jit-lint]; did you mean [jitlint]?"
    ),
    "a section of another manner": _setup(
        "[tool:jitlint]\n", "the section is called [jitlint], not [tool:jitlint]"
    ),
    "a section without values": _setup("[jitlint]\nselect\n", "setup.cfg: not a valid configuration file: "),
    "a configuration with a dot": Wrong("check", "the file is called jitlint.toml", 2, {".jitlint.toml": ""}),
    # ---------------------------------------------------------------- paths
    "a path that is not there": Wrong("check x.py", "x.py:1:1: error[JIT002] no such file or directory"),
    "a pattern that no shell has filled in": Wrong("check '*.pyx'", "*.pyx:1:1: error[JIT002] no such file"),
    "an empty path": Wrong("check ''", "a path is empty; is a variable of the shell not set?"),
    "an empty path to clean": Wrong("clean ''", "a path is empty"),
    "another kind of file": Wrong(
        "check b.txt", "error[JIT002] .txt is no suffix of Python", 2, {"b.txt": ""}
    ),
    "an empty folder": Wrong("check b", "No Python files, so nothing was checked.", 0, {"b": None}),
    "an empty folder called like a module": Wrong("check b.py", "no Python files found", 0, {"b.py": None}),
    "nothing but what is left out": Wrong(
        "check --exclude a.py", "`exclude` or .gitignore leaves out a.py", 0
    ),
    "no files to list": Wrong("check --show-files b", "warning: no Python files found", 0, {"b": None}),
    "callers that are broken": Wrong(
        "check b.py",
        "No findings in 1 file (c.py could not be analysed, so who calls this is not wholly known).",
        0,
        {"b.py": "def g(x):\n    return x\n", "c.py": "import jax\nfrom b import g\n(\n"},
    ),
    "callers where nothing is": Wrong("check a.py --context x", "--context: x: no such file or directory"),
    "nothing to clean": Wrong("clean x", "x: no such file or directory"),
    "a notebook that is none": Wrong("check b.ipynb", "not a notebook: invalid JSON", 2, {"b.ipynb": "{"}),
    # ---------------------------------------------------------------- encodings and syntax
    "another encoding": _source(b"import jax\nx = '\xe9'\n", "b.py:2:6: error[JIT002]"),
    "an encoding that nobody knows": _source("# coding: klingon\nimport jax\n", "b.py:1:1: error[JIT002]"),
    "sixteen bits": _source(BRANCH.encode("utf-16"), "b.py:1:1: error[JIT002]"),
    "a null byte": _source(b"import jax\0\n", "b.py:1:11: error[JIT001]"),
    "no Python": _source("import jax\ndef f(:\n", "b.py:2:7: error[JIT001]"),
    "brackets upon brackets": _source(
        "import jax\nx = " + "(" * 2000 + ")" * 2000, "b.py:2:105: warning[JIT003]"
    ),
    # ---------------------------------------------------------------- comments
    "a comment that is misspelt": _comment(
        "jitlint: ignroe[JIT101]", "this comment silences nothing: `ignroe` is not"
    ),
    "a comment to somebody else": _comment(
        "jitlnt: ignore[JIT101]", "this comment silences nothing: it begins with `jitlnt"
    ),
    "a comment without its colon": _comment(
        "jitlint ignore[JIT101]", "this comment silences nothing: it begins with"
    ),
    "round brackets": _comment("jitlint: ignore(JIT101)", SQUARE),
    "a bracket that stays open": _comment("jitlint: ignore[JIT101", SQUARE),
    "no brackets": _comment("jitlint: ignore: JIT101", SQUARE),
    "nothing in the brackets": _comment("jitlint: ignore[]", SQUARE),
    "no rule in the brackets": _comment(
        "jitlint: ignore[JIT101, JIT999]", "`JIT999` in this comment matches no rule"
    ),
    "a word of others": _comment("jitlint: noqa", "this comment silences nothing: `noqa` is not known"),
    # ---------------------------------------------------------------- files that change
    "a file that vanishes": Wrong(
        "check a.py", "a.py:1:1: error[JIT002] cannot read the file", 2, {}, _vanish
    ),
    "a file that becomes a folder": Wrong(
        "check a.py", "error[JIT002] cannot read the file", 2, {}, _become_a_folder
    ),
    "a file that changes": Wrong(
        "check a.py", "cannot read the file: it changed during the run", 2, {}, _change
    ),
}


def test_there_are_many() -> None:
    assert len(WRONG) >= 60


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = WRONG[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JITLINT_DEBUG", raising=False)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for file, content in {"pyproject.toml": "", "a.py": BRANCH, **wrong.files}.items():
        if content is None:
            (tmp_path / file).mkdir()
        else:
            (tmp_path / file).write_bytes(content.encode() if isinstance(content, str) else content)
    if wrong.blow is not None:
        _strike(wrong.blow, tmp_path / "a.py", monkeypatch)
    code = main(shlex.split(wrong.command))
    said = capsys.readouterr()
    assert wrong.says in said.out + said.err
    assert code == wrong.code
    assert "Traceback" not in said.out + said.err
    assert "internal error" not in said.out + said.err


def _strike(blow: Callable[[Path], None], victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next run know a file by the cache, and something happen to it when the run wants to read it."""
    os.utime(victim, ns=(10**18, 10**18))
    main(["check", "-q", "--output-file", os.devnull])
    for path in (victim.parent / ".jitlint_cache").glob("[lnprt]*"):
        path.unlink()
    before = pipeline.lower_files

    def then(*arguments: object) -> object:
        blow(victim)
        return before(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "lower_files", then)
