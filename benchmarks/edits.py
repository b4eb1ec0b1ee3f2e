"""Whether the answer after an edit is the one from scratch: random edits to repositories, one after the other.

    python benchmarks/edits.py REPOSITORY... [--edits 200] [--seed 0] [--keep-going]

Works on a copy. After each edit (a comment, other layout, another number or name, calls, functions, imports and files that come
and go, text that is no program, configuration) four answers are compared: of a run without a cache, of a run with
one, of a resident session, and of a run over one named file, which is that file's part of the whole. Exit code 1 if any
differs; the line says which edit of which seed.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.base.diagnostic import Finding, Severity  # noqa: E402
from jitlint.base.result import CheckResult  # noqa: E402
from jitlint.driver.project import callers_of  # noqa: E402
from jitlint.driver.run import check  # noqa: E402
from jitlint.driver.session import Session  # noqa: E402

ALL = Settings(min_severity=Severity.INFO, tests="all", extend_select=("JIT004",))
COMMENTS = (
    "# a comment",
    "# noqa",
    "# jitlint: ignore",
    "# jitlint: off[JIT1]",
    "# jitlint: traced",
    "# jax",
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")


@dataclass(slots=True)
class Tree:
    """A copy of a repository that is edited. broken: files that are no programs for now, with what they were."""

    root: Path
    rng: random.Random
    settings: Settings = ALL
    broken: dict[Path, str] = field(default_factory=dict)
    made: int = 0

    def files(self) -> list[Path]:
        """The Python files, in a fixed order."""
        return sorted(path for path in self.root.rglob("*.py") if path.is_file())

    def read(self, path: Path) -> str | None:
        """The text of a file; None if it has none."""
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None


Edit = Callable[[Tree, Path, str], "str | None"]
"""A new text for a file, or None if the edit does not fit."""


def comment(tree: Tree, path: Path, text: str) -> str | None:
    """Another comment, somewhere between statements or behind one."""
    lines = text.splitlines(keepends=True)
    nodes = [node for node in _nodes(text) if isinstance(node, ast.stmt)]
    if not nodes:
        return text + "# end\n"
    node = tree.rng.choice(nodes)
    if tree.rng.random() < 0.5:
        line = lines[node.lineno - 1]
        indent = line[: len(line) - len(line.lstrip())]
        return "".join(
            [*lines[: node.lineno - 1], f"{indent}{tree.rng.choice(COMMENTS)}\n", *lines[node.lineno - 1 :]]
        )
    end = (node.end_lineno or node.lineno) - 1
    if not lines[end].endswith("\n") or lines[end].rstrip("\n").endswith("\\"):
        return None
    return "".join([*lines[:end], f"{lines[end][:-1]}  {tree.rng.choice(COMMENTS)}\n", *lines[end + 1 :]])


def layout(tree: Tree, path: Path, text: str) -> str | None:
    """Empty lines, and brackets over several lines."""
    body = [node for node in _body(text) if node.col_offset == 0]
    if not body:
        return None
    lines = text.splitlines(keepends=True)
    at = tree.rng.choice(body).lineno - 1
    while at and lines[at - 1].lstrip().startswith("@"):
        at -= 1
    return "".join([*lines[:at], "\n" * tree.rng.randint(1, 3), *lines[at:]])


def number(tree: Tree, path: Path, text: str) -> str | None:
    """Another number."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    match = tree.rng.choice(found)
    return f"{text[: match.start()]}{tree.rng.randint(0, 12)}{text[match.end() :]}"


