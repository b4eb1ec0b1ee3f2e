"""How long an answer takes after an edit: from the command line with its cache, and from an open session.

usage: python benchmarks/bench_incremental.py FOLDER... [--edits 7] [--session 20] [--seed 0]

Works on copies. The edits are made to files drawn at random among those that JAX is mentioned in: a comment at the end of a
file, and another statement in the body of a function. Prints medians of wall and CPU seconds, for a session also the 95th
percentile; first of all what else the machine was doing.
"""

from __future__ import annotations

import argparse
import ast
import os
import platform
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.driver.session import Session  # noqa: E402

_ANSWERED = (0, 2)
"""Exit codes of a run that said all it could: 2 if some file cannot be read as what it is."""
CHECK = (sys.executable, "-m", "jitlint", "check", "--exit-zero", "-q", "--output-format", "concise")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and bytes of one process with its children."""

    wall: float
    cpu: float
    memory: int


def run(*paths: str, options: tuple[str, ...] = ()) -> Cost:
    """One run of the command in the working directory."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    start = time.perf_counter()
    process = subprocess.Popen([*CHECK, *options, *paths], stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in _ANSWERED:
        raise SystemExit(f"jitlint failed in {os.getcwd()}: {process.returncode}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def files(root: Path) -> list[Path]:
    """Files that an edit can matter in."""
    found = []
    for path in sorted(root.rglob("*.py")):
        try:
            text = path.read_text(encoding="utf-8")
            ast.parse(text)
        except (OSError, ValueError, SyntaxError):
            continue
        if "jax" in text and _bodies(text):
            found.append(path)
    return found


def comment(text: str, number: int) -> str:
    """Says nothing."""
    return f"{text}\n# {number}\n"


def body(text: str, number: int) -> str:
    """Another statement in a function."""
    bodies = _bodies(text)
    node = bodies[number % len(bodies)].body[0]
    first = min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", ())]])
    lines = text.splitlines(keepends=True)
    return "".join(
        [
            *lines[: first - 1],
            f"{' ' * node.col_offset}changed_{number} = {number}\n",
            *lines[first - 1 :],
        ]
    )


def _bodies(text: str) -> list[ast.FunctionDef]:
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.body[0].lineno > node.lineno
    ]


def edited(
    chosen: list[Path],
    change: Callable[[str, int], str],
    measure: Callable[[Path], Cost],
    turns: Iterator[int],
) -> list[Cost]:
    """What an answer costs after an edit to each of the files, which is then undone. turns: no edit is like another."""
    costs = []
    for number, path in zip(turns, chosen):
        before = path.read_text(encoding="utf-8")
        path.write_text(change(before, number), encoding="utf-8")
        costs.append(measure(path))
        path.write_text(before, encoding="utf-8")
        run(".")
    return costs


def resident(
    chosen: list[Path], change: Callable[[str, int], str], session: Session, turns: Iterator[int]
) -> list[Cost]:
    """What a session takes for each edit."""
    costs = []
    for number, path in zip(turns, chosen):
        text = change(path.read_text(encoding="utf-8"), number)
        wall, cpu = time.perf_counter(), time.process_time()
        session.update(str(path), text)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        costs.append(Cost(time.perf_counter() - wall, time.process_time() - cpu, peak))
        session.update(str(path), None)
    return costs


def _row(name: str, costs: list[Cost]) -> str:
    wall, cpu = (statistics.median(getattr(cost, key) for cost in costs) for key in ("wall", "cpu"))
    memory = max(cost.memory for cost in costs) / 1e6
    return f"| {name} | {wall:.2f} | {cpu:.2f} | {memory:.0f} |"


def _session_row(name: str, costs: list[Cost]) -> str:
    wall, cpu = (sorted(getattr(cost, key) for cost in costs) for key in ("wall", "cpu"))
    late = min(len(costs) - 1, int(len(costs) * 0.95))
    memory = max(cost.memory for cost in costs) / 1e6
    return (
        f"| session: {name} | {statistics.median(wall):.3f}, 95 %: {wall[late]:.3f} "
        f"| {statistics.median(cpu):.3f}, 95 %: {cpu[late]:.3f} | {memory:.0f} |"
    )


def bench(source: Path, edits: int, updates: int, seed: int) -> None:
    """Print the table of one repository."""
    rng, turns = random.Random(seed), count(1)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / source.name
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".jitlint_cache"), symlinks=True)
        os.chdir(root)
        found = files(root)
        chosen = [rng.choice(found) for _ in range(edits)]
        print(f"\n{source.name}: {len(list(root.rglob('*.py')))} files; load {os.getloadavg()[0]:.1f}\n")
        print("| | wall, s | CPU, s | peak, MB |\n| --- | --- | --- | --- |", flush=True)
        print(_row("cold, one process", [run(".", options=("--no-cache", "--jobs", "1"))]), flush=True)
        print(_row("cold, two processes", [run(".", options=("--no-cache", "--jobs", "2"))]), flush=True)
        run(".")
        time.sleep(2.5)  # a file that has just been written is not trusted
        run(".")
        print(_row("nothing changed", [run(".") for _ in range(edits)]), flush=True)
        print(_row("one comment", edited(chosen, comment, lambda path: run("."), turns)), flush=True)
        print(
            _row("one comment, file named", edited(chosen, comment, lambda path: run(str(path)), turns)),
            flush=True,
        )
        few = chosen[: max(1, edits // 3)]
        print(_row("one function body", edited(few, body, lambda path: run("."), turns)), flush=True)
        session = Session(["."], Settings(), jobs=1)
        session.refresh()
        typed = [rng.choice(found) for _ in range(updates)]
        print(_session_row("one comment", resident(typed, comment, session, turns)), flush=True)
        print(
            _session_row("one function body", resident(typed[: max(1, updates // 6)], body, session, turns)),
            flush=True,
        )
        os.chdir(ROOT)


def main() -> None:
    """Read the arguments and print a table per folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--edits", type=int, default=7)
    parser.add_argument("--session", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(
        f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, load {load}"
    )
    for folder in options.folders:
        bench(folder.resolve(), options.edits, options.session, options.seed)


if __name__ == "__main__":
    main()
