"""Prepare a release: the version and the date in the places that name them.

    python tools/release.py 0.2.0

sets the version of the package, of CITATION.cff and of the README's examples, and gives the changelog's open section
the version and today's date. Nothing is committed, tagged or uploaded: docs/releasing.md says what comes before and after.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_OPEN = re.compile(r"^## (?:\d+\.\d+\.\d+ \(unreleased\)|Unreleased)$", re.MULTILINE)


def prepared(root: Path, version: str, day: str) -> dict[Path, str]:
    """The changed files with their new texts. Raises ValueError where something is not as expected."""
    if not _VERSION.fullmatch(version):
        raise ValueError(f"{version!r} is no version; write 0.2.0")
    found: dict[Path, str] = {}

    def change(name: str, pattern: re.Pattern[str], new: str, times: int) -> None:
        path = root / name
        text, count = pattern.subn(new, path.read_text(encoding="utf-8"))
        if count < times:
            raise ValueError(f"{name}: nothing to change for {pattern.pattern!r}")
        found[path] = text

    change("jitlint/__init__.py", re.compile(r'(?<=^__version__ = ")[^"]+', re.MULTILINE), version, 1)
    change("CITATION.cff", re.compile(r"(?<=^version: ).+", re.MULTILINE), version, 1)
    change("CHANGELOG.md", _OPEN, f"## {version} ({day})", 1)
    change("README.md", re.compile(r"(?<=rev: v|lint@v)\d+\.\d+\.\d+"), version, 2)
    return found


def main() -> int:
    """Write the files, and say which."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", help="the new version, such as 0.2.0")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        changed = prepared(options.root, options.version, datetime.date.today().isoformat())
    except ValueError as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 1
    for path, text in changed.items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(options.root))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
