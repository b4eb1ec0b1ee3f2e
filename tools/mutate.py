"""Change what the code means, in many small ways, and see which changes no test notices.

    python tools/mutate.py                                # 60 mutants, spread over the folders
    python tools/mutate.py --count 20 --seed 7 jitlint/link/domains
    python tools/mutate.py --these jitlint/infer/keys.py:40:8:compare   # again, after a test was added
    python tools/mutate.py --replace jitlint/infer/keys.py 'OLD' 'NEW'  # one made by hand
    python tools/mutate.py --list jitlint/syntax           # only say what would be tried

A mutant differs from the code in one place: a comparison turned, a constant changed, a branch never taken, ``min`` for
``max``, a call left out, a flag or a rank in the catalogue's data. It is made in a copy of the tree, and the tests that
can see it (``SEES``) run until one fails. What survives is printed with its difference: either a test is missing, or
the two programs do the same. Each mutant runs in a process forked from one that has everything imported, and that
remembers the parsed fixtures. Exit code 1 if anything survived. POSIX only.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import functools
import importlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT / "tools") not in sys.path:
    sys.path.insert(0, str(ROOT / "tools"))

from mutations import Change, python_changes, toml_changes  # noqa: E402

FIXTURES = "tests/fixtures/test_static.py"
LINK = ("tests/link",)
TRANSFORMS = "tests/catalogue/test_transforms.py"
SLOW = (
    "tests/link/test_no_crash.py",
    "tests/link/test_mutations.py",
    "tests/catalogue/test_against_jax.py",
    "tests/catalogue/test_every_parameter.py",
    "tests/catalogue/test_python.py",
    "tests/syntax/test_spans.py::test_real_files_agree_with_python",
    "tests/syntax/test_spans.py::test_statement_by_statement_in_real_files",
    "tests/syntax/test_scopes.py::test_functions_agree_with_compiled_code",
    "tests/driver/test_scan.py::test_no_import_of_the_standard_library_is_missed",
)
"""Tests that take long, and that other tests repeat in small: left out unless asked for with ``--slow``."""

SEES: dict[str, tuple[str, ...]] = {
    "jitlint/link/models/jax": (FIXTURES, *LINK, TRANSFORMS),
    "jitlint/link": (FIXTURES, *LINK),
    "jitlint/infer": ("tests/infer", FIXTURES, *LINK),
    "jitlint/syntax": ("tests/syntax", FIXTURES),
    "jitlint/driver": ("tests/driver",),
    "jitlint/catalogue/data": (FIXTURES, "tests/catalogue", *LINK),
}
"""Which tests can see a change in a folder, the cheapest first."""

KEPT = ("jitlint", "jitlint.base", "jitlint.syntax")
"""What a fork need not import again, unless it is what changed."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One file with one change. path: relative to the tree, with forward slashes."""

    path: str
    change: Change

    @property
    def id(self) -> str:
        """How to ask for it again, as long as the file stays as it is."""
        return f"{self.path}:{self.change.line}:{self.change.column}:{self.change.kind}"

    @property
    def area(self) -> str:
        """The folder, over which mutants are spread."""
        return self.path.rpartition("/")[0]

    def applied(self, text: str) -> str:
        """The file with the change."""
        return self.change.applied(text)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a mutant. by: the test that failed, or what else stopped it; "" if it survived."""

    mutant: Mutant
    by: str
    seconds: float


# ------------------------------------------------------------ which


def mutants(root: Path, wanted: Sequence[str]) -> list[Mutant]:
    """All mutants of the files below the wanted paths."""
    found: list[Mutant] = []
    for path in sorted({path for name in wanted for path in _files(root / name)}):
        text = path.read_text(encoding="utf-8")
        changes = python_changes(text) if path.suffix == ".py" else toml_changes(text)
        found += [Mutant(path.relative_to(root).as_posix(), change) for change in changes]
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for pattern in ("*.py", "*.toml"):
        yield from path.rglob(pattern)


def spread(found: Iterable[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of them: the same number from each folder, of kinds and files as different as possible."""
    chance = random.Random(seed)
    areas: defaultdict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        areas[mutant.area].append(mutant)
    queues = [iter(_mixed(areas[area], chance)) for area in sorted(areas)]
    chosen: list[Mutant] = []
    while queues and len(chosen) < count:
        chance.shuffle(queues)
        for queue in list(queues):
            if len(chosen) == count:
                break
            try:
                chosen.append(next(queue))
            except StopIteration:
                queues.remove(queue)
    return sorted(chosen, key=lambda mutant: mutant.id)


