"""How much `jitlint confirm` proves: a table of verdicts over folders of programs whose mistakes are marked.

A finding is true on a line that a comment marks (`# BUG`, `# ALSO`, or a fixture's `# expect:`), and false in a folder without
any mark. EXECUTES the programs. Needs JAX and what the programs import.

    python benchmarks/proofs.py cases/errors cases/silent cases/clean
    python benchmarks/proofs.py --verbose fixtures/JIT304_tracer_leak
    python benchmarks/proofs.py --corpus corpus.csv --trees FOLDER --only OWNER/NAME --python PYTHON

The last form asks how much of real repositories is proved: findings of error level, true or false by `labels.jsonl` (see
`corpus.py`), with the time until the first verdict came. PYTHON is that of an environment with what the repositories need; it gets
this jitlint by its path.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import corpus

ROOT = Path(__file__).resolve().parents[1]
_MARK = re.compile(r"#\s*(BUG|ALSO|expect:)")
_WORDS = ("confirmed", "refuted", "not-reached", "no-inputs", "could-not-import")
Row = dict[str, Any]


def _confirmed(folder: Path, arguments: list[str]) -> list[Row]:
    command = [sys.executable, "-m", "jitlint", "confirm", "--no-cache", "--output-format", "json"]
    done = subprocess.run(
        [*command, *arguments, "."], cwd=folder, capture_output=True, text=True, check=False
    )
    try:
        rows: list[Row] = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{folder}: no answer (exit {done.returncode}): {done.stderr[-800:]}")
    return [row for row in rows if row["verdict"] != "missed"]


def _marked(path: Path) -> set[int]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {number for number, line in enumerate(lines, start=1) if _MARK.search(line)}


def _is_true(folder: Path, row: Row) -> bool:
    marked = _marked(folder / row["path"])
    last = min(row.get("end_line") or row["line"], row["line"] + 3)
    return any(line in marked for line in range(row["line"], last + 1))


def _table(folder: Path, arguments: list[str], verbose: bool) -> bool:
    """Print the lines of one folder; whether nothing true was refuted and nothing false confirmed."""
    began = time.monotonic()
    rows = _confirmed(folder, arguments)
    seconds = time.monotonic() - began
    right = True
    for kind, wanted in (("true", True), ("not marked", False)):
        chosen = [row for row in rows if _is_true(folder, row) == wanted]
        counts = Counter(row["verdict"] for row in chosen)
        share = f"{counts['confirmed'] / len(chosen):.1%}" if chosen else "-"
        cells = "  ".join(f"{word} {counts[word]}" for word in _WORDS)
        print(f"{folder.name}: {len(chosen):4} {kind}: {cells}  ({share} confirmed, {seconds:.0f} s)")
        right = right and not counts["refuted" if wanted else "confirmed"]
        for row in chosen if verbose else ():
            if (row["verdict"] == "confirmed") != wanted:
                said = " ".join(str(row["evidence"]).split())[:160]
                print(
                    f"  {row['verdict']} {row['path']}:{row['line']} {row['code']}: {said} [{row['inputs']}]"
                )
    return right


def _streamed(folder: Path, python: str, arguments: list[str]) -> tuple[list[Row], list[float]]:
    """The verdicts on the errors of a repository, and how many seconds after the start each of them came."""
    command = [python, "-m", "jitlint", "confirm", "--isolated", "--no-cache", "--min-severity", "error"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    began = time.monotonic()
    rows: list[Row] = []
    seconds = []
    with subprocess.Popen(
        [*command, "--output-format", "jsonl", *arguments, "."],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            rows.append(json.loads(line))
            seconds.append(time.monotonic() - began)
    if process.returncode not in (0, 1) and not rows:
        sys.exit(f"{folder}: no answer (exit {process.returncode})")
    return rows, [*seconds, time.monotonic() - began]


def _repository(entry: corpus.Entry, labels: dict[corpus.Key, corpus.Label], options: Any) -> bool:
    """Print the row of one repository; whether nothing true was refuted and nothing false confirmed."""
    rows, seconds = _streamed(
        entry.folder, options.python, ["--jobs", options.jobs, *options.pass_on.split()]
    )
    found = [row for row in rows if row["verdict"] != "missed"]
    words = [corpus.verdict(finding, labels) for finding in corpus.findings(entry, found)]
    cells = []
    for kind in ("true", "false", "unlabelled"):
        chosen = [row for row, word in zip(found, words) if word == kind]
        confirmed = sum(row["verdict"] == "confirmed" for row in chosen)
        cells.append(f"{confirmed} of {len(chosen)} {kind} confirmed")
    first = f"{seconds[0]:.0f} s" if rows else "-"
    print(
        f"{entry.repository}: first verdict {first}, all {seconds[-1]:.0f} s; {', '.join(cells)}", flush=True
    )
    for row, word in zip(found, words) if options.verbose else ():
        said = " ".join(str(row["evidence"]).split())[:200]
        print(
            f"  {word} {row['verdict']} {row['path']}:{row['line']} {row['code']}: {said} [{row['inputs'][:80]}]"
        )
    wrong = {("true", "refuted"), ("false", "confirmed")}
    return not wrong & {(word, row["verdict"]) for row, word in zip(found, words)}


def main() -> int:
    """Print the table; 1 if a true finding was refuted or a false one confirmed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--corpus", type=Path, help="the repositories; needs --trees")
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="these repositories; by default all")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--pass-on", default="", help="options for `jitlint confirm`")
    parser.add_argument("--verbose", action="store_true", help="list what is not as it should be")
    parser.add_argument("--jobs", default=str(os.cpu_count() or 1), help="by default all processors")
    options = parser.parse_args()
    right = [
        _table(folder.resolve(), ["--jobs", options.jobs], options.verbose) for folder in options.folders
    ]
    if options.corpus is not None:
        labels = corpus.read_labels(corpus.LABELS)
        entries = corpus.read_corpus(options.corpus, options.trees, "", options.only)
        right += [_repository(entry, labels, options) for entry in entries]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
