"""What jitlint adds to a run of flake8 over a repository.

usage: python benchmarks/bench_flake8.py FOLDER... [--files 1000] [--rounds 3]

Copies the first --files Python files of the FOLDERs into a git repository of their own and runs flake8 there in turn
without the plug-in (as if it were not installed), with it and an empty cache, with it and a full cache, and with it
after one file was edited. Prints the medians, and of what the plug-in adds the median over the rounds: all four runs
of a round stand side by side, so a drift of the machine hits all. flake8 is run with its defaults.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FLAKE8 = """
import importlib.metadata, sys
if sys.argv.pop(1) == "without":
    everything = importlib.metadata.distributions
    def others(**kwargs):
        for found in everything(**kwargs):
            if not any(point.value.startswith("jitlint") for point in found.entry_points):
                yield found
    importlib.metadata.distributions = others
from flake8.main.cli import main
raise SystemExit(main())
"""
EDIT = "\n\ndef a_new_function():\n    return 1\n"


def copy(folders: list[Path], target: Path, most: int) -> list[Path]:
    """The first files of the folders, in the order of their names, as a git repository."""
    found: list[Path] = []
    for folder in folders:
        for path in sorted(folder.rglob("*.py")):
            if path.is_file() and len(found) < most:
                found.append(target / folder.name.replace(".", "_") / path.relative_to(folder))
                found[-1].parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, found[-1])
    subprocess.run(["git", "init", "-q"], cwd=target, check=True)
    return found


def run(mode: str, folder: Path) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds (of all processes) and the number of JIT findings."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", FLAKE8, mode], cwd=folder, capture_output=True, text=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(f"flake8 failed:\n{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, sum(": JIT" in line for line in done.stdout.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    kinds = ("without the plug-in", "cold", "warm", "one file edited")
    walls: dict[str, list[float]] = {kind: [] for kind in kinds}
    cpus: dict[str, list[float]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "repository"
        folder.mkdir()
        files = copy([each.resolve() for each in options.folders], folder, options.files)
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        edited = files[len(files) // 2]
        found = 0
        for _ in range(options.rounds):
            shutil.rmtree(folder / ".jitlint_cache", ignore_errors=True)
            for kind in kinds:
                if kind == "one file edited":
                    edited.write_bytes(edited.read_bytes() + EDIT.encode())
                wall, cpu, count = run("without" if kind == kinds[0] else "with", folder)
                walls[kind].append(wall)
                cpus[kind].append(cpu)
                found = max(found, count)
                print(f"{kind}: {wall:.1f} s, CPU {cpu:.1f} s", file=sys.stderr, flush=True)
    print(f"{len(files):,} files, {lines:,} lines, {found} JIT findings; median of {options.rounds} rounds")
    print(f"{'':22}{'wall':>8}{'CPU':>8}   added: wall, CPU, wall in percent")
    for kind in kinds:
        row = f"{kind:22}{statistics.median(walls[kind]):7.1f}s{statistics.median(cpus[kind]):7.1f}s"
        if kind != kinds[0]:
            wall, cpu = (
                statistics.median(a - b for a, b in zip(times[kind], times[kinds[0]]))
                for times in (walls, cpus)
            )
            row += f"   {wall:+.2f} s, {cpu:+.2f} s, {100 * wall / statistics.median(walls[kinds[0]]):+.1f} %"
        print(row)


if __name__ == "__main__":
    main()
