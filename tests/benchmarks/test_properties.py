"""Rewrites that keep the meaning: programs do the same afterwards, and jitlint says the same of them."""

from __future__ import annotations

import io
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from benchmarks import properties
from benchmarks.rewrites import Choice, Project, Rewritten
from benchmarks.rewrites_of_bodies import REWRITES

FIXTURES = Path(__file__).parents[2] / "fixtures"
SOME = (
    "JIT110_traced_format/bad.py",
    "JIT301_traced_print/bad.py",
    "JIT502_jit_per_call/bad.py",
    "JIT509_donated_reuse/bad.py",
    "JIT601_key_reuse/bad.py",
    "dataflow/bad_containers.py",
    "dataflow/good_dictionaries.py",
    "dataflow/good_narrowing.py",
    "transforms/bad_jit_targets.py",
)

PROGRAM = '''\
"""Says what it computes."""
from __future__ import annotations
import functools
import math as m
import sys

LIMIT = 3


def area(width, height=2, *more, scale=1):
    """The area."""
    size = width * height
    for part in more:
        size += part
    return size * scale


def root(x):
    return m.sqrt(abs(x))


def table(count):
    rows = [row * LIMIT for row in range(count)]
    def total():
        nonlocal rows
        rows = rows[1:]
        return sum(rows)
    first = total()
    return first, rows, [first for first in rows]


class Box:
    size = LIMIT

    def __init__(self, value):
        self.value = value

    def grown(self, by=1):
        value = area(self.value + by, height=self.size)
        return value


def counted(n):
    seen = set()
    while n:
        n -= 1
        seen.add(n)
        yield n
    print(sorted(seen))


def main():
    result = area(root(16.0), height=5, scale=2)
    print(result, area(1), area(2, 3, 4), table(4), list(counted(3)))
    print(Box(2).grown(by=2), functools.reduce(max, [1, 3, 2]), area(height=1, width=2))


main()
'''


def printed(path: Path) -> str:
    output = io.StringIO()
    with redirect_stdout(output):
        runpy.run_path(str(path), run_name="program")
    return output.getvalue()


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewritten_program_does_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    expected = printed(tmp_path / "program.py")
    rewritten = REWRITES[name](Project({"program.py": PROGRAM}), Choice())
    assert rewritten.texts
    monkeypatch.syspath_prepend(str(tmp_path))
    for path, text in rewritten.texts.items():
        (tmp_path / path).write_text(text, encoding="utf-8")
    assert printed(tmp_path / "program.py") == expected


def test_positions_lead_back() -> None:
    rewritten = REWRITES["if-true"](Project({"program.py": PROGRAM}), Choice())
    old, new = PROGRAM.splitlines(), rewritten.texts["program.py"].splitlines()
    for line, text in enumerate(new, 1):
        path, before = rewritten.back("program.py", line, len(text) - len(text.lstrip()) + 1)
        if text.strip() and "if True:" not in text:
            assert path == "program.py" and old[before - 1].strip() == text.strip()


def test_sites_can_be_chosen_one_by_one() -> None:
    project, choice = Project({"program.py": PROGRAM}), Choice()
    REWRITES["rename-locals"](project, choice)
    changed = [REWRITES["rename-locals"](project, Choice(i, i + 1)).texts for i in range(choice.seen)]
    assert len({texts["program.py"] for texts in changed}) == choice.seen > 5


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> properties.Forms:
    folder = tmp_path_factory.mktemp("forms").resolve()
    texts = {name.replace("/", "_"): (FIXTURES / name).read_text(encoding="utf-8") for name in SOME}
    tree = properties.Tree(folder / "project", texts)
    return properties.Forms(tree)


@pytest.mark.parametrize("name", REWRITES)
def test_the_same_is_found_after_a_rewrite(name: str, forms: properties.Forms) -> None:
    assert len(forms.findings) > 50
    assert list(forms.compare(name, Choice()).lines()) == []


def test_a_change_of_the_meaning_is_seen(forms: properties.Forms, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_jit(project: Project, choice: Choice) -> Rewritten:
        out = Rewritten(project)
        for path, file in project.files.items():
            out.put(path, project.files[path].module.with_changes(body=file.module.body[:5]), {})
        return out

    monkeypatch.setitem(REWRITES, "without-jit", without_jit)
    assert forms.compare("without-jit", Choice()).lost


def test_every_order_gives_the_same(tmp_path: Path) -> None:
    texts = {name.replace("/", "_"): (FIXTURES / name).read_text(encoding="utf-8") for name in SOME[:3]}
    tree = properties.Tree(tmp_path.resolve() / "project", texts)
    assert properties.orders(tree, ["files", "single"], most=3) == 0
