"""Run small programs under several versions of JAX and compare what each did with what jitlint says of that version.

    python tools/check_cases.py FOLDER PYTHON...     # interpreters of environments with different versions of JAX

FOLDER holds folders of cases, ``errors``, ``silent`` and ``clean``; a case is a file, or a folder with a ``main.py``. Lines
of ``errors`` and ``silent`` that are marked ``# BUG`` or ``# ALSO`` are what a finding must name, as far as the mistake is
one in that version: a program of ``errors`` that runs clean there must have no finding of error level, and one that raises
elsewhere must have it there. A program of ``clean`` or ``silent`` that raises in a version must have a finding where it
does. What a silent mistake does is asserted by its program. Every disagreement is printed; exit code 1 if there is any.

Programs are run, with the user's rights: give only what you trust.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RUNNER = Path(__file__).with_name("run_cases.py")
PARTS = ("errors", "silent", "clean")
MARK = re.compile(r"#\s*(BUG|ALSO)\b")
# A statement may go on for some lines after the one that is marked.
REACH = 3


@dataclass(frozen=True, slots=True)
class Case:
    """A program: its files, the first one is run."""

    part: str
    name: str
    files: tuple[Path, ...]

    def marked(self) -> set[tuple[str, int]]:
        """The lines that a finding must name."""
        return {
            (str(path), number)
            for path in self.files
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            if MARK.search(line)
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What real JAX did. raised: the class, "" for nothing; lines: of the case's files on the way, innermost last."""

    missing: str
    raised: str
    message: str
    lines: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What jitlint said."""

    path: str
    first: int
    last: int
    code: str
    severity: str
    message: str

    def names(self, places: Iterable[tuple[str, int]]) -> bool:
        """Whether it lies at one of the places."""
        return any(path == self.path and self.first <= line <= self.last for path, line in places)


def cases(folder: Path) -> Iterator[Case]:
    """All programs."""
    for part in PARTS:
        for entry in sorted((folder / part).iterdir()):
            if entry.name.startswith(("_", ".")):
                continue
            if entry.suffix == ".py":
                yield Case(part, entry.name, (entry,))
            elif (entry / "main.py").exists():
                others = sorted(set(entry.rglob("*.py")) - {entry / "main.py"})
                yield Case(part, entry.name, (entry / "main.py", *others))


def run(python: str, programs: Sequence[Case]) -> tuple[str, list[Run]]:
    """The version of JAX, and what it did with each program."""
    asked = json.dumps([[str(path) for path in case.files] for case in programs])
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "JAX_TRACEBACK_FILTERING": "off"}
    command = [python, str(RUNNER)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr}")
    version, *rows = map(json.loads, done.stdout.splitlines())
    runs = [Run(r["missing"], r["raised"], r["message"], tuple((p, n) for p, n in r["lines"])) for r in rows]
    return version, runs


def judge(folder: Path, version: str) -> dict[str, list[Finding]]:
    """jitlint's errors and warnings by file, for a version of JAX."""
    found = defaultdict(list)
    for part in PARTS:
        options = ["--no-cache", "--output-format", "json", "--jax-version", version]
        command = [sys.executable, "-m", "jitlint", "check", *options, str(folder / part)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        if done.returncode not in (0, 1):
            raise SystemExit(f"jitlint: {done.stderr}")
        rows: list[dict[str, Any]] = json.loads(done.stdout)
        for row in rows:
            if row["severity"] != "info":
                path, first = str((folder / row["path"]).resolve()), row["line"]
                last = min(row.get("end_line") or first, first + REACH)
                finding = Finding(path, first, last, row["code"], row["severity"], row["message"])
                found[path].append(finding)
    return found


def compare(case: Case, ran: Run, findings: Sequence[Finding]) -> Iterator[str]:
    """What of the findings is otherwise than what JAX did."""
    marked = case.marked()
    on = [finding for finding in findings if finding.names(marked)]
    at = ran.lines[-1] if ran.lines else None
    place = f"{Path(at[0]).name}:{at[1]}" if at else "?"
    said = ", ".join(f"{f.code} at {f.first}" for f in findings) or "nothing"
    if not ran.raised:
        if case.part == "errors":
            yield from (
                f"false: {f.code} at {f.first}: JAX runs clean" for f in findings if f.severity == "error"
            )
        elif case.part == "clean":
            yield from (f"false: {f.code} at {f.first}: {f.message}" for f in findings)
        elif not on:
            yield f"missed: JAX runs as the program asserts; jitlint says {said}"
        return
    raised = f"JAX raises {ran.raised} at {place}: {ran.message}"
    if case.part == "silent" and ran.raised == "AssertionError":
        if on:
            yield f"false: {said}; the effect is not there: {raised}"
        return
    passed = set(ran.lines)
    places = marked if passed & marked else passed
    if not any(finding.names(places) for finding in findings):
        yield f"missed: {raised}; jitlint says {said}"


def report(
    version: str, programs: Sequence[Case], runs: Sequence[Run], found: Mapping[str, Sequence[Finding]]
) -> int:
    """Print how one version compares; the number of disagreements."""
    counts: Counter[tuple[str, str]] = Counter()
    lines = []
    for case, ran in zip(programs, runs, strict=True):
        if ran.missing:
            counts[case.part, "not run"] += 1
            lines.append(f"  {case.part}/{case.name}: not run, {ran.missing}")
            continue
        counts[case.part, "raise" if ran.raised else "run"] += 1
        findings = [finding for path in case.files for finding in found.get(str(path), ())]
        wrong = list(compare(case, ran, findings))
        counts[case.part, "disagree"] += bool(wrong)
        lines += [f"  {case.part}/{case.name}: {text}" for text in wrong]
    print(f"JAX {version}")
    for part in PARTS:
        numbers = ", ".join(
            f"{counts[part, kind]} {kind}" for kind in ("raise", "run", "not run", "disagree")
        )
        print(f"  {part}: {numbers}")
    print("\n".join(lines), flush=True)
    return sum(counts[part, "disagree"] for part in PARTS)


def main(arguments: Sequence[str]) -> int:
    """Run all; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("pythons", nargs="+", metavar="PYTHON")
    chosen = parser.parse_args(arguments)
    folder = chosen.folder.resolve()
    programs = list(cases(folder))
    wrong = 0
    for python in chosen.pythons:
        version, runs = run(python, programs)
        wrong += report(version, programs, runs, judge(folder, version))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
