"""How soon a session answers while somebody types into a function, and how often that answer is the exact one.

    python benchmarks/bench_early.py FOLDER... [--files 10] [--functions 3] [--edits 4] [--seed 0]

Nothing is written: edits are texts that nobody has saved. In every chosen file it goes to some functions, one after the other,
and changes statements of their bodies: another number, one statement more or less, a call or its result twice. After each edit
it asks for the early answer, then for the exact one. Prints seconds (median, 95th percentile), how many answers were
early, and how many of these said the same as the exact ones: in all they say, and in where they find something.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.driver.session import Changed, Session  # noqa: E402

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_PATIENCE = 300.0


@dataclass(slots=True)
class Counts:
    """Seconds of answers; how many early ones were the exact ones (same), and found the same at the same places (found)."""

    early: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    exact: list[float] = field(default_factory=list)
    same: int = 0
    found: int = 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--functions", type=int, default=3)
    parser.add_argument("--edits", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = Path.cwd()
    for folder in options.folders:
        os.chdir(start / folder)
        counts = measured(random.Random(options.seed), options.files, options.functions, options.edits)
        print(f"{folder}: {len(counts.early)} of {len(counts.early) + len(counts.late)} answers were early")
        for name, seconds in (("early", counts.early), ("not early", counts.late), ("exact", counts.exact)):
            if seconds:
                print(f"  {name}: {statistics.median(seconds):.3f}, 95 %: {_high(seconds):.3f}")
        print(
            f"  as the exact ones: {counts.same} in all they say, {counts.found} in what they find",
            flush=True,
        )


def measured(rng: random.Random, files: int, functions: int, edits: int) -> Counts:
    """Edit files of the folder that is the current one."""
    counts = Counts()
    session = Session(["."], Settings(), jobs=1, ahead=True)
    session.refresh()
    paths = sorted(path for path in Path().rglob("*.py") if "jax" in path.read_text("utf-8", "replace"))
    rng.shuffle(paths)
    for path in paths:
        text = path.read_text("utf-8", "replace")
        chosen = [edited for edited in bodies(text, rng, edits) if edited]
        if not chosen or not files:
            continue
        files -= 1
        session.update(str(path), text)
        for edited in chosen[:functions]:
            _wait(session)
            for new in edited:
                _one(session, str(path), new, counts)
                _rest(session)
        session.update(str(path), None)
    session.close()
    return counts


def _one(session: Session, path: str, text: str, counts: Counts) -> None:
    start = time.perf_counter()
    session.update(path, text)
    took = time.perf_counter() - start
    early, told = session.early, session.findings
    (counts.early if early else counts.late).append(took)
    if early:
        start = time.perf_counter()
        session.settle()
        counts.exact.append(time.perf_counter() - start)
        counts.same += told == session.findings
        counts.found += _places(told) == _places(session.findings)


def _places(told: Changed) -> set[tuple[str, str, str, int]]:
    return {(path, each.code, each.message, each.span.line) for path, found in told.items() for each in found}


def _wait(session: Session) -> None:
    """Until an analysis waits for the file."""
    end = time.monotonic() + _PATIENCE
    while not session.is_ahead and time.monotonic() < end:
        time.sleep(0.02)


def _rest(session: Session) -> None:
    """Who types reads what is said."""
    time.sleep(0.3)


def bodies(text: str, rng: random.Random, edits: int) -> Iterator[list[str]]:
    """For each function in another order: the texts that come of editing its body, one edit after the other."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    rng.shuffle(found)
    for node in found:
        lines = text.split("\n")
        out: list[str] = []
        for _ in range(edits):
            statement = rng.choice(node.body)
            first, last = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
            indent = " " * statement.col_offset
            if lines[first][: statement.col_offset].strip():
                break  # on the line of its function
            edited = list(lines)
            kind = rng.randrange(4)
            if kind == 0 and _NUMBER.search(lines[first]):
                edited[first] = _NUMBER.sub(str(rng.randint(1, 9)), lines[first], count=1)
            elif kind == 1:
                edited[first:first] = [f"{indent}edited = {rng.randint(1, 9)}"]
            elif kind == 2 and len(node.body) > 1:
                edited[first : last + 1] = [f"{indent}pass"]
            else:
                edited[first:first] = lines[first : last + 1]
            out.append("\n".join(edited))
        yield out


def _high(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


if __name__ == "__main__":
    main()
