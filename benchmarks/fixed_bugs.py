"""How many bugs that maintainers of public JAX code really fixed would have been found before the fix.

    python benchmarks/fixed_bugs.py MIRROR WORK [--only b01] [--show]

`benchmarks/fixed_bugs.csv` names the commit of each fix, its parent, the file and lines of the bug there, and the rules
whose findings say what it is; bugs were chosen from the histories before jitlint was run on them. MIRROR holds bare
repositories, as OWNER+NAME or OWNER+NAME/repo; the parents are unpacked under WORK, text files only, and checked with
default settings. A bug is found when a finding of one of these rules is on one of its lines, or next to it. `--show`
prints what was found.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_suffix(".csv")
TEXT = (".py", ".pyi", ".toml", ".cfg", ".ini", ".md", ".rst", ".ipynb")
LARGEST = 300_000
LONGEST = 5
"""Lines of a statement that count as its place."""


def _git(repository: Path, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", f"--git-dir={repository}", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def _unpack(repository: Path, commit: str, tree: Path) -> None:
    """Write down the text files of a commit; what the mirror lacks is left out."""
    wanted: list[tuple[bytes, str]] = []
    for entry in _git(repository, "ls-tree", "-r", "-l", "-z", commit).split(b"\0"):
        what, _, name = entry.partition(b"\t")
        fields, path = what.split(), name.decode(errors="replace")
        if len(fields) != 4 or fields[0] == b"120000" or not path.endswith(TEXT):
            continue
        if not fields[3].isdigit() or int(fields[3]) <= LARGEST:
            wanted.append((fields[2], path))
    data = _git(repository, "cat-file", "--batch", given=b"".join(h + b"\n" for h, _ in wanted))
    at = 0
    for _, path in wanted:
        end = data.index(b"\n", at)
        head = data[at:end].split()
        at = end + 1
        if head[-1] == b"missing":
            continue
        file = tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data[at : at + int(head[2])])
        at += int(head[2]) + 1
    (tree / ".git").mkdir(exist_ok=True)  # a project of its own


def _findings(tree: Path) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "jitlint",
        "check",
        "--no-cache",
        "--exit-zero",
        "--output-format",
        "json",
        ".",
    ]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def _names(row: dict[str, str], finding: dict[str, Any]) -> bool:
    """Whether a finding is about the bug."""
    if finding["path"] != row["path"] or finding["code"] not in row["codes"].split():
        return False
    last = min(finding["end_line"] or finding["line"], finding["line"] + LONGEST)
    return any(finding["line"] - 1 <= int(line) <= last + 1 for line in row["lines"].split())


def main() -> int:
    """Check every parent, and say how many bugs were found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("mirror", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    hits = total = 0
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not options.only or row["id"] in options.only]
    for row in rows:
        name = row["repository"].replace("/", "+")
        bare = options.mirror / name
        repository = bare / "repo" if (bare / "repo").is_dir() else bare
        tree = options.work / f"{name}@{row['parent']}"
        if not tree.is_dir():
            _unpack(repository, row["parent"], tree)
        found = [finding for finding in _findings(tree) if _names(row, finding)]
        hits += bool(found)
        total += 1
        print(
            f"{'found ' if found else 'missed'} {row['id']} {row['repository']} {row['path']}:{row['lines']} {row['what']}"
        )
        for finding in found if options.show else ():
            print(f"    {finding['line']}: {finding['code']} {finding['message']}")
    print(f"found {hits} of {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
