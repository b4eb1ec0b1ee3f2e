"""What becomes of programs when `jitlint check --fix` has changed them, and of files when it is killed meanwhile.

    python benchmarks/fixes.py cases FOLDER [--keep COPIES] [-v]
    python benchmarks/fixes.py corpus --trees FOLDER --work FOLDER [--only OWNER+NAME ...] [--unsafe]
    python benchmarks/fixes.py killed [--runs 1000] [--seed 0]

`cases` takes programs that raise under JAX (a file, or a folder with `main.py`), fixes copies of them with
`--fix --unsafe-fixes` and RUNS them before and after: how many run through, whether any raises something worse, whether all
parse. Where the program runs through with `jax.disable_jit()`, what it prints is compared with that.

`corpus` fixes copies of whole repositories with what is safe. It says which files changed, whether each parses, whether
each finding that was fixed is gone, and which ones are new by a check without a cache. The copies and a diff for each repository
stay in the working folder. It runs no code of theirs.

`killed` fixes a small project again and again in processes that are killed at a random moment, and compares each file
with what it was and what it is to become. Needs `fork`.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import difflib
import importlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

Row = dict[str, Any]
Key = tuple[str, str, str, str]


def _jitlint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "jitlint", "check", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def _rows(done: subprocess.CompletedProcess[str], folder: Path) -> list[Row]:
    try:
        rows: list[Row] = json.loads(done.stdout)
    except ValueError:
        sys.exit(f"{folder}: no answer (exit {done.returncode}): {done.stderr[-800:]}")
    return rows


def _fixed(done: subprocess.CompletedProcess[str]) -> int:
    match = re.search(r"Fixed (\d+) finding", done.stderr + done.stdout)
    return int(match[1]) if match else 0


def _parses(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


# ---------------------------------------------------------------- cases


@dataclass(frozen=True, slots=True)
class Ran:
    """What a program did: the exception's name ("" if it ran through), its line, what it says; what was printed."""

    error: str
    line: int
    message: str
    shown: str


def _run(main: Path, plain: bool = False, seconds: int = 120) -> Ran:
    """Run a program as its own main module, in a process that has imported JAX and not used it."""

    def ran() -> Ran:
        import contextlib
        import io
        import runpy
        import traceback
        import warnings

        import jax

        signal.alarm(seconds)
        warnings.simplefilter("ignore")
        sys.argv[1:] = []
        sys.path.insert(0, str(main.parent))
        os.chdir(main.parent)
        shown = io.StringIO()
        try:
            with (
                contextlib.redirect_stdout(shown),
                contextlib.redirect_stderr(io.StringIO()),
                jax.disable_jit() if plain else contextlib.nullcontext(),
            ):
                runpy.run_path(str(main), run_name="__main__")
                jax.effects_barrier()
        except BaseException as raised:
            frames = traceback.extract_tb(raised.__traceback__)
            own = [each for each in frames if each.filename.startswith(str(main.parent))]
            message = (str(raised).splitlines() or [""])[0][:160]
            return Ran(type(raised).__name__, own[-1].lineno or 0 if own else 0, message, shown.getvalue())
        return Ran("", 0, "", shown.getvalue())

    with tempfile.NamedTemporaryFile() as answer:

        def write() -> None:
            Path(answer.name).write_text(json.dumps(astuple(ran())))

        _forked(write, None)
        try:
            return Ran(*json.loads(Path(answer.name).read_text()))
        except ValueError:
            return Ran("Ended", 0, "", "")


