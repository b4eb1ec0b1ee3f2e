"""Runs the whole analyser over files that were written without it in mind: nothing may crash or take too long.

    python benchmarks/foreign_files.py FOLDER... [--limit 10] [--most 10000]

Every file is decoded, lowered, interpreted as a program of its own (with the guesses of `--min-confidence possible`) and
judged, in one of two processes, with a limit of CPU time per file. Prints how the files ended, the slowest and the peak memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import signal
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jitlint.driver.deep import on_deep_stack
from jitlint.driver.judge import verdicts
from jitlint.driver.registry import rules
from jitlint.link.program import ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from jitlint.syntax.source import SyntaxProblem, decode
from jitlint.syntax.spans import compute_spans


def _check(path: str) -> str:
    """How the file ended, in a word."""
    data = Path(path).read_bytes()
    text = decode(data)
    if isinstance(text, SyntaxProblem):
        return text.code
    lowered = lower(text)
    if isinstance(lowered, SyntaxProblem):
        return lowered.code
    module = ModuleInput("m", path, False, ir.encode_module(lowered), False)
    analysis = analyse([module], Options(include_possible=True))
    if analysis.failures:
        return f"crash: {next(iter(analysis.failures.values()))}"
    found = verdicts(analysis.events, rules(), {"m": path})
    compute_spans(text, {verdict.event.place.at for verdict in found})
    return "findings" if found else "nothing to say"


def _outcome(path: str) -> str:
    try:
        return on_deep_stack(lambda: _check(path))
    except OSError as error:
        return f"unreadable ({type(error).__name__})"
    except Exception as error:
        return f"crash: {type(error).__name__}: {error}"


def check(task: tuple[str, int]) -> tuple[str, str, float, float]:
    """The path, how it ended, the CPU seconds it took and the most memory (MB); in a process of its own."""
    path, limit = task
    ours, theirs = multiprocessing.Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        try:
            theirs.send(_outcome(path))
        finally:
            os._exit(0)
    theirs.close()
    try:
        outcome = ours.recv() if ours.poll(60 * limit) else "too long"
    except EOFError:  # the limit kills the process
        outcome = "too long"
    os.kill(pid, signal.SIGKILL)
    usage = os.wait4(pid, 0)[2]
    return path, outcome, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> int:
    """Run and print; 1 if a file crashed or took too long."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--limit", type=int, default=10, help="CPU seconds per file")
    parser.add_argument("--most", type=int, default=10_000, help="files")
    arguments = parser.parse_args()
    files = sorted(
        {str(path) for folder in arguments.folders for path in Path(folder).rglob("*.py") if path.is_file()}
    )
    files = files[: arguments.most]
    outcomes: Counter[str] = Counter()
    slowest: list[tuple[float, str]] = []
    bad: list[str] = []
    peak = 0.0
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=500) as pool:
        for path, outcome, seconds, memory in pool.imap_unordered(
            check, [(path, arguments.limit) for path in files], 8
        ):
            outcomes[outcome.split(":")[0]] += 1
            peak = max(peak, memory)
            slowest = sorted([*slowest, (seconds, path)], reverse=True)[:5]
            if outcome.startswith(("crash", "too long")):
                bad.append(f"{path}: {outcome}")
    for outcome, count in outcomes.most_common():
        print(f"{count:>7,}  {outcome}")
    print(f"{len(files):>7,}  files; peak memory of one {peak:.0f} MB")
    for seconds, path in slowest:
        print(f"{seconds:7.2f} s  {os.path.relpath(path)}")
    print(*bad, sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
