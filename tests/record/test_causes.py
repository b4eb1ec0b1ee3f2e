"""Why something was compiled again: which argument differs, and which line calls."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from jitlint.base.config import ConfigError
from jitlint.frontends.cli import main
from jitlint.record.causes import Causes, leaves_of
from jitlint.record.compare import Missed, in_words, missed
from jitlint.record.store import (
    NAME,
    RecordedChange,
    RecordedFunction,
    RecordedOperation,
    Store,
    digest,
    merged,
    read_store,
    together,
    write_store,
)
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]

STORM = """\
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(params, batch, n=2):
    return params["w"] + batch["x"].sum() + n


def fit(params, data):
    for i in range(1, 12):
        step(params, {"x": data[:i], "y": 1.0})


def gather(rows):
    found = []
    for row in rows:
        found.append(row)
        total = jnp.concatenate(found)
    return total


fit({"w": jnp.ones(2)}, np.ones((12, 3), np.float32))
gather([jnp.ones(3)] * 10)
for k in range(3):
    jax.jit(lambda x: x * 2)(1.0)
scaled = jax.jit(lambda x, k: x * k, static_argnums=1)
for k in range(4):
    scaled(2.0, k)
"""


def _at(text: str) -> int:
    return STORM[: STORM.index(text)].count("\n") + 1


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A program that is compiled again and again, recorded; what JAX logged."""
    pytest.importorskip("jax", reason="recording needs JAX")
    root = tmp_path_factory.mktemp("storm")
    (root / "pyproject.toml").write_text("")
    (root / "train.py").write_text(STORM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "JAX_LOG_COMPILES": "1"}
    command = [sys.executable, "-m", "jitlint", "record", "--", sys.executable, "train.py"]
    done = subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return root, done.stderr


def test_the_counts_are_those_that_jax_logs(storm: tuple[Path, str]) -> None:
    store = read_store(str(storm[0] / NAME))
    logged = Counter(re.findall(r"Finished XLA compilation of jit\(([^)]*)\)", storm[1]))
    compiled = Counter[str]()
    for function in store.functions:
        compiled[function.qualname.rpartition(".")[2]] += function.compiles
    assert {name: logged[name] for name in compiled} == compiled == {"step": 11, "<lambda>": 7}
    (concatenate,) = (each for each in store.operations if each.name == "concatenate")
    assert concatenate.compiles == logged["concatenate"] == 9


