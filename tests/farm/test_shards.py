"""Shards joined say what one process says: same findings, same order, same words, same exit code."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitlint.driver.processes.schedule import Forked
from jitlint.driver.run import check as run_check
from jitlint.farm.part import encoded, make_part, read_part
from jitlint.farm.share import Share
from jitlint.frontends.check_output import FORMATS
from jitlint.frontends.cli import main
from tests.conftest import Write

Capture = pytest.CaptureFixture[str]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
LOSSES = "def loss(params, x, n):\n    for i in range(n):\n        pass\n    return params\n"
TRAIN = "import jax\nfrom losses import loss\n\n\n@jax.jit\ndef step(x, n):\n    return loss(x, x, n)\n"
FILES = {
    "a.py": BRANCH,
    "losses.py": LOSSES,
    "train.py": TRAIN,
    "silent.py": BRANCH.replace("if x > 0:", "if x > 0:  # noqa: JIT101"),
    "ours.py": BRANCH.replace("if x > 0:", "if x > 0:  # jitlint: ignore[JIT101]"),
    "idle.py": "import jax\n\nx = 1  # jitlint: ignore[JIT101]\n",
    "broken.py": "import jax\n\n\ndef f(:\n",
    "plain.py": "x = 1\n",
    "tests/test_a.py": "import jax\n\n\n@jax.jit\ndef f(x):\n    print(x)\n    return x\n",
    "b/one.py": BRANCH.replace("def f", "def g"),
    "b/two.py": "import jax.numpy as jnp\n\nx = jnp.zeros(3)\nx[0] = 1\n",
}
FORMAT_OPTIONS = [["--output-format", name] for name in FORMATS]


def _run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


def _shards(capsys: Capture, of: int, *options: str, folder: str = "parts") -> list[str]:
    """Write all parts; where they are."""
    Path(folder).mkdir(exist_ok=True)
    names = [f"{folder}/{number}.json" for number in range(1, of + 1)]
    for number, name in enumerate(names, 1):
        assert main(["check", "-q", *options, "--shard", f"{number}/{of}", "-o", name]) == 0
    assert capsys.readouterr().out == ""
    return names


def _without_times(text: str) -> str:
    return re.sub(r"^time: .*$", "time", text, flags=re.MULTILINE)


@pytest.mark.parametrize("of", [1, 2, 3, 7])
@pytest.mark.parametrize("state", ["cold", "warm"])
def test_joined_shards_are_one_run_in_every_format(
    of: int, state: str, project: Write, capsys: Capture
) -> None:
    project(FILES)
    one = [_run(capsys, "check", "--no-cache", *options) for options in FORMAT_OPTIONS]
    assert {code for code, _, _ in one} == {2}  # one file is broken
    cache = [] if state == "warm" else ["--no-cache"]
    for _ in range(2 if state == "warm" else 1):
        parts = _shards(capsys, of, *cache)
    assert [_run(capsys, "merge", *parts, *options) for options in FORMAT_OPTIONS] == one
    assert [_run(capsys, "merge", *reversed(parts), *options) for options in FORMAT_OPTIONS] == one


OPTIONS = [
    ["--select", "ALL"],
    ["--select", "JIT0,JIT1", "--min-severity", "info"],
    ["--min-confidence", "possible"],
    ["--tests", "all"],
    ["--ignore", "JIT1"],
    ["b", "train.py"],
    ["losses.py"],
    ["losses.py", "--no-context"],
    ["nowhere.py", "a.py"],
    ["a.py", "plain.py"],
    ["--exclude", "b/"],
    ["--per-file-ignores", "b/:JIT101"],
    ["--jax-version", "0.4.30"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_what_shards_are_asked_decides_what_is_joined(
    options: list[str], project: Write, capsys: Capture
) -> None:
    project(FILES)
    one = _run(capsys, "check", "--no-cache", *options)
    parts = _shards(capsys, 3, "--no-cache", *options)
    assert _run(capsys, "merge", *parts) == one


def test_statistics_and_what_is_quiet_are_those_of_one_run(project: Write, capsys: Capture) -> None:
    project(FILES)
    parts = _shards(capsys, 3, "--no-cache")
    for options in (
        ["--statistics"],
        ["-q"],
        ["--show-path"],
        ["--exit-zero"],
        ["--statistics", "-o", "out"],
    ):
        code, out, err = _run(capsys, "check", "--no-cache", *options)
        joined = _run(capsys, "merge", *parts, *options)
        assert (joined[0], _without_times(joined[1]), joined[2]) == (code, _without_times(out), err)


def test_baselines_are_compared_and_written_once(project: Write, capsys: Capture) -> None:
    project({name: text for name, text in FILES.items() if name != "broken.py"})
    parts = _shards(capsys, 3, "--no-cache")
    written = _run(capsys, "check", "--no-cache", "--write-baseline", "one.json")
    assert _run(capsys, "merge", *parts, "--write-baseline", "joined.json") == (
        written[0],
        written[1],
        written[2].replace("one.json", "joined.json"),
    )
    assert Path("joined.json").read_bytes() == Path("one.json").read_bytes()
    Path("a.py").write_text(BRANCH + BRANCH.replace("import jax\n", "").replace("def f", "def new"))
    Path("b/one.py").unlink()
    parts = _shards(capsys, 3, "--no-cache")
    one = _run(capsys, "check", "--no-cache", "--baseline", "one.json")
    assert one[0] == 1
    assert _run(capsys, "merge", *parts, "--baseline", "one.json") == one
    one = _run(capsys, "check", "--no-cache", "--baseline", "one.json", "--prune-baseline")
    joined = _run(capsys, "merge", *parts, "--baseline", "joined.json", "--prune-baseline")
    assert joined == (one[0], one[1], one[2].replace("one.json", "joined.json"))
    assert Path("joined.json").read_bytes() == Path("one.json").read_bytes()


def test_the_configuration_of_the_shards_holds(project: Write, capsys: Capture) -> None:
    config = 'baseline = "known.json"\ntraced = ["plain.*", "losses.nothing"]\n[per-file-ignores]\n"b/" = ["ALL"]\n'
    project({**FILES, "jitlint.toml": config})
    assert main(["check", "--no-cache", "-q", "--write-baseline", "known.json"]) == 2
    Path("a.py").write_text(BRANCH.replace("def f", "def other"))
    capsys.readouterr()
    one = _run(capsys, "check", "--no-cache")
    assert "matches no function" in one[2] and "in the baseline" in one[1]
    assert _run(capsys, "merge", *_shards(capsys, 2, "--no-cache")) == one


def test_notebooks_are_joined_too(project: Write, capsys: Capture) -> None:
    cells = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
        for text in (
            "import jax",
            "@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x",
            "f(1.0)",
        )
    ]
    book = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    project({**FILES, "book.ipynb": book})
    one = [_run(capsys, "check", "--no-cache", *options) for options in FORMAT_OPTIONS]
    assert "book.ipynb:cell 2" in one[1][1]
    parts = _shards(capsys, 3, "--no-cache")
    assert [_run(capsys, "merge", *parts, *options) for options in FORMAT_OPTIONS] == one


def test_a_name_that_is_not_text_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    try:
        (tmp_path / os.fsdecode(b"a\xff.py")).write_text(BRANCH)
    except OSError:
        pytest.skip("this file system has no such names")
    one = _run(capsys, "check", "--no-cache")
    assert one[0] == 1
    assert _run(capsys, "merge", *_shards(capsys, 2, "--no-cache")) == one


def test_from_a_folder_below_the_top(
    project: Write, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    root = project(FILES)
    monkeypatch.chdir(root / "b")
    one = _run(capsys, "check", "--no-cache", "..")
    assert _run(capsys, "merge", *_shards(capsys, 2, "--no-cache", "..")) == one


# ---------------------------------------------------------------- shares


def _paths(part: str) -> set[str]:
    return set(read_part(part).named)


def test_shares_are_disjoint_and_cover_everything(project: Write, capsys: Capture) -> None:
    project(FILES)
    parts = [read_part(name) for name in _shards(capsys, 4, "--no-cache")]
    named = [path for part in parts for path in part.named]
    assert sorted(named) == sorted(FILES)
    assert (
        sum(part.found.statistics.lowered for part in parts) == len(FILES) - 1
    )  # one has nothing to do with JAX
    (owner,) = (part for part in parts if "losses.py" in part.named)
    assert "train.py" in owner.named  # which it hangs together with


def test_a_shared_cache_keeps_what_all_shards_have_done(project: Write, capsys: Capture) -> None:
    project(FILES)
    cold = [read_part(name).found.statistics for name in _shards(capsys, 3)]
    assert sum(each.lowered for each in cold) == len(FILES) - 1
    shutil.rmtree("parts")
    Path("plain.py").write_text("x = 2\n")  # no kept answer is that of the whole tree any more
    code = main(["check", "--statistics", "-q"])
    told = capsys.readouterr().out
    assert code == 2
    assert "(0 analysed now" in told
    assert "files parsed now: 0, looked into for positions: 0" in told


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_of_the_fixtures_are_one_run(
    of: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """All of them as one project would be a long test: as many families as a shard of three gets."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    for folder in sorted(FIXTURES.glob("JIT[135]0*")):
        shutil.copytree(folder, tmp_path / folder.name)
    options = ["--isolated", "--select", "ALL", "--min-confidence", "possible"]
    one = _run(capsys, "check", *options, "--no-cache", "--output-format", "json")
    assert one[0] == 1
    for state in ("cold", "warm"):
        parts = _shards(capsys, of, *options, folder=state)
        assert _run(capsys, "merge", *parts, "--output-format", "json") == one


_NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f"])


@given(
    imports=st.dictionaries(_NAMES, st.sets(_NAMES, max_size=2), min_size=1),
    of=st.sampled_from([1, 2, 3, 7]),
)
@settings(max_examples=12)
def test_however_files_hang_together_shards_are_one_run(
    tmp_path_factory: pytest.TempPathFactory, imports: dict[str, set[str]], of: int
) -> None:
    root = tmp_path_factory.mktemp("any")
    (root / "pyproject.toml").touch()
    for name, used in imports.items():
        head = "".join(f"import {other}\n" for other in sorted(used - {name}))
        (root / f"{name}.py").write_text(head + BRANCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        from jitlint.base.config import Settings
        from jitlint.farm.join import join

        one = run_check(["."], Settings(), jobs=1, use_cache=False)
        parts = {
            str(number): make_part(Share(number, of), ["."], None, Settings(), Forked(1), False)
            for number in range(1, of + 1)
        }
        joined = join(parts).result
    joined.statistics.seconds = one.statistics.seconds
    assert joined == one


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("shard", "says"),
    [
        ("0/16", "the shards are 1/16 to 16/16"),
        ("17/16", "the shards are 1/16 to 16/16"),
        ("1/0", "there is no shard of none"),
        ("3", "write 3/16 for the third of sixteen"),
        ("a/b", "write 3/16 for the third of sixteen"),
        ("-1/4", "write 3/16 for the third of sixteen"),
        ("1/2/3", "write 3/16 for the third of sixteen"),
    ],
)
def test_a_shard_that_cannot_be(shard: str, says: str, project: Write, capsys: Capture) -> None:
    project(FILES)
    code, out, err = _run(capsys, "check", "--shard", shard)
    assert (code, out) == (2, "")
    assert err.startswith("jitlint: error: --shard: ") and says in err


