"""Whether jitlint says the same of programs that mean the same.

    python benchmarks/properties.py REPOSITORY...                  # every property of each
    python benchmarks/properties.py --only rename-locals,files REPOSITORY
    python benchmarks/properties.py --only if-true --reduce REPOSITORY  # which site makes the difference

In any *order*: files and top-level functions shuffled, one process and two, with a cold cache, a warm one and one after an
edit that was undone, four seeds of hashes; and each file on its own, with its callers as context, against its part of the
whole. In any *form*: the rewrites of `rewrites.py` and `rewrites_of_bodies.py`, after which findings may move with their
lines and nothing else may change. A difference is a bug of the analysis, or of the rewrite. Exit code 1 if there is any.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.rewrites import MARK, Choice, Place, Project  # noqa: E402
from benchmarks.rewrites_of_bodies import REWRITES  # noqa: E402
from jitlint.base.config import Settings  # noqa: E402
from jitlint.base.diagnostic import Confidence, Finding, Severity  # noqa: E402
from jitlint.driver.run import check  # noqa: E402

SEEDS = (0, 1, 2, 3)
ABOUT_ITSELF = frozenset({"JIT006"})
"""What is said about the analysis: how often a limit was met may depend on the form of the program."""

OTHER_TEXT = frozenset({"extract-results", "extract-arguments", "inline-results", "positional", "keywords"})
"""Rewrites after which an expression reads otherwise: what messages quote is not compared."""

Told = tuple[str, int, str]
"""A finding as it is compared: its file and line before a rewrite, and everything that is said."""


def settings(possible: bool = False) -> Settings:
    """Everything that can be reported."""
    sure = Confidence.POSSIBLE if possible else Confidence.LIKELY
    return Settings(min_confidence=sure, min_severity=Severity.INFO, tests="all")


def sources(folder: Path) -> dict[str, str]:
    """The Python files of a repository, those that can be read."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.py")):
        relative = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in relative.parts):
            try:
                found[relative.as_posix()] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


