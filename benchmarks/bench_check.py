"""Compares `jitlint check` with parsing the same files once with libcst, in one run.

usage: python benchmarks/bench_check.py FOLDER [--rounds N]

Prints CPU seconds of both as whole processes and their ratio, the wall-clock gain of two processes over one
(beside it what two independent busy loops reach here), the time of a second, unchanged run, and peak memory. Every
figure is the median over the rounds; the two sides of a ratio alternate, so a drift of the machine hits both.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARSE = """
import gc, sys
import libcst
gc.disable()
for path in sys.stdin.read().split("\\0"):
    try:
        libcst.parse_module(open(path, "rb").read())
    except Exception:
        pass
"""
BUSY = "n = 0\nfor i in range(12_000_000): n += i"


def run(command: list[str], stdin: str = "", env: dict[str, str] | None = None) -> tuple[float, float, int]:
    """CPU seconds, wall seconds and peak memory in bytes of one process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **(env or {})},
    )
    process.communicate(stdin)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, after.ru_maxrss * 1024


def busy_gain() -> float:
    """How much faster two busy loops run side by side than one after the other."""
    start = time.perf_counter()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", BUSY], check=True)
    one = time.perf_counter() - start
    start = time.perf_counter()
    loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2)]
    for loop in loops:
        loop.wait()
    return one / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    files = sorted(str(path) for path in options.folder.rglob("*.py"))
    check = [
        sys.executable,
        "-m",
        "jitlint",
        "check",
        "--exit-zero",
        "--output-format",
        "concise",
        str(options.folder),
    ]
    parse_cpu, check_cpu, one_wall, two_wall, warm_wall = [], [], [], [], []
    for _ in range(options.rounds):
        parse_cpu.append(run([sys.executable, "-c", PARSE], "\0".join(files))[0])
        cpu, wall, _ = run([*check, "--no-cache", "--jobs", "1"])
        check_cpu.append(cpu)
        one_wall.append(wall)
        two_wall.append(run([*check, "--no-cache", "--jobs", "2"])[1])
    with tempfile.TemporaryDirectory() as cache:
        env = {"JITLINT_CACHE_DIR": cache}
        run(check, env=env)
        for _ in range(options.rounds):
            warm_wall.append(run(check, env=env)[1])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    median = statistics.median
    ratios = [c / p for c, p in zip(check_cpu, parse_cpu)]
    gains = [a / b for a, b in zip(one_wall, two_wall)]
    print(f"files: {len(files)}")
    print(f"parse with libcst, CPU: {median(parse_cpu):.2f} s")
    print(f"check, one process, no cache, CPU: {median(check_cpu):.2f} s; ratio {median(ratios):.2f}")
    print(f"two processes: {median(gains):.2f} times faster (two busy loops: {busy_gain():.2f})")
    print(f"second run, nothing changed: {median(warm_wall):.2f} s")
    print(f"peak memory of any process: {peak:.0f} MB")


if __name__ == "__main__":
    main()
