"""Compare the upgrade report of projects with what a JAX really refuses.

    python tools/check_upgrade.py PYTHON PROJECT...              # the interpreter of an environment with the newer JAX
    python tools/check_upgrade.py --tests PYTHON PROJECT...      # run the projects' tests, too
    python tools/check_upgrade.py --from 0.4.30 PYTHON PROJECT   # for a project that sets no upper bound

Every name, argument and option that ``jitlint check --jax-version X`` lists (JIT513, JIT511) is tried in that JAX; and every
error about a missing name or keyword of JAX that importing the project's modules raises there, or running its tests, must be
in the report, at its line. Foreign libraries that the environment lacks are replaced by something that takes everything.
What does not agree is printed; exit code 1 if anything does not.

It runs the projects' code, with the user's rights.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROBE = Path(__file__).with_name("probe_upgrade.py")
SUBJECT = re.compile(r"(?:`(?P<argument>\w+)` of |argument \d+ by position of )?`(?P<name>[\w.]+)`")
TEST = re.compile(r"(^|/)(tests?/.*|test_[^/]*|[^/]*_test)\.py\Z")
# What the tests of a project answer.
IN_TESTS = ("in_tests", "tests", "test_errors")
# The exit code if a file cannot be read.
UNREAD = 2
# So many other errors of tests are shown.
SHOWN = 5
# Scripts that install the project, or make its pages, are no part of it.
APART = re.compile(r"(^|/)(setup\.py|docs?|build|node_modules|\.\w+)(/|$)")


@dataclass(frozen=True, slots=True)
class Listed:
    """A finding of the report."""

    path: str
    first: int
    last: int
    name: str
    argument: str
    message: str


def listed(project: Path, version: str, before: str) -> list[Listed]:
    """The report."""
    options = ["--no-cache", "--tests", "all", "--output-format", "json", "--select", "JIT511,JIT513"]
    options += ["--jax-version", version, *(["--from-jax-version", before] if before else [])]
    command = [sys.executable, "-m", "jitlint", "check", *options, "--jobs", "1", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    if done.returncode not in (0, 1, UNREAD):
        raise SystemExit(f"jitlint: {done.stderr}")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    found = []
    for row in rows:
        if row["code"] == "JIT001":  # neither can be imported
            continue
        subject = SUBJECT.match(row["message"])
        assert subject is not None, row["message"]
        path = str((project / row["path"]).resolve())
        last = row.get("end_line") or row["line"]
        found.append(
            Listed(path, row["line"], last, subject["name"], subject["argument"] or "", row["message"])
        )
    return found


def version_of(python: str) -> str:
    """The JAX of an interpreter."""
    asked = "import importlib.metadata as m; print(m.version('jax'))"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def is_test(path: Path, project: Path) -> bool:
    """Whether pytest is to run a file."""
    named = TEST.search(path.relative_to(project).as_posix()) is not None
    return named and "def test" in path.read_text(encoding="utf-8", errors="replace")


def probe(python: str, project: Path, report: Sequence[Listed], tests: bool) -> dict[str, Any]:
    """What that JAX does."""
    files = [
        str(path)
        for path in sorted(project.rglob("*.py"))
        if not APART.search(str(path.relative_to(project)))
    ]
    suite = [path for path in files if tests and is_test(Path(path), project)]
    options = {item.argument for item in report if item.argument and item.name.startswith("jax.config")}
    arguments = {(i.name, i.argument) for i in report if i.argument and i.argument not in options}
    question: dict[str, Any] = {
        "names": sorted(
            {item.name for item in report if not item.argument and "by position" not in item.message}
        ),
        "arguments": sorted(arguments),
        "options": sorted(options),
        "modules": [path for path in files if path not in set(suite)],
        "tests": [],
        "placeholders": [],
        "paths": [],
    }
    answer = ask(python, project, question)
    if (
        suite
    ):  # in a process of their own: what scripts do when they are imported, is not what tests begin with
        again: dict[str, Any] = {key: [] for key in question}
        again |= {"tests": suite, "placeholders": answer["placeholders"], "paths": answer["paths"]}
        answer |= ask(python, project, again, IN_TESTS)
    return answer


def ask(
    python: str, project: Path, question: dict[str, Any], keys: Sequence[str] | None = None
) -> dict[str, Any]:
    """The answers of `probe_upgrade` to a question, only some of them if keys are given."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(project)}
    command = [python, str(PROBE), str(project)]
    done = subprocess.run(
        command, input=json.dumps(question), capture_output=True, text=True, env=environment
    )
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer if keys is None else {key: answer[key] for key in keys}


def wrong(report: Sequence[Listed], answer: dict[str, Any]) -> Iterator[str]:
    """What does not agree."""
    for name, refused in answer["names"].items():
        if not refused:
            yield f"listed, but there: {name}"
    for function, argument, refused in answer["arguments"]:
        if not refused:
            yield f"listed, but taken: {argument} of {function}"
    for option, refused in answer["options"].items():
        if not refused:
            yield f"listed, but taken: option {option}"
    seen = set()
    for row in raised(answer):
        place = (row["path"], row["line"])
        known = any(i.path == row["path"] and i.first <= row["line"] <= i.last for i in report)
        if not known and place not in seen:
            seen.add(place)
            yield f"raised, not listed: {row['path']}:{row['line']}: {row['text']}"


def raised(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Errors of the project's own code about what JAX lacks. What another library does is that library's."""
    rows = [*answer["imports"], *answer.get("in_tests", ())]
    return [row for row in rows if not row["library"] and row.get("in_jax", True)]


def main(arguments: Sequence[str]) -> int:
    """Check all; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tests", action="store_true", help="run the projects' tests, too")
    parser.add_argument("--from", dest="before", default="", metavar="VERSION", help="the JAX in use")
    parser.add_argument("python", metavar="PYTHON")
    parser.add_argument("projects", nargs="+", type=Path, metavar="PROJECT")
    chosen = parser.parse_args(arguments)
    version, bad = version_of(chosen.python), 0
    for project in map(Path.resolve, chosen.projects):
        report = listed(project, version, chosen.before)
        answer = probe(chosen.python, project, report, chosen.tests)
        lines = list(wrong(report, answer))
        asked = len(answer["names"]) + len(answer["arguments"]) + len(answer["options"])
        places = {(row["path"], row["line"]) for row in raised(answer)}
        print(
            f"{project.name} (JAX {version}): {len(report)} findings, {asked} names, arguments and options tried; "
            f"{len(places)} places fell over a missing one; {len(lines)} disagree"
        )
        tests = answer.get("tests", {})
        print(
            f"  tests: {', '.join(f'{number} {kind}' for kind, number in sorted(tests.items())) or 'not run'}"
        )
        for text, number in sorted(answer.get("test_errors", {}).items(), key=lambda pair: -pair[1])[:SHOWN]:
            print(f"  {number} failed otherwise: {text}")
        print(f"  put in place: {', '.join(answer['placeholders']) or 'nothing'}")
        for path, text in sorted(answer["other"].items()):
            print(f"  not imported: {Path(path).relative_to(project)}: {text}")
        foreign = [row for row in [*answer["imports"], *answer.get("in_tests", ())] if row["library"]]
        for text in sorted({row["text"] for row in foreign}):
            print(f"  raised in another library: {text}")
        print("".join(f"  {line}\n" for line in lines), end="", flush=True)
        bad += len(lines)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
