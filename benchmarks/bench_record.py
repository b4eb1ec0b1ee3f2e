"""Measures what `jitlint record` costs a program: the same command with and without, in turns.

    python benchmarks/bench_record.py [--pairs 3] -- COMMAND...

Prints CPU seconds (user and system, of all processes), as wall time says little on a machine that others use, too.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "jitlint" / "record" / "site"


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    """CPU seconds of a command and of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args(arguments)
    off: list[float] = []
    on: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.environ.get("PYTHONPATH")
        recording = {
            **os.environ,
            "PYTHONPATH": str(SITE) + (os.pathsep + path if path else ""),
            "JITLINT_RECORD_FOLDER": folder,
            "JITLINT_RECORD_ROOT": os.path.realpath("."),
        }
        _seconds(options.command, dict(os.environ))  # fills the caches of files
        for number in range(options.pairs):
            for seconds, environment in ((off, dict(os.environ)), (on, recording))[:: 1 - 2 * (number % 2)]:
                seconds.append(_seconds(options.command, environment))
            print(f"off {off[-1]:.2f}  on {on[-1]:.2f}  {on[-1] / off[-1] - 1:+.1%}", flush=True)
    print(f"median: off {median(off):.2f}  on {median(on):.2f}  {median(on) / median(off) - 1:+.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
