"""Run the tests under every supported Python that is here, each with the JAX that pip picks for it, and print a table.

    python tools/pythons.py                              # all tests
    python tools/pythons.py tests/real_jax -k JIT101     # these tests
    python tools/pythons.py --only 3.10 --keep           # one interpreter; the environment as the last run left it
    python tools/pythons.py --jax 0.9.2 tests/catalogue  # with this JAX, on the newest Python that can have it

Interpreters are looked for on PATH and among pyenv's. Environments and reports are kept in ``build/pythons`` (another
folder with --folder). Exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = ("jax", "flax", "optax", "equinox", "numpy")
# How `tests.fixtures.marks` words what a version cannot run.
_VERSION = re.compile(r"\bneeds [\w.-]+[<>=!~]=?\d")
_ASK = (
    "import importlib.metadata as m, json; "
    "print(json.dumps({{n: m.version(n) for n in {names!r} if any(m.distributions(name=n))}}))"
)


@dataclass(slots=True)
class Row:
    """What came out under one Python. problem: why no tests ran; else "". skipped: reason to number of tests."""

    python: str
    libraries: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def for_version(self) -> int:
        """Tests skipped because this version cannot run them."""
        return sum(number for reason, number in self.skipped.items() if _VERSION.search(reason))

    @property
    def tests(self) -> int:
        """All tests."""
        return self.passed + len(self.failed) + sum(self.skipped.values())


def supported() -> list[str]:
    """The Pythons that the package says it supports."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return re.findall(r"Python :: (3\.\d+)$", parser["metadata"]["classifiers"], re.MULTILINE)


def _works(path: Path, version: str) -> bool:
    asked = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", asked], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == version


def interpreter(version: str) -> Path | None:
    """An interpreter of this version, if there is one."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    own = sorted(pyenv.glob(f"{version}.*/bin/python"), key=lambda path: int(path.parts[-3].split(".")[2]))
    on_path = shutil.which(f"python{version}")
    return next((p for p in [*own[::-1], *([Path(on_path)] if on_path else [])] if _works(p, version)), None)


def set_up(python: Path, folder: Path, keep: bool, jax: str = "") -> str:
    """An environment with everything that the tests need; what went wrong, or ""."""
    inside = folder / "bin" / "python"
    if keep and inside.exists():
        return ""
    for command in (
        [python, "-m", "venv", "--clear", folder],
        [inside, "-m", "pip", "install", "--quiet", "--upgrade", "pip"],  # old ones resolve for hours
        [inside, "-m", "pip", "install", "--quiet", "-e", f"{ROOT}[dev]", *([f"jax=={jax}"] if jax else [])],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(folder, ignore_errors=True)  # half of an environment is not to be kept
            return "set-up failed: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    return ""


def run(version: str, python: Path, folder: Path, arguments: Sequence[str], keep: bool, jax: str = "") -> Row:
    """Set up and test. jax: the version of it, "" for the one that pip picks."""
    row = Row(version)
    started = time.monotonic()
    row.problem = set_up(python, folder, keep, jax)
    if row.problem:
        return row
    inside = folder / "bin" / "python"
    asked = subprocess.run([inside, "-c", _ASK.format(names=LIBRARIES)], capture_output=True, text=True)
    row.libraries = json.loads(asked.stdout)
    report, output = (folder.parent / f"{folder.name}.{kind}" for kind in ("xml", "txt"))
    report.unlink(missing_ok=True)
    command = [inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *arguments]
    with output.open("w", encoding="utf-8") as stream:
        done = subprocess.run(command, cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT)
    row.seconds = time.monotonic() - started
    if report.exists():
        read(report, row)
    if not row.tests or (done.returncode and not row.failed):
        row.problem = f"pytest ended with {done.returncode}; see {output}"
    return row


def with_jax(jax: str, found: dict[str, Path], folder: Path, arguments: Sequence[str], keep: bool) -> Row:
    """Test with one version of JAX, under the newest Python that it can be installed for."""
    row = Row("-", problem="no Python that is here can have this JAX")
    for version, python in reversed(found.items()):
        tried = run(version, python, folder, arguments, keep, jax)
        if tried.libraries:
            return tried
        row.problem = f"JAX {jax}: {tried.problem}"
    return row


def read(report: Path, row: Row) -> None:
    """Count what pytest wrote."""
    for test in ElementTree.parse(report).iter("testcase"):
        skipped = test.find("skipped")
        if test.find("failure") is not None or test.find("error") is not None:
            row.failed.append(f"{test.get('classname')}::{test.get('name')}")
        elif skipped is not None:
            reason = skipped.get("message") or "?"
            row.skipped[reason] = row.skipped.get(reason, 0) + 1
        else:
            row.passed += 1


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows, and below them what failed and what was skipped because of a version."""
    head = ["Python", *LIBRARIES, "passed", "failed", "skipped", "for the version", "seconds"]
    lines = [head]
    for row in rows:
        share = f"{row.for_version} ({row.for_version / row.tests:.1%})" if row.tests else "-"
        numbers = [row.passed, len(row.failed), sum(row.skipped.values())]
        known = [row.libraries.get(name, "-") for name in LIBRARIES]
        lines.append([row.python, *known, *map(str, numbers), share, f"{row.seconds:.0f}"])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
    for row in rows:
        if row.problem:
            yield f"{row.python}: {row.problem}"
        yield from (f"{row.python}: failed: {name}" for name in row.failed)
        for reason, number in sorted(row.skipped.items()):
            if _VERSION.search(reason):
                yield f"{row.python}: {number} skipped: {reason}"


def main(arguments: Sequence[str]) -> int:
    """Run all; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", action="append", metavar="VERSION", help="a Python, such as 3.12")
    parser.add_argument("--jax", action="append", default=[], metavar="VERSION", help="with this JAX")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "pythons", help="for environments")
    parser.add_argument("--keep", action="store_true", help="use environments that are there as they are")
    chosen, tests = parser.parse_known_args(arguments)
    folder, versions = chosen.folder.resolve(), chosen.only or supported()
    found = {version: python for version in versions if (python := interpreter(version)) is not None}
    rows = []
    for version in versions if not chosen.jax else ():
        if version in found:
            print(f"{version}: {found[version]}", file=sys.stderr, flush=True)
            rows.append(run(version, found[version], folder / version, tests, chosen.keep))
        else:
            print(f"{version}: not here", file=sys.stderr)
    for jax in chosen.jax:
        print(f"JAX {jax}", file=sys.stderr, flush=True)
        rows.append(with_jax(jax, found, folder / f"jax-{jax}", tests, chosen.keep))
    print("\n".join(table(rows)))
    return 0 if rows and not any(row.failed or row.problem for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