class Tree:
    """A project on disk, of which files can be exchanged for a while."""

    def __init__(self, folder: Path, texts: Mapping[str, str], possible: bool = False) -> None:
        self.folder = folder
        self.texts = dict(texts)
        self.settings = settings(possible)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pyproject.toml").write_text("", encoding="utf-8")
        self._write(texts)

    def _write(self, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def findings(self, changed: Mapping[str, str] | None = None) -> list[Finding]:
        """What is found when some files are others, in the order in which it is told."""
        changed = changed or {}
        self._write(changed)
        try:
            return self.of([str(self.folder)])
        finally:
            for name in changed:
                if name not in self.texts:
                    (self.folder / name).unlink()
            self._write({name: self.texts[name] for name in changed if name in self.texts})

    def of(self, paths: Sequence[str], context: Sequence[str] = ()) -> list[Finding]:
        """What is found in some files."""
        return check(paths, self.settings, jobs=1, context=context).findings

    def path(self, finding: Finding) -> str:
        """The path of a finding below the top."""
        return os.path.relpath(os.path.abspath(finding.path), self.folder).replace(os.sep, "/")


def told(
    tree: Tree,
    findings: Iterable[Finding],
    back: Callable[[str, int, int], Place] | None = None,
    quotes: bool = True,
) -> Counter[Told]:
    """Findings in comparable form; the names that a rewrite made are read without their mark. quotes: with the code
    that they quote, where it is not too long to be quoted whole."""
    out: Counter[Told] = Counter()
    for one in findings:
        path, line = tree.path(one), one.span.line
        if one.code in ABOUT_ITSELF:
            continue
        if back is not None:
            path, line = back(path, line, one.span.column)
            if not path:  # a copy of an import, a decorator that does nothing
                continue
        words = (
            f"{one.code} {one.severity.value} {one.confidence.value} {one.ground}: {one.message}; {one.help}"
        )
        words = re.sub(rf"\d*{MARK}\b", "", words)
        out[path, line, re.sub(r"`[^`]*…[^`]*`" if quotes else r"`[^`]*`", "`…`", words)] += 1
    return out


@dataclass(frozen=True, slots=True)
class Difference:
    """What is only said before, and only after."""

    lost: Counter[Told]
    new: Counter[Told]

    def __bool__(self) -> bool:
        return bool(self.lost or self.new)

    def lines(self) -> Iterator[str]:
        """For people."""
        for sign, part in (("-", self.lost), ("+", self.new)):
            for (path, line, words), count in sorted(part.items()):
                yield f"    {sign} {path}:{line}: {words}{f' ({count} times)' if count > 1 else ''}"


# ------------------------------------------------------------ forms


class Forms:
    """The rewrites of one repository."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.project = Project(tree.texts)
        self.findings = tree.findings()

    def compare(self, name: str, choice: Choice) -> Difference:
        """What a rewrite of the chosen sites changes in what is said."""
        quotes = name not in OTHER_TEXT
        rewritten = REWRITES[name](self.project, choice)
        for path, text in rewritten.texts.items():
            compile(text, path, "exec", dont_inherit=True)
        before = told(self.tree, self.findings, quotes=quotes)
        after = told(self.tree, self.tree.findings(rewritten.texts), rewritten.back, quotes)
        return Difference(before - after, after - before)

    def reduced(self, name: str, first: int, last: int) -> Iterator[tuple[str, Difference]]:
        """Single sites that make a difference on their own: halves are tried, and halves of those that differ."""
        waiting = [(first, last)]
        while waiting:
            first, last = waiting.pop()
            choice = Choice(first, last)
            difference = self.compare(name, choice)
            if not difference:
                continue
            if last - first == 1:
                yield choice.where[0], difference
                continue
            middle = (first + last) // 2
            waiting += [(middle, last), (first, middle)]


def forms(tree: Tree, wanted: Sequence[str], reduce: bool) -> int:
    """Check the rewrites; how many differ."""
    names = [name for name in REWRITES if name in wanted]
    if not names:
        return 0
    known = Forms(tree)
    print(f"  {len(known.findings)} findings", flush=True)
    differing = 0
    for name in names:
        choice = Choice()
        start = time.monotonic()
        difference = known.compare(name, choice)
        differing += _say(name, difference, f"{choice.seen} sites, {time.monotonic() - start:.0f} s")
        if difference and reduce:
            for where, part in known.reduced(name, 0, choice.seen):
                print(f"   {name} {where}:")
                print("\n".join(part.lines()), flush=True)
    return differing


def _say(name: str, difference: Difference, remark: str) -> bool:
    words = "differs" if difference else "same"
    print(f"  {name:<24} {words:<8} {remark}", flush=True)
    for line in difference.lines():
        print(line, flush=True)
    return bool(difference)


# ------------------------------------------------------------ orders


def shuffled_files(tree: Tree) -> Difference:
    """The files named one by one, in another order, and cold."""
    whole = tree.findings()
    names = sorted(tree.texts)
    random.Random(1).shuffle(names)
    paths = [str(tree.folder / name) for name in names]
    return _in_order(tree, whole, tree.of(paths))


def _in_order(tree: Tree, before: Sequence[Finding], after: Sequence[Finding]) -> Difference:
    difference = Difference(told(tree, before) - told(tree, after), told(tree, after) - told(tree, before))
    if not difference and list(before) != list(after):
        first = next(i for i, pair in enumerate(zip(before, after)) if pair[0] != pair[1])
        return Difference(told(tree, before[first : first + 1]), told(tree, after[first : first + 1]))
    return difference


def answer(arguments: Sequence[str], folder: Path, cache: Path, seed: int, jobs: int) -> str:
    """What `check` prints, in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "jitlint",
        "check",
        "--isolated",
        "--output-format",
        "json",
        "--exit-zero",
    ]
    env = {
        **os.environ,
        "PYTHONHASHSEED": str(seed),
        "JITLINT_CACHE_DIR": str(cache),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [*command, "--severity", "info", "--jobs", str(jobs), *arguments],
        capture_output=True,
        text=True,
        env=env,
        cwd=folder,
        check=True,
    )
    return done.stdout


def _answer(tree: Tree, cache: Path, seed: int, jobs: int) -> str:
    return answer(["--tests", "all", "."], tree.folder, cache, seed, jobs)