def _mixed(found: list[Mutant], chance: random.Random) -> Iterator[Mutant]:
    """In turns one of each kind, so that what is most common does not crowd out the rest."""
    kinds: defaultdict[str, list[Mutant]] = defaultdict(list)
    for mutant in found:
        kinds[mutant.change.kind].append(mutant)
    order = sorted(kinds)
    while order:
        chance.shuffle(order)
        for kind in list(order):
            left = kinds[kind]
            yield left.pop(chance.randrange(len(left)))
            if not left:
                order.remove(kind)


# ------------------------------------------------------------ running


class First:
    """Plugin of pytest: what failed, in order."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(f"{report.nodeid} (collecting)")


class Tree:
    """A copy of the tree in which files may be changed. cpu: seconds of processor time a mutant may take."""

    def __init__(self, source: Path, folder: Path, cpu: int, slow: bool) -> None:
        self.root = folder / "tree"
        left_behind = (
            ".git",
            ".venv",
            "__pycache__",
            "*.egg-info",
            ".*_cache",
            ".hypothesis",
            "build",
            "dist",
        )
        shutil.copytree(source, self.root, ignore=shutil.ignore_patterns(*left_behind))
        self.cpu = cpu
        self.leave_out = [] if slow else list(SLOW)

    def enter(self, warm: bool = True) -> None:
        """Make the copy the place that is imported from, in this process and in those it starts."""
        os.chdir(self.root)
        os.environ["PYTHONPATH"] = str(self.root)
        os.environ["JAX_PLATFORMS"] = "cpu"
        sys.path[:0] = [str(self.root)]
        importlib.import_module("pytest")
        if warm:
            self._warm()
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = True

    def _warm(self) -> None:
        """Import what mutants share, and parse the fixtures; on one processor, since workers would keep what they learn."""
        for name in ("hypothesis", "libcst", "msgspec", "click"):
            importlib.import_module(name)
        lowering = importlib.import_module("jitlint.syntax.lowering")
        lowering.lower = functools.cache(lowering.lower)  # type: ignore[attr-defined]
        spans = importlib.import_module("jitlint.syntax.spans")
        spans.compute_spans = _remembering(spans.compute_spans)  # type: ignore[attr-defined]
        processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(processors)})
        importlib.import_module("tests.fixtures.found").findings()
        os.sched_setaffinity(0, processors)

    def baseline(self, tests: Iterable[str]) -> None:
        """Find the tests that fail without any change: they tell nothing, and are left out."""
        for path in dict.fromkeys(tests):
            failed = self._forked("", (path,), stop=False)
            for test in failed:
                print(f"fails without a change, left out: {test}", flush=True)
            self.leave_out += failed

    def outcome(self, mutant: Mutant) -> Outcome:
        """Run the tests that can see the mutant."""
        start = time.monotonic()
        path = self.root / mutant.path
        before = path.read_text(encoding="utf-8")
        _drop_bytecode(path)
        path.write_text(mutant.applied(before), encoding="utf-8")
        try:
            by = self._packed() if path.suffix == ".toml" else ""
            by = by or next(iter(self._forked(mutant.path, seen_by(mutant.path))), "")
        finally:
            path.write_text(before, encoding="utf-8")
            _drop_bytecode(path)
            if path.suffix == ".toml":
                self._packed()
        return Outcome(mutant, by, time.monotonic() - start)

    def _packed(self) -> str:
        """Pack the data as it is now; why that is refused, or ""."""
        command = [sys.executable, "tools/compile_catalogue.py"]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        return "" if done.returncode == 0 else "the compiler of the catalogue"

    def _forked(self, changed: str, tests: Sequence[str], stop: bool = True) -> list[str]:
        """The tests that fail in a new process, with what stopped it if something did."""
        log = self.root.parent / "log.txt"
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _limit(self.cpu if stop else 10 * self.cpu)
            with open(log, "w") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                try:
                    failed = _pytest(changed, tests, self.leave_out, stop)
                    os.write(writer, json.dumps(failed).encode())
                except BaseException:
                    traceback.print_exc()
            sys.stderr.flush()
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as answers:
            text = answers.read()
        _, status = os.waitpid(child, 0)
        if text:
            return list(json.loads(text))
        stopped = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "an exit"
        return [f"{stopped} of the process"]


def _pytest(changed: str, tests: Sequence[str], leave_out: Sequence[str], stop: bool) -> list[str]:
    """Run the tests in this process, with everything imported anew that may depend on the changed file."""
    forget(changed)
    pytest = importlib.import_module("pytest")
    first = First()
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", *(["-x"] if stop else [])]
    out = [f"--deselect={test}" for test in leave_out]
    code = pytest.main([*options, *out, *tests], plugins=[first])
    return first.failed or ([] if code in (0, 5) else [f"exit code {int(code)} of pytest"])


def forget(changed: str) -> None:
    """Remove from the imported modules what may depend on the file: everything but the parser and what it needs."""
    kept = () if changed.startswith(("jitlint/syntax", "jitlint/base")) else KEPT
    for name in list(sys.modules):
        top = name.partition(".")[0]
        if top not in ("jitlint", "tests") or name == "jitlint" or _below(name, kept[1:]):
            continue
        del sys.modules[name]
        if top in sys.modules and name.count(".") == 1:
            sys.modules[top].__dict__.pop(name.partition(".")[2], None)


def _below(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def _remembering(compute: Callable[..., Any]) -> Callable[..., Any]:
    """`compute_spans`, which asks for spans of a text again and again, mostly the same."""
    known: dict[str, dict[int, Any]] = {}

    def remembered(text: str, wanted: Iterable[int], module: Any = None) -> dict[int, Any]:
        spans = known.setdefault(text, {})
        new = {at for at in wanted if at not in spans}
        if new:
            spans.update(compute(text, new, module))
        return {at: spans[at] for at in wanted if at in spans}

    return remembered


def _limit(cpu: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5))
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


def _drop_bytecode(path: Path) -> None:
    for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
        compiled.unlink()


def seen_by(path: str) -> tuple[str, ...]:
    """The tests that can see a change in the file."""
    return next((tests for folder, tests in SEES.items() if path.startswith(f"{folder}/")), ())


# ------------------------------------------------------------ telling


def difference(mutant: Mutant, root: Path) -> str:
    """The change as lines taken out and put in."""
    before = (root / mutant.path).read_text(encoding="utf-8")
    after = mutant.applied(before)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return "\n".join(f"    {line}" for line in lines if not re.match(r"---|\+\+\+", line))


def report(outcomes: Sequence[Outcome], root: Path) -> Iterator[str]:
    """Survivors with their differences, then the figures by folder."""
    survivors = [one.mutant for one in outcomes if not one.by]
    for mutant in survivors:
        yield f"\nsurvived: {mutant.id}\n{difference(mutant, root)}"
    yield f"\n{'folder':<36} mutants killed"
    for area in sorted({one.mutant.area for one in outcomes}):
        here = [one for one in outcomes if one.mutant.area == area]
        yield f"{area:<36} {len(here):>7} {sum(bool(one.by) for one in here):>6}"
    killed = len(outcomes) - len(survivors)
    yield f"{'all':<36} {len(outcomes):>7} {killed:>6}  ({killed / max(1, len(outcomes)):.0%})"


def by_hand(root: Path, path: str, old: str, new: str) -> Mutant:
    """A mutant given as text that stands in the file exactly once."""
    text = (root / path).read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{path}: {text.count(old)} places read {old!r}; name exactly one")
    start = text.index(old)
    changed = Change(start, start + len(old), new, "by-hand", text.count("\n", 0, start) + 1, 0)
    if path.endswith(".py"):
        ast.parse(changed.applied(text))
    return Mutant(path, changed)


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    if options.replace:
        return [by_hand(ROOT, *each) for each in options.replace]
    found = mutants(ROOT, options.paths or list(SEES))
    if options.these:
        return [mutant for mutant in found if mutant.id in set(options.these)]
    return spread(found, options.count, options.seed)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "paths", nargs="*", help="files and folders to change (default: all that have tests here)"
    )
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--these", nargs="+", metavar="ID", help="mutants that an earlier run named")
    parser.add_argument("--replace", nargs=3, action="append", metavar=("PATH", "OLD", "NEW"))
    parser.add_argument("--cpu", type=int, default=120, help="seconds of processor time for each mutant")
    parser.add_argument("--slow", action="store_true", help="run the slow tests, too")
    parser.add_argument("--list", action="store_true", help="only list the mutants")
    options = parser.parse_args(arguments)
    chosen = _chosen(options)
    if options.list:
        print("\n".join(f"{mutant.id}\n{difference(mutant, ROOT)}" for mutant in chosen))
        return 0
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Tree(ROOT, Path(folder), options.cpu, options.slow)
        tree.enter()
        tree.baseline(test for mutant in chosen for test in seen_by(mutant.path))
        for mutant in chosen:
            outcome = tree.outcome(mutant)
            outcomes.append(outcome)
            print(f"{outcome.seconds:6.1f} s  {mutant.id}  {outcome.by or 'SURVIVED'}", flush=True)
        print("\n".join(report(outcomes, tree.root)))
        os.chdir(ROOT)
    return 0 if all(outcome.by for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
