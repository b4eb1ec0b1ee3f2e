"""How long a process needs for the catalogue: reading the compiled file, and first answers to questions.

    python benchmarks/bench_catalogue.py

Prints the median of CPU time over fresh processes, in milliseconds; exits 1 when loading takes 10 ms or more. Importing msgspec
and parts of the standard library, which every run of jitlint needs, is not counted.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

LIMIT = 10.0
RUNS = 15
PROGRAM = """
import functools, pathlib, re, time, typing, msgspec
start = time.process_time()
from jitlint.catalogue.load import catalogue
from jitlint.catalogue.transforms import load_transforms
imported = time.process_time()
data, entries = catalogue(), load_transforms(())
loaded = time.process_time()
for name in ("jax.numpy.sum", "jax.lax.scan", "jax.random.normal", "flax.linen.relu"):
    data.function(name)
asked = time.process_time()
print(imported - start, loaded - imported, asked - loaded)
"""


def main() -> int:
    root = str(Path(__file__).parents[1])
    rows = []
    for _ in range(RUNS):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, check=True
        )
        rows.append([float(word) * 1000 for word in done.stdout.split()])
    imports, load, ask = (statistics.median(column) for column in zip(*rows))
    print(
        f"import {imports:.1f} ms, load {load:.1f} ms, four questions {ask:.2f} ms (median of {RUNS} processes)"
    )
    return 0 if imports + load < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