def rename(tree: Tree, path: Path, text: str) -> str | None:
    """Another name for a function or a class, in its own file alone."""
    names = [n.name for n in _nodes(text) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    if not names:
        return None
    name = tree.rng.choice(names)
    return re.sub(rf"\b{name}\b", f"{name}_{tree.rng.randint(0, 9)}", text)


def call(tree: Tree, path: Path, text: str) -> str | None:
    """A call of something that the file calls anyway."""
    names = _CALL.findall(text)
    if not names:
        return None
    at = tree.rng.choice(["", "@jax.jit\n"])
    tree.made += 1
    arguments = ", ".join(tree.rng.sample(["a", "b", "3", "None"], tree.rng.randint(0, 3)))
    return f"{text}\n\n{at}def made_{tree.made}(a, b):\n    return {tree.rng.choice(names)}({arguments})\n"


def call_gone(tree: Tree, path: Path, text: str) -> str | None:
    """A statement less."""
    nodes = [n for n in _nodes(text) if isinstance(n, (ast.Expr, ast.Assign, ast.Return))]
    return _without(text, tree.rng.choice(nodes), "pass") if nodes else None


def function_gone(tree: Tree, path: Path, text: str) -> str | None:
    """A function or a class less."""
    nodes = [n for n in _body(text) if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    return _without(text, tree.rng.choice(nodes), "pass") if nodes else None


def function_moved(tree: Tree, path: Path, text: str) -> str | None:
    """A function at the end of its file."""
    nodes = [n for n in _body(text) if isinstance(n, ast.FunctionDef)]
    if not nodes:
        return None
    node = tree.rng.choice(nodes)
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    lines = text.splitlines(keepends=True)
    moved = lines[first - 1 : node.end_lineno]
    return "".join([*lines[: first - 1], *lines[node.end_lineno :], "\n\n", *moved, "\n"])


def import_gone(tree: Tree, path: Path, text: str) -> str | None:
    """An import less."""
    nodes = [n for n in _body(text) if isinstance(n, (ast.Import, ast.ImportFrom))]
    return _without(text, tree.rng.choice(nodes), "pass") if nodes else None


def import_more(tree: Tree, path: Path, text: str) -> str | None:
    """An import of some file."""
    other = tree.rng.choice(tree.files())
    name = ".".join(other.relative_to(tree.root).with_suffix("").parts)
    return f"import {name}\n{text}" if "__future__" not in text else f"{text}\nimport {name}\n"


def broken(tree: Tree, path: Path, text: str) -> str | None:
    """Text that is no program: what somebody types looks like that most of the time."""
    tree.broken[path] = text
    at = tree.rng.randrange(len(text) + 1)
    return f"{text[:at]}({text[at:]}"


EDITS: tuple[Edit, ...] = (
    comment,
    comment,
    layout,
    number,
    number,
    rename,
    call,
    call_gone,
    function_gone,
    function_moved,
    import_gone,
    import_more,
    broken,
)


def _nodes(text: str) -> list[ast.AST]:
    try:
        return list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return []


def _body(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return []


def _without(text: str, node: ast.stmt, instead: str) -> str | None:
    lines = text.splitlines(keepends=True)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    end = node.end_lineno or node.lineno
    if lines[first - 1][: node.col_offset].strip() or ";" in lines[end - 1]:
        return None
    return "".join([*lines[: first - 1], f"{' ' * node.col_offset}{instead}\n", *lines[end:]])


# ---------------------------------------------------------------- one step


def step(tree: Tree, session: Session) -> str:
    """Edit something and tell the session; what was done."""
    what = tree.rng.random()
    if tree.broken and what < 0.25:
        path = tree.rng.choice(sorted(tree.broken))
        return _write(tree, session, path, tree.broken.pop(path), "mended")
    if what < 0.05:
        return _configure(tree, session)
    if what < 0.12:
        return _files(tree, session)
    while True:
        path = tree.rng.choice(tree.files())
        text = tree.read(path)
        edit = tree.rng.choice(EDITS)
        if text is None or path in tree.broken:
            continue
        new = edit(tree, path, text)
        if new is not None and new != text:
            return _write(tree, session, path, new, edit.__name__)


def _write(tree: Tree, session: Session, path: Path, text: str, what: str) -> str:
    if tree.rng.random() < 0.5:
        session.update(str(path), text)  # an editor has the text before the disk has it
        path.write_text(text, encoding="utf-8")
        session.update(str(path), None)
    else:
        path.write_text(text, encoding="utf-8")
        session.refresh()
    return f"{what} in {path.relative_to(tree.root)}"


def _configure(tree: Tree, session: Session) -> str:
    choices: list[dict[str, tuple[str, ...]]] = [
        {},
        {"ignore": ("JIT1",)},
        {"traced": ("*.*e",)},
        {"exclude": (tree.rng.choice(tree.files()).name,)},
    ]
    chosen = tree.rng.choice(choices)
    tree.settings = replace(ALL, directory=str(tree.root), **chosen)  # type: ignore[arg-type]
    session.reload(tree.settings)
    return f"configured {chosen}"


def _files(tree: Tree, session: Session) -> str:
    path = tree.rng.choice(tree.files())
    text = tree.read(path) or ""
    if tree.rng.random() < 0.5 and len(tree.files()) > 3:
        path.unlink()
        tree.broken.pop(path, None)
        what = f"deleted {path.relative_to(tree.root)}"
    else:
        tree.made += 1
        new = path.with_name(f"{'test_' * tree.rng.randint(0, 1)}new_{tree.made}.py")
        new.write_text(f"import {path.stem}\n{text}", encoding="utf-8")
        what = f"made {new.relative_to(tree.root)}"
    session.refresh()
    return what


# ---------------------------------------------------------------- the answers


def compare(tree: Tree, session: Session) -> list[str]:
    """Which answers are not that of a run from scratch."""
    fresh = check(["."], tree.settings, jobs=1, use_cache=False)
    wrong = []
    if _said(fresh) != _said(check(["."], tree.settings, jobs=1)):
        wrong.append("with a cache")
    resident = [finding for found in session.findings.values() for finding in found]
    if _said(fresh) != _sorted(resident):
        wrong.append("in a session")
    one = tree.rng.choice(sorted({finding.path for finding in fresh.findings}) or ["."])
    named = check([one], tree.settings, jobs=1, context=callers_of([one]))
    if one != "." and _sorted(named.findings) != _sorted(f for f in fresh.findings if f.path == one):
        wrong.append(f"of {one} alone")
    return wrong


def _said(result: CheckResult) -> list[Finding]:
    return _sorted([*result.problems, *result.findings])


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: (finding.sort_key, repr(finding)))


def play(source: Path, edits: int, seed: int, say: Callable[[str], None], keep_going: bool = False) -> int:
    """How many edits of a repository had another answer than that from scratch."""
    wrong, done = 0, Counter[str]()
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "copy"
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".jitlint_cache", ".git"), symlinks=True)
        (root / ".git").mkdir()
        os.chdir(root)
        try:
            tree = Tree(root, random.Random(seed))
            session = Session(["."], tree.settings, jobs=1)
            session.refresh()
            for turn in range(edits):
                what = step(tree, session)
                done[what.split()[0]] += 1
                differing = compare(tree, session)
                if differing:
                    wrong += 1
                    say(
                        f"{source.name}: seed {seed}, edit {turn} ({what}): other answers {', '.join(differing)}"
                    )
                    if not keep_going:
                        break
        finally:
            os.chdir(here)
    say(f"{source.name}: {sum(done.values())} edits, {wrong} with another answer ({_list(done)})")
    return wrong


def _list(done: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in done.most_common())


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep-going", action="store_true")
    options = parser.parse_args(arguments)
    wrong = 0
    for repository in options.repositories:
        start = time.perf_counter()
        wrong += play(repository.resolve(), options.edits, options.seed, print, options.keep_going)
        print(f"  {time.perf_counter() - start:.0f} s", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
