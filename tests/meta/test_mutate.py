"""The mutants that the tool makes, which of them it picks, and what it says of those that survive."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutate  # noqa: E402
import mutations  # noqa: E402

MODULE = '''\
"""Says nothing."""

LIMIT = 8


def largest(items, seen, memo_key):
    """Words for people."""
    if not items:
        return None
    memo_key = (len(items), seen)
    seen.add(items[0])
    best = max(x for x in items[1:] if x > 0)
    return best if best < 10 and "a" != "ü" else f"{best > 1}"
'''


def changed(text: str) -> dict[str, list[str]]:
    """By kind, the lines that the changes make."""
    found: dict[str, list[str]] = {}
    for change in mutations.python_changes(text):
        after = change.applied(text).splitlines()
        assert len(after) == len(text.splitlines())
        compile("\n".join(after), "case", "exec")
        found.setdefault(change.kind, []).append(after[change.line - 1].strip())
    return {kind: sorted(lines) for kind, lines in found.items()}


def test_each_kind_of_change_of_a_module() -> None:
    last = 'return best if best < 10 and "a" != "ü" else f"{best > 1}"'
    expected = {
        "no-branch": ["if (False):", last.replace(last[7:], '(f"{best > 1}")').replace('"', "'")],
        "negate": ["if (not not items):", "if (items):"],
        "go-on": ["pass"],
        "key-without-last": ["memo_key = ((len(items),))"],
        "key-without-first": ["memo_key = ((seen,))"],
        "no-call": ["pass"],
        "twin": ["best = (min((x for x in items[1:] if x > 0)))"],
        "first-three": ["best = max(x for x in ([*items[1:]][:3]) if x > 0)"],
        "slice": ["best = max(x for x in items[2:] if x > 0)"],
        "constant": [
            "seen.add(items[1])",
            "best = max(x for x in items[1:] if x > 1)",
            last.replace("10", "11"),
        ],
        "no-filter": ["best = max(x for x in items[1:] if (True))"],
        "compare": [
            "best = max(x for x in items[1:] if (x >= 0))",
            last.replace("best < 10", "(best <= 10)"),
            last.replace('"a" != "ü"', "('a' == 'ü')"),
        ],
        "and-or": [last.replace('best < 10 and "a" != "ü"', "(best < 10 or 'a' != 'ü')")],
        "without-last": [last.replace('best < 10 and "a" != "ü"', "(best < 10)")],
        "without-first": [last.replace('best < 10 and "a" != "ü"', "('a' != 'ü')")],
        "word": [last.replace('"a"', "'a_'"), last.replace('"ü"', "'ü_'")],
    }
    assert changed(MODULE) == {kind: sorted(lines) for kind, lines in expected.items()}


def test_changes_of_data() -> None:
    text = '# raises A\nfirst = "x, k!T -> like(x)"\nsecond = "raises A -> array"\n\n[wrap]\nstrict = true\n'
    found = [
        (change.kind, change.applied(text).splitlines()[change.line - 1])
        for change in mutations.toml_changes(text)
    ]
    assert found == [
        ("static-flag", 'first = "x, k -> like(x)"'),
        ("result", 'first = "x, k!T -> array"'),
        ("exception", 'second = "raises C -> array"'),
        ("result", 'second = "raises A -> float"'),
        ("truth", "strict = false"),
    ]


def mutant(path: str, line: int, kind: str = "compare") -> mutate.Mutant:
    return mutate.Mutant(path, mutations.Change(0, 1, "", kind, line, 1))


def test_mutants_are_spread_over_folders_and_kinds() -> None:
    many = [mutant("jitlint/link/a.py", n) for n in range(50)]
    few = [
        mutant("jitlint/link/a.py", 99, "key"),
        mutant("jitlint/infer/b.py", 1),
        mutant("jitlint/c/c.py", 1),
    ]
    chosen = mutate.spread([*many, *few], 6, seed=3)
    assert len(chosen) == len({one.id for one in chosen}) == 6
    assert {one.id for one in few} <= {one.id for one in chosen}
    assert chosen == mutate.spread([*many, *few], 6, seed=3)
    assert len(mutate.spread(few, 60, seed=3)) == 3


def test_every_folder_with_mutants_has_tests_and_every_test_is_there() -> None:
    for folder, tests in mutate.SEES.items():
        assert (ROOT / folder).is_dir()
        assert mutate.seen_by(f"{folder}/x.py") == tests
    for test in (*mutate.SLOW, *(test for tests in mutate.SEES.values() for test in tests)):
        path, _, name = test.partition("::")
        assert (ROOT / path).exists(), test
        assert not name or f"def {name}(" in (ROOT / path).read_text(encoding="utf-8")
    assert mutate.seen_by("jitlint/frontends/cli.py") == ()


def test_what_survives_is_shown_with_its_difference(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("a = 1\nb = a < 2\n")
    by_hand = mutate.by_hand(tmp_path, "m.py", "a < 2", "a > 2")
    assert by_hand.id == "m.py:2:0:by-hand"
    with pytest.raises(SystemExit, match="2 places"):
        mutate.by_hand(tmp_path, "m.py", "a ", "b ")
    outcomes = [mutate.Outcome(by_hand, "", 1.0), mutate.Outcome(mutant("m.py", 1), "test_m", 1.0)]
    text = "\n".join(mutate.report(outcomes, tmp_path))
    assert "survived: m.py:2:0:by-hand" in text
    assert "    -b = a < 2\n    +b = a > 2" in text
    assert text.endswith("2      1  (50%)")


TINY = {
    "jitlint/__init__.py": "",
    "jitlint/infer/__init__.py": "",
    "jitlint/infer/tiny.py": "def large(n):\n    return n > 3 or n == -7\n\n\ndef endless(n):\n    while n:\n        n -= 1\n",
    "tests/__init__.py": "",
    "tests/test_tiny.py": (
        "from jitlint.infer.tiny import endless, large\n\n\n"
        "def test_large():\n    assert large(4) and not large(3)\n    endless(2)\n\n\n"
        "def test_always_fails():\n    assert large(0)\n"
    ),
}
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tools!r})
import mutate
mutate.SEES = {{"jitlint/infer": ("tests/test_tiny.py",)}}
tree = mutate.Tree(Path({source!r}), Path({folder!r}), 2, True)
tree.enter(warm=False)
tree.baseline(["tests/test_tiny.py"])
for old, new in (("n > 3", "n >= 3"), ("or n == -7", "or n == -8"), ("n -= 1", "n += 1"), ("def large", "def small")):
    print(tree.outcome(mutate.by_hand(tree.root, "jitlint/infer/tiny.py", old, new)).by or "survived")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants run in forks")
def test_mutants_of_a_tiny_module_are_killed_or_survive(tmp_path: Path) -> None:
    for name, text in TINY.items():
        path = tmp_path / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    (tmp_path / "copy").mkdir()
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    script = SCRIPT.format(
        tools=str(ROOT / "tools"), source=str(tmp_path / "source"), folder=str(tmp_path / "copy")
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env=env
    )
    assert done.stdout.splitlines() == [
        "fails without a change, left out: tests/test_tiny.py::test_always_fails",
        "tests/test_tiny.py::test_large",
        "survived",
        "SIGXCPU of the process",
        "tests/test_tiny.py (collecting)",
    ], done.stderr
    assert (tmp_path / "source/jitlint/infer/tiny.py").read_text() == TINY["jitlint/infer/tiny.py"]
