"""Whether `jitlint why` and hover say what JAX makes of a value: traced or not, at names drawn from the fixtures.

    python benchmarks/values.py [FOLDER...] [--places 200] [--per-file 5] [--seed 0]

RUNS THE CODE: all cases of the fixtures that are drawn, under real JAX, with every name that a function reads looked at. A name that is
said to be traced must have been a tracer at least once, one that is said to be static never. Names that did not run, and those
about which nothing is said, are counted. Exit code 1 if one is said wrongly.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import keyword
import random
import re
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.base.diagnostic import Confidence  # noqa: E402
from jitlint.base.result import ValueRow  # noqa: E402
from jitlint.driver.why import values  # noqa: E402
from tests.fixtures.marks import FIXTURES, cases, needs  # noqa: E402

Place = tuple[int, int]
_STATUS = re.compile(r"\*\*(\w+)\*\*")


class _Looking(ast.NodeTransformer):
    """Hands every name that a function reads to ``__see__``, with its place."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.body = [self._inside(statement) for statement in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self.generic_visit(node)

    def _inside(self, statement: ast.stmt) -> ast.stmt:
        return _Names().visit(statement)  # type: ignore[no-any-return]


class _Names(ast.NodeTransformer):
    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        return _Looking().visit_FunctionDef(node)

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load) or node.id == "super":
            return node
        place = [ast.Constant(node.lineno), ast.Constant(node.col_offset + 1)]
        call = ast.Call(ast.Name("__see__", ast.Load()), [*place, node], [])
        return ast.copy_location(call, node)

    def visit_match_case(self, node: ast.match_case) -> Any:
        node.body = [self.visit(statement) for statement in node.body]
        return node


@contextlib.contextmanager
def _as_module(module: types.ModuleType) -> Iterator[None]:
    sys.modules[module.__name__] = module
    try:
        yield
    finally:
        del sys.modules[module.__name__]


def observed(path: Path) -> dict[Place, set[bool]]:
    """Place of every name that was read while all cases ran: whether a tracer was in its value."""
    import jax

    found: dict[Place, set[bool]] = {}
    looking = False

    def see(line: int, column: int, value: Any) -> Any:
        nonlocal looking
        if looking:  # the program's own functions take its objects apart
            return value
        looking = True
        try:
            leaves = jax.tree_util.tree_leaves(value)
        except AttributeError:  # an object that is not whole yet
            return value
        finally:
            looking = False
        # A container with nothing in it, such as the state of plain `optax.sgd`, shows neither.
        if leaves or value is None:
            found.setdefault((line, column), set()).add(
                any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)
            )
        return value

    _run(path, see)
    return found


def observed_shapes(path: Path) -> dict[Place, set[tuple[int, ...] | None]]:
    """Place of every name that was read while all cases ran: the shapes of the arrays that it was, None for what was none."""
    import jax
    import numpy as np

    found: dict[Place, set[tuple[int, ...] | None]] = {}

    def see(line: int, column: int, value: Any) -> Any:
        shape = value.shape if isinstance(value, (jax.Array, np.ndarray)) else None
        found.setdefault((line, column), set()).add(shape)
        return value

    _run(path, see)
    return found


def _run(path: Path, see: Callable[[int, int, Any], Any]) -> None:
    """Run all cases of a fixture and show every name that is read."""
    tree = ast.fix_missing_locations(_Looking().visit(ast.parse(path.read_text(encoding="utf-8"))))
    module = types.ModuleType(f"looked_at_{path.parent.name}")
    module.__dict__["__see__"] = see
    with warnings.catch_warnings(), _as_module(module), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(tree, str(path), "exec"), module.__dict__)
        for case in cases(path):
            try:
                getattr(module, case)()
            except Exception:  # the bad ones raise
                continue


def told(path: Path) -> list[ValueRow]:
    """What is said of the names in a file that is more than a guess; `True` and its like are none."""
    return [
        row
        for row in values(str(path), Settings(), use_cache=False)
        if row.text.isidentifier()
        and not keyword.iskeyword(row.text)
        and row.confidence is not Confidence.POSSIBLE
        and not row.code
    ]


def said(rows: list[ValueRow]) -> dict[Place, set[str]]:
    """The same by place."""
    found: dict[Place, set[str]] = {}
    for row in rows:
        found.setdefault((row.span.line, row.span.column), set()).add(row.status)
    return found


def is_wrong(statuses: set[str], tracers: set[bool]) -> bool:
    """Whether JAX has shown the contrary."""
    return (statuses == {"traced"} and True not in tracers) or (statuses == {"static"} and True in tracers)


def programs(folders: list[Path]) -> list[Path]:
    """The fixtures that can be run here."""
    return sorted(
        path
        for folder in folders
        for path in folder.glob("*/*.py")
        if path.name in ("good.py", "bad.py") and not path.parent.name.startswith("_") and not needs(path)
    )


@dataclass(slots=True)
class _Tally:
    """What was drawn."""

    counts: Counter[str]
    wrong: list[str]

    def draw(self, path: Path, most: int, rng: random.Random) -> None:
        """Look at some of the names in a file that ran."""
        from jitlint.frontends.server.convert import at_position, hover_text

        rows, seen = told(path), observed(path)
        everything = values(str(path), Settings(), use_cache=False)
        statuses = said(rows)
        places = sorted(seen.keys() & statuses.keys())
        self.counts["of which nothing is said"] += len(seen.keys() - statuses.keys())
        for place in rng.sample(places, min(most, len(places))):
            self.counts["places"] += 1
            hover = hover_text(at_position(everything, *place, 0))
            shown = set(_STATUS.findall(hover)) & {"traced", "static", "mixed", "unknown"}
            kind = statuses[place].copy().pop() if len(statuses[place]) == 1 else "in several ways"
            self.counts[f"said: {kind}"] += 1
            if is_wrong(statuses[place], seen[place]) or not statuses[place] <= shown:
                line = f"{path.parent.name}/{path.name}:{place[0]}:{place[1]}"
                self.wrong.append(f"{line}: why {statuses[place]}, hover {shown}, tracer {seen[place]}")


def main() -> int:
    """Draw, compare, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path, default=[FIXTURES])
    parser.add_argument("--places", type=int, default=200)
    parser.add_argument("--per-file", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = programs(options.folders)
    rng.shuffle(files)
    tally = _Tally(Counter(), [])
    for path in files:
        missing = options.places - tally.counts["places"]
        if missing > 0:
            tally.draw(path, min(options.per_file, missing), rng)
    for line in tally.wrong:
        print(line)
    drawn = tally.counts["places"]
    print(f"{drawn - len(tally.wrong)} of {drawn} places agree with JAX; {dict(tally.counts)}")
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