def _edited(tree: Tree) -> dict[str, str]:
    """One file with another function, one without its first line."""
    names = sorted(tree.texts, key=lambda name: -len(tree.texts[name]))
    more = "\n\nimport jax\n\n\n@jax.jit\ndef _edited(x):\n    if x > 0:\n        return x\n    return -x\n"
    edited = {names[0]: tree.texts[names[0]] + more}
    edited |= {name: tree.texts[name].partition("\n")[2] for name in names[1:2]}
    return edited


def processes(tree: Tree) -> Iterator[tuple[str, bool]]:
    """The command under other seeds, with another number of processes, and with what it remembers."""
    with tempfile.TemporaryDirectory(prefix="properties-cache-") as folder:
        cache = Path(folder)
        first = _answer(tree, cache / "kept", SEEDS[0], 1)
        yield "warm", _answer(tree, cache / "kept", SEEDS[0], 1) == first
        edited = _edited(tree)
        tree._write(edited)
        _answer(tree, cache / "kept", SEEDS[0], 1)
        tree._write({name: tree.texts[name] for name in edited})
        yield "edit undone", _answer(tree, cache / "kept", SEEDS[0], 1) == first
        tree._write(edited)
        again = _answer(tree, cache / "other", SEEDS[0], 1)
        yield "edit, warm and cold", _answer(tree, cache / "kept", SEEDS[0], 1) == again
        tree._write({name: tree.texts[name] for name in edited})
        for seed in SEEDS[1:]:
            jobs = 2 if seed == SEEDS[1] else 1
            yield f"seed {seed}, {jobs} jobs", _answer(tree, cache / str(seed), seed, jobs) == first


def single_files(tree: Tree, most: int) -> Iterator[tuple[str, Difference]]:
    """Each file (or so many of them) on its own, with the whole project as context, against its part of the whole."""
    whole = tree.findings()
    names = sorted(tree.texts)
    if len(names) > most:
        telling = {tree.path(finding) for finding in whole}
        chance = random.Random(1)
        names = sorted(names, key=lambda name: (name not in telling, chance.random()))[:most]
    for name in names:
        part = [finding for finding in whole if tree.path(finding) == name]
        alone = tree.of([str(tree.folder / name)], [str(tree.folder)])
        difference = _in_order(tree, part, alone)
        if difference:
            yield name, difference


def orders(tree: Tree, wanted: Sequence[str], most: int) -> int:
    """Check what does not change the program; how many differ."""
    differing = 0
    if "files" in wanted:
        differing += _say("files", shuffled_files(tree), "shuffled")
    if "processes" in wanted:
        for name, same in processes(tree):
            differing += not same
            print(f"  {name:<24} {'same' if same else 'differs'}", flush=True)
    if "single" in wanted:
        found = list(single_files(tree, most))
        differing += len(found)
        print(f"  {'single files':<24} {'differs' if found else 'same':<8} {len(found)} differ", flush=True)
        for name, difference in found:
            print(f"   {name}:")
            print("\n".join(difference.lines()), flush=True)
    return differing


ORDERS = ("files", "processes", "single")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--only", default="", help=f"of {', '.join((*ORDERS, *REWRITES))}")
    parser.add_argument("--reduce", action="store_true", help="find single sites that make a difference")
    parser.add_argument("--possible", action="store_true", help="with what is only possible")
    parser.add_argument("--most", type=int, default=40, help="so many files are looked at on their own")
    options = parser.parse_args(arguments)
    wanted = options.only.split(",") if options.only else [*ORDERS, *REWRITES]
    differing = 0
    for repository in options.repositories:
        print(repository.name, flush=True)
        with tempfile.TemporaryDirectory(prefix="properties-") as folder:
            os.environ["JITLINT_CACHE_DIR"] = f"{folder}/cache"
            tree = Tree(Path(folder).resolve() / "project", sources(repository), options.possible)
            differing += orders(tree, wanted, options.most)
            differing += forms(tree, wanted, options.reduce)
            shutil.rmtree(f"{folder}/cache", ignore_errors=True)
    print(f"{differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