def test_the_report_names_argument_and_line(
    storm: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(storm[0])
    main(["record", "--report"])
    shown = capsys.readouterr().out
    for wanted in (
        f"at batch['x'], now f32[11,3] and before f32[10,3]; 10 times, called from train.py:{_at('step(params, {')}",
        f"at k, now 3 and before 2; 3 times, called from train.py:{_at('scaled(2.0')}",
        "with the same arguments, by another `jit` or of another function; 2 times, "
        f"called from train.py:{_at('jax.jit(lambda x: x * 2)')}",
        f"at arrays, now 10 parts and before 9 parts; 8 times, called from train.py:{_at('total =')}",
    ):
        assert f"    {wanted}\n" in shown
    assert re.search(rf"train.py:{_at('total =')} +concatenate +library +- +9 ", shown)


def test_a_storm_without_a_finding_is_missed(storm: tuple[Path, str]) -> None:
    found = missed(read_store(str(storm[0] / NAME)), [], str, lambda file: False)
    step, concatenate = sorted(found, key=lambda each: each.line)
    assert (step.line, step.function) == (_at("@jax.jit"), ("step", _at("@jax.jit")))
    assert step.what.startswith("`step` was compiled 11 times in 11 forms: at batch['x'], now f32[11,3]")
    assert concatenate.what.startswith(
        "`concatenate` of a library was compiled 9 times for this line: at arrays"
    )
    assert missed(read_store(str(storm[0] / NAME)), [], str, lambda file: True) == []


class _Array:
    def __init__(self, *shape: int) -> None:
        self.shape = shape
        self.dtype = "float32"


def _noted(*calls: dict[str, object]) -> list[RecordedChange]:
    causes = Causes()
    for values in calls:
        causes.note(leaves_of(values, type(None), lambda value: True), ("a.py", 1))
    return [RecordedChange(**each) for each in causes.as_json()]


def test_a_trace_is_compared_with_the_most_similar_one() -> None:
    a, b = _Array(3, 4), _Array(4, 4)
    found = _noted({"x": a, "y": a}, {"x": b, "y": b}, {"x": b, "y": a})
    assert [(c.at, c.now, c.before, c.more) for c in found] == [
        ("x", "f32[4,4]", "f32[3,4]", 1),
        ("y", "f32[3,4]", "f32[4,4]", 0),
    ]
    assert [c.at for c in _noted({"x": a, "y": a}, {"x": a, "y": b}, {"x": a, "y": _Array(5)})] == ["y"]


def test_texts_and_objects_are_told_from_each_other_and_not_shown() -> None:
    (mode,) = _noted({"mode": "secret"}, {"mode": "hidden"})
    assert (mode.now, mode.before) == ("another str", "str")
    first, second = _Array, object()
    (kind,) = _noted({"f": first}, {"f": second})
    assert (kind.now, kind.before) == ("object", "_Array")
    assert _noted({"k": 1}, {"k": True})[0].now == "True"
    assert _noted({"k": slice(0, 2)}, {"k": slice(0, 3)})[0].now == "slice(0, 3, None)"


def test_causes_in_words() -> None:
    change = RecordedChange("x", "f32[4]", "f32[3]", 2, "a.py", 7, 5)
    assert (
        in_words(change) == "at x, now f32[4] and before f32[3] (2 more differ); 5 times, called from a.py:7"
    )
    same = RecordedChange("", "", "", 0, "", 0, 1)
    assert in_words(same) == "with the same arguments, by another `jit` or of another function; once"
    assert in_words(same, library=True) == "with arguments that look the same from here; once"


def _store(root: Path, jax: str = "0.10.2") -> Store:
    def change(times: int) -> list[RecordedChange]:
        return [RecordedChange("x", f"f32[{times}]", "f32[1]", 0, "a.py", 3, times)]

    function = RecordedFunction("a.py", 1, "step", 2, 2, compiles=2, changes=change(1))
    operation = RecordedOperation("add", "a.py", 3, 4, 0.5, change(3))
    digests = {"a.py": digest(str(root / "a.py"))}
    return Store(jax=jax, command=["pytest"], functions=[function], operations=[operation], digests=digests)


def test_stores_are_merged(project: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = project({"a.py": "x = 1\n", "ci/.keep": ""})
    write_store(_store(root), str(root / "ci" / "one.json"))
    write_store(_store(root), str(root / "ci" / "two.json"))
    assert main(["record", "--merge", "ci/one.json", "ci/two.json"]) == 0
    both = read_store(str(root / NAME))
    assert (both.functions[0].staged, both.functions[0].compiles, both.command) == (4, 4, ["pytest"])
    assert both.functions[0].changes[0].times == 2
    assert (both.operations[0].compiles, both.operations[0].changes[0].times) == (8, 6)
    assert both.digests == _store(root).digests
    assert main(["record", "--merge", "ci/one.json"]) == 0  # and the project's own
    assert read_store(str(root / NAME)).functions[0].staged == 6
    assert main(["record", "--merge"]) == 2
    capsys.readouterr()
    (root / "a.py").write_text("x = 2\n", encoding="utf-8")
    (root / NAME).unlink()
    main(["record", "--merge", "ci/one.json"])
    assert read_store(str(root / NAME)).functions == []
    assert "1 file left out" in capsys.readouterr().err


def test_stores_of_different_versions_of_jax_are_not_merged(project: Write) -> None:
    root = project({"a.py": "x = 1\n"})
    with pytest.raises(ConfigError, match=r"0\.10\.2, 0\.9\.0"):
        together([_store(root), _store(root, "0.9.0")], str(root))


def test_merging_processes_counts_changes_of_the_same_call_together(project: Write) -> None:
    root = project({"a.py": "x = 1\n"})
    one, two = _store(root), _store(root)
    two.functions[0].changes[0].line = 9
    found = merged([one, two])
    assert [(c.line, c.times) for c in found.functions[0].changes] == [(3, 1), (9, 1)]
    assert found.operations[0].compiles == 8


def test_a_few_compilations_are_no_storm() -> None:
    def compiled(compiles: int, times: int) -> list[Missed]:
        changes = [RecordedChange("x", "f32[2]", "f32[1]", 0, "a.py", 5, times)]
        forms = {str(n): 1 for n in range(compiles)}
        function = RecordedFunction("a.py", 1, "f", compiles=compiles, changes=changes, signatures=forms)
        return missed(Store(functions=[function]), [], str, lambda file: file.startswith("test"))

    assert compiled(7, 6) == []
    assert compiled(9, 3) == []
    assert len(compiled(9, 8)) == 1