def _refused(capsys: Capture, parts: Sequence[str]) -> str:
    code, out, err = _run(capsys, "merge", *parts)
    assert (code, out) == (2, "")
    assert err.startswith("jitlint: error: ") and err.count("\n") == 1
    return err


def test_missing_and_doubled_shards_are_named(project: Write, capsys: Capture) -> None:
    project(FILES)
    parts = _shards(capsys, 4, "--no-cache")
    assert "shards 2, 4 of 4 are missing" in _refused(capsys, [parts[0], parts[2]])
    assert "shard 3 of 4 is missing" in _refused(capsys, [*parts[:2], parts[3]])
    shutil.copy(parts[0], "again.json")
    assert "are both shard 1 of 4" in _refused(capsys, [*parts, "again.json"])
    code, _, _ = _run(capsys, "merge", *parts, parts[0])  # the same file twice is one file
    assert code == 2  # for the broken file in the project
    assert "parts/5.json: cannot be read" in _refused(capsys, [*parts, "parts/5.json"])


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("jitlint", "9.9", "written by jitlint 9.9"),
        ("version", 2, "join shards with the version that has made them"),
        ("python", "CPython 3.9.1", "Python CPython 3.9.1"),
        ("tool", "x", "another jitlint, or other packages with rules"),
        ("shards", 5, "one is of 2 shards, the other of 5"),
        ("paths", ["src"], "other paths"),
        ("state", "x", "the files were not the same"),
        ("format", "other", "not what `jitlint check --shard` has written"),
        ("named", [1], "broken"),
        ("surplus", 1, "broken"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    field: str, value: object, says: str, project: Write, capsys: Capture
) -> None:
    project(FILES)
    parts = _shards(capsys, 2, "--no-cache")
    data = json.loads(Path(parts[1]).read_text())
    data[field] = value
    Path(parts[1]).write_text(json.dumps(data))
    assert says in _refused(capsys, parts)


