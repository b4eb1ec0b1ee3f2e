"""How time, memory and cache grow with the size of a tree.

usage: python benchmarks/growth.py FOLDER [--lines 10000 100000 500000 2000000] [--joined] [--source TREE] [--jobs 1]

Writes a tree of each size below FOLDER (`benchmarks/grown.py`; one that is there is used again), checks it with a
new cache, again, and after an edit of one function. Prints seconds of wall and processor, in all and for each thousand
lines, the peak memory of any process and the size of the cache, and in the end the time for a thousand lines of the largest tree
in those of the second. --joined: imports connect all packages. --source: copies of a tree instead of made-up packages.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.grown import tree  # noqa: E402

CHECK = (sys.executable, "-m", "jitlint", "check", "--exit-zero", "--isolated", "--output-format", "json")


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds and bytes of a process with its children."""

    wall: float
    cpu: float
    memory: int


def run(folder: Path, cache: Path, *options: str) -> Cost:
    """One run of the command over a tree."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JITLINT_CACHE_DIR": str(cache)}
    start = time.perf_counter()
    process = subprocess.Popen(
        [*CHECK, *options, "."],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"jitlint failed in {folder}: {process.returncode}")
    return Cost(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def grown(folder: Path, lines: int, joined: bool, source: Path | None) -> int:
    """Write the tree if it is not there; how many lines it has."""
    note = folder / ".lines"
    if not note.is_file():
        shutil.rmtree(folder, ignore_errors=True)
        note.write_text(str(tree(folder, lines, joined, source)), "utf-8")
    return int(note.read_text("utf-8"))


def edited(folder: Path) -> Path:
    """A file that says something else than before."""
    path = max(folder.rglob("looping.py"), default=None) or max(folder.rglob("*.py"))
    text = path.read_text("utf-8")
    path.write_text(f"{text}\n\ndef another_{time.time_ns()}(x):\n    return x + 1\n", "utf-8")
    return path


def row(lines: int, what: str, cost: Cost) -> str:
    """One line of the table."""
    each = lines / 1000
    return (
        f"| {lines:,} | {what} | {cost.wall:.2f} | {cost.cpu:.2f} | {1000 * cost.wall / each:.1f} "
        f"| {1000 * cost.cpu / each:.1f} | {cost.memory / 1e6:.0f} |"
    )


def measure(folder: Path, lines: int, jobs: int) -> Cost:
    """Print the rows of one tree; the cost of its first row."""
    cache = folder.with_name(folder.name + "-cache")
    shutil.rmtree(cache, ignore_errors=True)
    with_jobs = ("--jobs", str(jobs))
    first = run(folder, cache, *with_jobs)
    print(row(lines, "first run", first), flush=True)
    print(row(lines, "nothing changed", run(folder, cache, *with_jobs)), flush=True)
    path = edited(folder)
    before = path.read_text("utf-8").rpartition("\n\ndef another_")[0]
    print(row(lines, "one function more", run(folder, cache, *with_jobs)), flush=True)
    path.write_text(before, "utf-8")
    size = sum(each.stat().st_size for each in cache.rglob("*") if each.is_file())
    print(
        f"| {lines:,} | cache: {size / 1e6:.1f} MB, {size / lines:.0f} bytes a line | | | | | |", flush=True
    )
    return first


def main() -> None:
    """Read the arguments, print a table and the ratio."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, nargs="+", default=[10_000, 100_000, 500_000, 2_000_000])
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    python = platform.python_version()
    print(
        f"{platform.machine()}, {os.cpu_count()} processors, Python {python}, load {load}, {options.jobs} jobs\n"
    )
    print("| lines | | wall, s | CPU, s | wall, ms per 1,000 | CPU, ms per 1,000 | peak, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    kind = "joined" if options.joined else options.source.name if options.source else "apart"
    costs: list[tuple[int, Cost]] = []
    for wanted in options.lines:
        folder = options.folder.resolve() / f"{kind}-{wanted}"
        lines = grown(folder, wanted, options.joined, options.source)
        costs.append((lines, measure(folder, lines, options.jobs)))
    (few, one), (many, last) = costs[min(1, len(costs) - 1)], costs[-1]
    for name in ("wall", "cpu"):
        ratio = getattr(last, name) / many / (getattr(one, name) / few)
        print(f"\n{name}: a thousand lines of {many:,} take {ratio:.2f} times what they take of {few:,}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
