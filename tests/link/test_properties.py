"""The same findings whatever the order of files and functions, the seed of hashes and the number of processes."""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.properties import answer
from jitlint.driver.processes.deep import on_deep_stack
from jitlint.link.program import Analysis, ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDERS = sorted(path for path in FIXTURES.iterdir() if path.is_dir() and not path.name.startswith("_"))
EVERYTHING = Options(include_possible=True)


def sources(folder: Path) -> dict[str, str]:
    """The modules of a folder by name."""
    paths = sorted(folder.rglob("*.py"))
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in paths
    }


def run(modules: list[tuple[str, str]]) -> Analysis:
    """The analysis of some modules in this order."""
    inputs: list[ModuleInput] = []
    for name, text in modules:
        tree = lower(text)
        if isinstance(tree, ir.Module):
            inputs.append(ModuleInput(name, f"{name}.py", False, ir.encode_module(tree), False))
    return on_deep_stack(lambda: analyse(inputs, EVERYTHING))


def told(found: Analysis, renamed: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    """What is found where, without positions and paths, which move."""
    back = {new: old for old, new in (renamed or {}).items()}
    return sorted(
        (
            type(e).__name__,
            back.get(e.place.module, e.place.module),
            e.place.function,
            e.place.confidence.value,
        )
        for e in found.events
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_order_of_the_files_does_not_matter(folder: Path) -> None:
    modules = list(sources(folder).items())
    first = run(modules)
    random.Random(1).shuffle(modules)
    second = run(modules)
    assert second.events == first.events
    assert second.traced == first.traced
    assert second.notes == first.notes


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_names_of_the_files_do_not_matter(folder: Path) -> None:
    """The modules are worked through in the order of their names: reversed, nothing else comes out."""
    modules = sources(folder)
    if any(
        f"import {name}" in text or f"from {name}" in text for name in modules for text in modules.values()
    ):
        pytest.skip("one module imports another by its name")
    renamed = {name: f"m{len(modules) - i:03}" for i, name in enumerate(sorted(modules))}
    found = run([(renamed[name], text) for name, text in modules.items()])
    assert told(found, renamed) == told(run(list(modules.items())))


def shuffled(text: str, rng: random.Random) -> str:
    """A module with its functions in another order, each run of them that stand together and need nothing at once."""
    lines = text.splitlines(keepends=True)
    tree = ast.parse(text)
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    named = Counter(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    blocks: list[tuple[bool, str]] = []
    end = 0
    for i, node in enumerate(tree.body):
        stop = tree.body[i + 1] if i + 1 < len(tree.body) else None
        last = _first_line(stop) - 1 if stop is not None else len(lines)
        while stop is not None and last > end and lines[last - 1].startswith("#"):
            last -= 1  # a comment belongs to what is below it
        blocks.append((_is_free(node, imported, named), "".join(lines[end:last])))
        end = last
    out: list[str] = []
    group: list[str] = []
    for free, block in [*blocks, (False, "")]:
        if free:
            group.append(block if block.endswith("\n") else f"{block}\n")
            continue
        rng.shuffle(group)
        out += [*group, block]
        group = []
    return "".join(out)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *[d.lineno for d in decorators]])


def _is_free(node: ast.stmt, imported: set[str], named: Mapping[str, int]) -> bool:
    """Whether a definition needs nothing but imports when it is made, and is the only one of its name: of several, the
    last one counts."""
    if not isinstance(node, ast.FunctionDef) or named[node.name] > 1:
        return False
    needed = [*node.decorator_list, *node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]
    names = {part.id for root in needed for part in ast.walk(root) if isinstance(part, ast.Name)}
    return names <= imported


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_order_of_the_functions_does_not_matter(folder: Path) -> None:
    modules = sources(folder)
    expected = told(run(list(modules.items())))
    for seed in range(2):
        rng = random.Random(seed)
        assert told(run([(name, shuffled(text, rng)) for name, text in modules.items()])) == expected


SOME = ("JIT303", "JIT304", "JIT305", "JIT306", "JIT5", "JIT6", "JIT7")


def test_seeds_of_hashes_and_processes_do_not_matter(tmp_path: Path) -> None:
    folders = [str(f) for f in FOLDERS if f.name.startswith(SOME) or f.name == "programs"]
    answers: list[str] = []
    for seed, jobs in ((0, 1), (1, 2), (2, 1), (3, 1), (0, 1)):
        cache = tmp_path / ("kept" if seed in (0, 3) else str(seed))
        answers.append(answer(["--min-confidence", "possible", *folders], tmp_path, cache, seed, jobs))
    assert json.loads(answers[0])
    assert set(answers) == {answers[0]}