def test_other_settings_and_other_files_are_refused(project: Write, capsys: Capture) -> None:
    project(FILES)
    parts = _shards(capsys, 2, "--no-cache")
    assert main(["check", "-q", "--no-cache", "--ignore", "JIT1", "--shard", "2/2", "-o", "other.json"]) == 0
    assert "they have other settings (ignore)" in _refused(capsys, [parts[0], "other.json"])
    Path("b/one.py").write_text(FILES["b/one.py"] + "\n\nx = 1\n")
    assert "is not as it was for" in _refused(capsys, parts)
    assert main(["check", "-q", "--no-cache", "--shard", "2/2", "-o", "other.json"]) == 0
    assert "the files were not the same" in _refused(capsys, [parts[0], "other.json"])


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", '{"format": "jitlint part"}', "[" * 100_000])
def test_a_broken_file_is_refused(text: str, project: Write, capsys: Capture) -> None:
    project(FILES)
    parts = _shards(capsys, 2, "--no-cache")
    Path(parts[0]).write_text(text)
    assert "parts/1.json: " in _refused(capsys, parts)
    Path(parts[0]).write_bytes(b"\xff\xfe")
    assert "parts/1.json: broken" in _refused(capsys, parts)


@pytest.mark.parametrize(
    ("option", "says"),
    [
        (["--output-format", "json"], "--output-format is for `jitlint merge`"),
        (["--statistics"], "--statistics is for `jitlint merge`"),
        (["--baseline", "x"], "--baseline is for `jitlint merge`"),
        (["--diff", "HEAD"], "--shard and --diff exclude each other"),
        (["--fix"], "--shard and --fix exclude each other"),
        (["-"], "--shard and `-` exclude each other"),
        (["--add-noqa"], "--shard and --add-noqa exclude each other"),
    ],
)
def test_a_shard_does_not_report(
    option: list[str], says: str, project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(FILES)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    code, _, err = _run(capsys, "check", "--shard", "1/2", *option)
    assert code == 2 and says in err


def test_a_part_is_text_that_says_what_it_is(project: Write, capsys: Capture) -> None:
    project(FILES)
    code, out, err = _run(capsys, "check", "--no-cache", "--shard", "1/2")
    data = json.loads(out)
    assert (code, data["format"], data["shard"], data["shards"]) == (0, "jitlint part", 1, 2)
    assert err.startswith("Shard 1 of 2: ")
    Path("p.json").write_text(out)
    assert encoded(read_part("p.json")) + "\n" == out
