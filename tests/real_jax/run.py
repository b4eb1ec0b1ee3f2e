"""Run fixture programs under real JAX and say what each case did. The only test code that executes fixtures."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

from jitlint.base.outcome import Outcome as Predicted
from jitlint.base.outcome import Unrolls, Unsynced
from jitlint.confirm.planning.statements import guarded_by
from jitlint.confirm.statement import Statement
from jitlint.confirm.watch.observe import Place, Watch, class_name
from jitlint.confirm.watch.runs import Runs
from jitlint.driver.registry import rules
from tests.fixtures.marks import Mark, Program, cases, decorated, marks, statement


def predicted(mark: Mark) -> Predicted:
    """What the mark says that JAX does."""
    assert mark.code in rules(), f"there is no rule {mark.code}"
    return rules()[mark.code].outcome_of(mark.case)


def flagged(mark: Mark) -> Statement:
    """The statement of a mark; its number is the one that `observed` watches it by."""
    first, last = statement(mark.path, mark.line)
    tried, handler = guarded_by(mark.path.read_text(encoding="utf-8"), mark.line)
    number = marks(mark.path).index(mark)
    return Statement(str(mark.path), mark.line, first, last, "", number, tried, handler)


def _watches(program: Program) -> dict[Place, list[Watch]]:
    found: dict[Place, list[Watch]] = {}
    for path in program.files:
        for number, mark in enumerate(marks(path)):
            outcome = predicted(mark)
            watch = Watch(
                number, frozenset(), (), isinstance(outcome, Unrolls), isinstance(outcome, Unsynced)
            )
            if watch.size or watch.clocks:
                found.setdefault((str(path), mark.line), []).append(watch)
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one case did: the exception's full class name ("" if it ran clean), the innermost line of the
    program in its traceback, the message, and every line of the program that ran."""

    case: str
    raised: str
    place: tuple[Path, int] | None
    message: str
    executed: frozenset[tuple[Path, int]]

    def hits(self, mark: Mark) -> bool:
        """The traceback's innermost line is the mark's, or lies in the same statement without a mark of its own."""
        if self.place is None or self.place[0] != mark.path:
            return False
        path, line = self.place
        if any(m.line == line and m.proved_by_jax for m in marks(path)):
            return line == mark.line
        first, last = statement(path, line)
        return first <= mark.line <= last

    def follows_from(self, mark: Mark) -> bool:
        """Some line of the mark's statement ran during the case, or the message names the function that the
        marked decorator belongs to (decorators run when the file is imported)."""
        name = decorated(mark.path, mark.line)
        if name and re.search(rf"<function [\w.<>]*\b{name} at ", self.message):
            return True
        first, last = statement(mark.path, mark.line)
        return any((mark.path, line) in self.executed for line in range(first, last + 1))


@contextmanager
def _import_from(program: Program) -> Iterator[None]:
    """Let the program import its own modules, and forget them afterwards."""
    folder = program.entry.parent
    roots = [str(folder), str(folder / "src")] if len(program.files) > 1 else []
    before = set(sys.modules)
    sys.path[:0] = roots
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for root in roots:
            sys.path.remove(root)
        # First find all, then delete: a namespace package looks for its parent when asked for its folders.
        for name in [n for n in set(sys.modules) - before if _lies_in(sys.modules[n], folder)]:
            del sys.modules[name]


def _lies_in(module: ModuleType, folder: Path) -> bool:
    places = [getattr(module, "__file__", None) or "", *getattr(module, "__path__", [])]
    return any(folder in Path(place).parents for place in places)


@contextmanager
def _library_kept() -> Iterator[None]:
    """What a program puts in the place of functions of JAX's is taken back: the next one in this process needs them."""
    before = [(module, dict(vars(module))) for module in (jax, jax.nn, jax.numpy)]
    try:
        yield
    finally:
        for module, names in before:
            for name, value in names.items():
                if vars(module).get(name) is not value:
                    setattr(module, name, value)


@contextmanager
def _loaded(program: Program) -> Iterator[ModuleType]:
    """The program as a new module, while the block runs."""
    name = "fixture_" + "".join(c if c.isalnum() else "_" for c in program.name[: -len(".py")])
    with warnings.catch_warnings(), _library_kept(), _import_from(program):
        warnings.simplefilter("ignore")
        spec = importlib.util.spec_from_file_location(name, program.entry)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[name]


def _run_case(module: ModuleType, case: str, files: frozenset[str], watch: bool) -> Outcome:
    executed: set[tuple[Path, int]] = set()

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        executed.add((Path(frame.f_code.co_filename), frame.f_lineno))
        return on_line

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename in files else None

    previous = sys.gettrace()
    try:
        if watch:
            sys.settrace(on_call)
        getattr(module, case)()
    except Exception as error:  # every class is an answer here
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in files]
        place = (Path(frames[-1].filename), frames[-1].lineno or 0) if frames else None
        return Outcome(case, class_name(error), place, str(error)[:400], frozenset(executed))
    finally:
        if watch:
            sys.settrace(previous)
    return Outcome(case, "", None, "", frozenset(executed))


@functools.cache
def run(program: Program, watch: bool = False) -> tuple[Outcome, ...]:
    """Run every case of a program, in one module. ``watch`` also records the lines that ran (slower)."""
    files = frozenset(str(f) for f in program.files)
    # JAX's shortened tracebacks give the line where a frame ended, not where the exception was raised.
    jax.config.update("jax_traceback_filtering", "off")
    with _loaded(program) as module:
        return tuple(_run_case(module, case, files, watch) for case in cases(program.entry))


@functools.cache
def observed(program: Program, case: str, repeat: int) -> Runs:
    """One case in a module of its own, to be looked at with all instruments, with and without jit.

    repeat: the case is called so often in that module: an effect may need several calls.
    """
    files = frozenset(str(f) for f in program.files)

    def once() -> Any:
        with _loaded(program) as module:
            return [getattr(module, case)() for _ in range(repeat)] if repeat > 1 else getattr(module, case)()

    run_once: Callable[[], Any] = once
    return Runs(run_once, files.__contains__, _watches(program))
