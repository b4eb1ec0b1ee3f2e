"""How much `jitlint confirm` proves: a table of verdicts over folders of programs whose mistakes are marked.

A finding is true on a line that a comment marks (`# BUG`, `# ALSO`, or a fixture's `# expect:`), and false in a folder without
any mark. EXECUTES the programs. Needs JAX and what the programs import.

    python benchmarks/proofs.py cases/errors cases/silent cases/clean
    python benchmarks/proofs.py --verbose fixtures/JIT304_tracer_leak
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

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


def main() -> int:
    """Print the table; 1 if a true finding was refuted or a false one confirmed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--verbose", action="store_true", help="list what is not as it should be")
    parser.add_argument("--jobs", default="1")
    options = parser.parse_args()
    right = [
        _table(folder.resolve(), ["--jobs", options.jobs], options.verbose) for folder in options.folders
    ]
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
