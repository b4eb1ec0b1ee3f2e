"""Runs the whole analyser over files that were written without it in mind: nothing may crash or take too long.

    python benchmarks/foreign_files.py PATH... [--limit 10] [--skip 0] [--most 10000] [--jobs 2]

Every file is decoded, lowered, interpreted as a program of its own (with the guesses of `--min-confidence possible`) and
judged, in a process of its own with a limit of CPU time. Prints how the files ended, the slowest, the peak memory, what
went wrong and what was refused as too complex (JIT003). The files of all PATHs are taken in the order of their names; --skip and --most take a part of them.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import signal
import sys
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from jitlint.driver.judge import verdicts
from jitlint.driver.processes.deep import on_deep_stack
from jitlint.driver.registry import rules
from jitlint.link.program import ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from jitlint.syntax.source import SyntaxProblem, decode
from jitlint.syntax.spans import compute_spans

SLOWEST = 8
BAD = ("crash", "too long")
REFUSED = "JIT003"


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


def _ended(status: int, seconds: float, limit: int) -> str:
    """Why a process went away without an answer."""
    if seconds >= 0.8 * limit and os.WIFSIGNALED(status):  # the system's two clocks do not agree
        return "too long"
    return f"crash: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "crash: no answer"


def check(task: tuple[str, int]) -> tuple[str, str, float, float]:
    """The path, how it ended, the CPU seconds it took and the most memory (MB); in a process of its own."""
    path, limit = task
    ours, theirs = multiprocessing.Pipe(duplex=False)
    pid = os.fork()
    if not pid:
        _answer(theirs, path, limit)
    theirs.close()
    answer = ""
    with contextlib.suppress(EOFError):
        # A process that waits uses no processor: for it there is a limit on the clock.
        answer = ours.recv() if ours.poll(60 * limit) else "too long"
    ours.close()
    if answer:
        os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    return path, answer or _ended(status, seconds, limit), seconds, usage.ru_maxrss / 1024


def _answer(theirs: Connection, path: str, limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    try:
        theirs.send(_outcome(path))
    finally:
        os._exit(0)


def _files(paths: list[str]) -> list[str]:
    """All Python files at and below the paths."""
    found: set[str] = set()
    for path in map(Path, paths):
        found.update(map(str, filter(Path.is_file, path.rglob("*.py") if path.is_dir() else [path])))
    return sorted(name for name in found if name.endswith(".py"))


def main() -> int:
    """Run and print; 1 if a file crashed or took too long."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--limit", type=int, default=10, help="CPU seconds per file")
    parser.add_argument("--skip", type=int, default=0, help="files to leave out at the start")
    parser.add_argument("--most", type=int, default=10_000, help="files")
    parser.add_argument("--jobs", type=int, default=2, help="files at a time")
    arguments = parser.parse_args()
    files = _files(arguments.paths)[arguments.skip :][: arguments.most]
    outcomes: Counter[str] = Counter()
    slowest: list[tuple[float, str]] = []
    bad: list[str] = []
    total = 0.0
    peak, largest = 0.0, ""
    with multiprocessing.get_context("fork").Pool(arguments.jobs, maxtasksperchild=500) as pool:
        for path, outcome, seconds, memory in pool.imap_unordered(
            check, [(path, arguments.limit) for path in files], 8
        ):
            outcomes[outcome.split(":")[0]] += 1
            peak, largest = max((peak, largest), (memory, path))
            total += seconds
            slowest = sorted([*slowest, (seconds, path)], reverse=True)[:SLOWEST]
            if outcome.startswith(BAD):
                bad.append(f"{path}: {outcome}")
            if outcome.startswith((*BAD, REFUSED)):
                print(f"{path}: {outcome}", flush=True)
    for outcome, count in outcomes.most_common():
        print(f"{count:>7,}  {outcome}")
    print(f"{len(files):>7,}  files; {total:.0f} s on the processor; peak memory {peak:.0f} MB: {largest}")
    for seconds, path in slowest:
        print(f"{seconds:7.2f} s  {os.path.relpath(path)}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