def _import_libraries() -> None:
    os.environ.update(JAX_PLATFORMS="cpu", JAX_TRACEBACK_FILTERING="off")
    sys.dont_write_bytecode = True
    for name in ("jax", "jax.numpy", "flax.linen", "equinox", "jitlint.frontends.cli", "jitlint.fix.engine"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def _programs(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".py":
            yield path.stem, path
        elif (path / "main.py").is_file():
            yield path.name, path


def cases(options: argparse.Namespace) -> int:
    """Fix the programs and run them."""
    counts: Counter[str] = Counter()
    worse: list[str] = []
    _import_libraries()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(options.keep or scratch).resolve()
        for name, path in _programs(Path(options.folder)):
            if options.only and not any(each in name for each in options.only):
                continue
            copy = work / name
            shutil.rmtree(copy, ignore_errors=True)
            if path.is_dir():
                shutil.copytree(path, copy)
            else:
                copy.mkdir(parents=True)
                shutil.copy(path, copy / "main.py")
            before = _run(copy / "main.py")
            if before.error in ("", "ModuleNotFoundError"):
                counts["not run"] += 1
                continue
            plain = _run(copy / "main.py", plain=True)
            texts = {each: each.read_bytes() for each in copy.rglob("*.py")}
            _forked(partial(_fix_all, copy), None)
            changed = [each for each, data in texts.items() if each.read_bytes() != data]
            broken = [each for each in changed if not _parses(each.read_bytes())]
            after = _run(copy / "main.py") if changed else before
            word = _word(before, after, plain, bool(changed))
            counts["programs"] += 1
            counts[word] += 1
            counts["do not parse"] += bool(broken)
            if word.startswith(("worse", "runs through, prints")):
                worse.append(
                    f"{name}: {before.error}:{before.line} -> {after.error}:{after.line} {after.message}"
                )
            if options.verbose:
                said = f" {after.error}:{after.line} {after.message}" if after.error else ""
                print(f"{word:34} {name}{said}", flush=True)
    total = counts["programs"]
    through = sum(count for word, count in counts.items() if word.startswith("runs through"))
    print("\n".join(worse))
    print(f"{total} programs, {through} run through ({through / max(total, 1):.1%}):", dict(counts))
    return int(bool(counts["do not parse"]) or any(word.startswith("worse") for word in counts))


def _fix_all(folder: Path) -> None:
    from jitlint.frontends.cli import main

    os.chdir(folder)
    main(["check", "--isolated", "--no-cache", "--fix", "--unsafe-fixes", "--jobs", "1", "."])


def _word(before: Ran, after: Ran, plain: Ran, changed: bool) -> str:
    if not changed:
        return "unchanged"
    if not after.error:
        same = plain.error or sorted(plain.shown.split()) == sorted(after.shown.split())
        return "runs through" if same else "runs through, prints otherwise"
    if after.error == before.error:
        return "raises the same"
    return "raises another" if "Tracer" in after.error or "Concretization" in after.error else "worse"


# ---------------------------------------------------------------- corpus


def corpus(options: argparse.Namespace) -> int:
    """Fix copies of repositories."""
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    names = options.only or sorted(each.name for each in Path(options.trees).iterdir())
    failed = False
    for name in names:
        kept = work / f"{name}.json"
        if not kept.exists():
            kept.write_text(json.dumps(_repaired(Path(options.trees) / name, work, options.unsafe)))
        row = json.loads(kept.read_text())
        failed |= bool(row["broken"] or row["left"] or row["new"])
        print(
            f"{name:32} {row['findings']:5} findings {row['fixed']:4} fixed in {len(row['changed']):3} files"
            f" {dict(row['codes'])} {row['seconds']:.0f} s",
            flush=True,
        )
        for word in ("broken", "left", "new"):
            for each in row[word]:
                print(f"    {word}: {each}", flush=True)
    return int(failed)


def _repaired(tree: Path, work: Path, unsafe: bool) -> Row:
    copy, began = work / tree.name, time.monotonic()
    shutil.rmtree(copy, ignore_errors=True)
    ignore = shutil.ignore_patterns(".jitlint_cache", ".git")
    shutil.copytree(tree, copy, symlinks=True, ignore=ignore)
    form = ("--output-format", "json", "--exit-zero", "--jobs", "1", ".")
    before = _rows(_jitlint(copy, *form), copy)
    done = _jitlint(copy, "--fix", *(["--unsafe-fixes"] if unsafe else []), *form)
    _rows(done, copy)
    changed = sorted(_changed(tree, copy))
    after = _rows(_jitlint(copy, "--no-cache", *form), copy) if changed else before
    old, new = Counter(map(_key, before)), Counter(map(_key, after))
    gone = old - new
    (work / f"{tree.name}.diff").write_text("".join(_difference(tree, copy, changed)), encoding="utf-8")
    fixed = _fixed(done)
    return {
        "findings": len(before),
        "fixed": fixed,
        "changed": changed,
        "codes": Counter(code for _, code, _, _ in gone.elements()),
        "broken": [
            each for each in changed if each.endswith(".py") and not _parses((copy / each).read_bytes())
        ],
        "left": [] if gone.total() >= fixed else [f"{fixed} fixed, {gone.total()} gone"],
        "new": [" ".join(key) for key in (new - old).elements()],
        "seconds": time.monotonic() - began,
    }


def _key(row: Row) -> Key:
    return row["path"], row["code"], row.get("function") or "", row["message"]


def _changed(tree: Path, copy: Path) -> Iterator[str]:
    for path in copy.rglob("*"):
        if ".jitlint_cache" in path.parts or not path.is_file() or path.is_symlink():
            continue
        name = path.relative_to(copy)
        if not (tree / name).is_file() or (tree / name).read_bytes() != path.read_bytes():
            yield str(name)


def _difference(tree: Path, copy: Path, changed: list[str]) -> Iterator[str]:
    for name in changed:
        old, new = ((each / name).read_text(encoding="utf-8", errors="replace") for each in (tree, copy))
        yield from difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )


# ---------------------------------------------------------------- killed

_PROGRAM = """import jax
import jax.numpy as jnp


@jax.jit
def f{number}(x):
    x = jnp.ones(3) * x
    x[0] = 1.0  # changed
    return x


TEXT = '''
{text}'''
"""


def killed(options: argparse.Namespace) -> int:
    """Kill runs that fix."""
    from jitlint.frontends.cli import main

    chance = random.Random(options.seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "project")
        folder.mkdir()
        names = [f"m{number}.py" for number in range(options.files)]
        before = {name: _text(number) for number, name in enumerate(names)}
        os.chdir(folder)

        def restore() -> None:
            for name, data in before.items():
                Path(name).write_bytes(data)

        def run() -> None:
            main(["check", "--fix", "--quiet", "--exit-zero", "--jobs", "1", "--isolated", "."])

        restore()
        _forked(run, None)
        after = {name: Path(name).read_bytes() for name in names}
        if any(after[name] == before[name] for name in names):
            sys.exit("the project is not fixed")
        restore()
        writing, whole = _times(run, lambda: any(Path(each).read_bytes() != before[each] for each in names))
        for _ in range(options.runs):
            restore()
            # Half of the kills come in the last part of a run, in which files are written.
            first = 0.0 if chance.random() < 0.5 else 0.95 * writing
            counts["killed" if _forked(run, chance.uniform(first, 1.02 * whole)) else "ended before"] += 1
            states = {_state(Path(name), before[name], after[name]) for name in names}
            counts["some written, some not" if len(states) > 1 else f"all {states.pop()}"] += 1
            counts["half-written"] += sum(
                _state(Path(name), before[name], after[name]) == "half-written" for name in names
            )
            for litter in folder.glob(".jitlint-*.tmp"):
                counts["temporary files left"] += 1
                litter.unlink()
        restore()
        _forked(run, None)
        counts["wrong after all kills"] = sum(Path(name).read_bytes() != after[name] for name in names)
    print(
        f"{options.runs} runs of {whole:.2f} s, {options.files} files of {len(before[names[0]]) >> 10} KB:",
        dict(counts),
    )
    return int(counts["half-written"] > 0 or counts["wrong after all kills"] > 0)


def _times(run: Callable[[], None], is_begun: Callable[[], bool]) -> tuple[float, float]:
    """After how many seconds a run begins to write, and ends."""
    began, writing = time.monotonic(), 0.0
    child = _child(run)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if not writing and is_begun():
            writing = time.monotonic() - began
        time.sleep(0.001)
    return writing, time.monotonic() - began


def _text(number: int) -> bytes:
    return _PROGRAM.format(number=number, text=f"line {number}\n" * 6_000).encode()


def _state(path: Path, before: bytes, after: bytes) -> str:
    data = path.read_bytes()
    return "unwritten" if data == before else "written" if data == after else "half-written"


def _child(run: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            run()
        finally:
            os._exit(0)
    return child


def _forked(run: Callable[[], None], seconds: float | None) -> bool:
    """Run in a process of its own; whether it was killed, after so many seconds."""
    child = _child(run)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What becomes of programs that jitlint fixes.")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("cases")
    one.add_argument("folder")
    one.add_argument("--keep", default="")
    one.add_argument("--only", nargs="*", default=[])
    one.add_argument("-v", "--verbose", action="store_true")
    one.set_defaults(run=cases)
    one = commands.add_parser("corpus")
    one.add_argument("--trees", required=True)
    one.add_argument("--work", required=True)
    one.add_argument("--only", nargs="*", default=[])
    one.add_argument("--unsafe", action="store_true")
    one.set_defaults(run=corpus)
    one = commands.add_parser("killed")
    one.add_argument("--runs", type=int, default=1000)
    one.add_argument("--files", type=int, default=6)
    one.add_argument("--seed", type=int, default=0)
    one.set_defaults(run=killed)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = _options()
    sys.exit(chosen.run(chosen))
