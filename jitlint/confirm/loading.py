"""Load the user's module, as often as needed and each time anew (layer: ``confirm``). Runs in the worker only."""

from __future__ import annotations
import __future__

import ast
import bisect
import contextlib
import importlib
import importlib.machinery
import importlib.util
import itertools
import linecache
import os
import sys
import tokenize
import traceback
import unittest
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import CodeType, ModuleType
from typing import Any

from jitlint.confirm.planning.cells import first_lines, module_of
from jitlint.confirm.planning.parts import first_line, needed, statements
from jitlint.confirm.protocol import Call, Task
from jitlint.confirm.stand_ins import StandIns
from jitlint.confirm.watch.observe import Raised, raised
from jitlint.confirm.watch.probes import Probes
from jitlint.syntax.documents import is_document

# Each statement is a program of its own, to which a future statement elsewhere would not apply.
_ANNOTATIONS = __future__.annotations.compiler_flag
# So far is looked into containers for tracers.
_DEEP, _WIDE = 4, 1000
_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class CannotLoad(Exception):
    """The module cannot be imported; the message says why."""


class Loader:
    """Loads one module of a project, and forgets the project's modules in between.

    used: the project's files that took part. loads: how often the module was loaded to its end. module: the last one,
    perhaps not to its end. Of the last time that only parts of it were run: failed, the lines of statements that did not
    go through; stopped, what ended them; shown, what expressions came to that nothing kept, by line. The cells of a notebook, and the
    pieces of a text, are such parts. leaked: the variables that held tracers after the
    last call.
    """

    def __init__(self, task: Task, probes: Probes | None = None) -> None:
        self.task = task
        self.probes = probes if probes is not None else Probes({})
        self._code: CodeType | None = None
        self.used: set[str] = set()
        self.loads = 0
        self.module: ModuleType | None = None
        self.failed: dict[int, str] = {}
        self.shown: dict[str, Any] = {}
        self.leaked: dict[str, Any] = {}
        self._parts: list[tuple[int, CodeType]] | None = None
        self._is_document = is_document(task.entry)
        self._cells: list[list[tuple[int, CodeType]]] | None = None
        self.stopped: list[Raised] = []
        self.stand_ins = StandIns(self.is_project)
        sys.path[:0] = [path for path in task.search_path if path not in sys.path]

    def is_project(self, filename: str) -> bool:
        """Whether a code object's file name is one of the project's files; what observes it never is."""
        inside = filename.startswith(self.task.root + os.sep) and not filename.startswith(_OWN)
        return inside and "site-packages" not in filename and not filename.endswith(">")

    @contextlib.contextmanager
    def loaded(self, name: str = "") -> Iterator[ModuleType]:
        """The module while the block runs; ``name`` replaces its own (``__main__``). Raises what importing it raises."""
        with self.forgetting():
            module = self._load(name)
            self.loads += 1
            yield module

    @contextlib.contextmanager
    def forgetting(self) -> Iterator[None]:
        """Modules of the project that are imported inside the block are forgotten after it."""
        before = set(sys.modules)
        hidden = sys.modules.get("__main__")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield
            finally:
                if hidden is not None:
                    sys.modules["__main__"] = hidden
                for added in [
                    added for added in set(sys.modules) - before if self._is_own(sys.modules[added])
                ]:
                    del sys.modules[added]

    @contextlib.contextmanager
    def only(self, lines: Collection[int], callers: bool, show: bool) -> Iterator[None]:
        """Inside the block, loading runs only the statements that the ones at ``lines`` need, with ``callers`` also
        those that use what these define, and goes on past what fails. ``show``: keep what expressions come to."""
        tree = self.probes.changed(ast.parse(self._text()), self.task.entry)
        self._parts = [
            (first_line(node), self._compiled(node, show and isinstance(node, ast.Expr)))
            for node in needed(statements(tree), lines, callers)
        ]
        try:
            yield
        finally:
            self._parts = None

    @contextlib.contextmanager
    def replaced(self, texts: Mapping[str, str]) -> Iterator[None]:
        """Inside the block, modules are loaded with these texts, by absolute path, in the place of their files."""
        self.probes.texts = {os.path.realpath(path): text.encode() for path, text in texts.items()}
        self._code = None
        hidden = {name: module for name, module in list(sys.modules.items()) if self._is_own(module)}
        for name in hidden:
            del sys.modules[name]
        try:
            yield
        finally:
            sys.modules.update(hidden)
            self.probes.texts = {}
            self._code = None

    def _text(self) -> str:
        """The module's source; of a notebook or a text, the one that its pieces make."""
        entry = self.task.entry
        if not self._is_document:
            with tokenize.open(entry) as stream:
                return stream.read()
        if entry not in linecache.cache:
            with open(entry, "rb") as file:
                text = module_of(entry, file.read()).text
            # Lines are those of the module, also for whoever asks for them later.
            linecache.cache[entry] = (len(text), None, text.splitlines(keepends=True), entry)
        return "".join(linecache.getlines(entry))

    def _compiled(self, node: ast.stmt, show: bool) -> CodeType:
        tree = ast.Expression(node.value) if show and isinstance(node, ast.Expr) else ast.Module([node], [])
        mode = "eval" if isinstance(tree, ast.Expression) else "exec"
        code: CodeType = compile(tree, self.task.entry, mode, _ANNOTATIONS, dont_inherit=True)
        return code

    def _run_parts(self, module: ModuleType) -> None:
        for line, code in self._parts or ():
            self._run_piece(module, [(line, code)])

    def _run_cells(self, module: ModuleType) -> None:
        """Run a notebook as somebody does who goes on below a cell that fails."""
        if self._cells is None:
            text = self._text()
            tree = self.probes.changed(ast.parse(text), self.task.entry)
            starts = first_lines(text)
            pieces = itertools.groupby(tree.body, lambda node: bisect.bisect(starts, first_line(node)))
            self._cells = [self._cell([node for node in nodes if not _is_magic(node)]) for _, nodes in pieces]
        for cell in self._cells:
            self._run_piece(module, cell)

    def _cell(self, nodes: Sequence[ast.stmt]) -> list[tuple[int, CodeType]]:
        """The code of a cell by first line, what it shows at its end apart."""
        shows = bool(nodes) and isinstance(nodes[-1], ast.Expr)
        silent, last = (nodes[:-1], nodes[-1:]) if shows else (nodes, nodes[:0])
        found: list[tuple[int, CodeType]] = []
        if silent:
            module = ast.Module([*silent], [])
            code = compile(module, self.task.entry, "exec", _ANNOTATIONS, dont_inherit=True)
            found.append((first_line(silent[0]), code))
        return found + [(first_line(node), self._compiled(node, True)) for node in last]

    def _run_piece(self, module: ModuleType, piece: Sequence[tuple[int, CodeType]]) -> None:
        for line, code in piece:
            try:
                value = eval(code, module.__dict__)
            except Exception as error:  # what comes next may not need it
                self.stopped.append(raised(error, self.is_project))
                self.failed.setdefault(line, type(error).__name__)
                traceback.clear_frames(error.__traceback__)  # they hold tracers alive
                return
            if value is not None:
                self.shown[f"line {line}"] = value

    def _load(self, name: str) -> ModuleType:
        task = self.task
        package = task.module.rpartition(".")[0]
        if package and not name:
            if self._parts is None:
                return importlib.import_module(task.module)
            importlib.import_module(package)
        name = name or task.module
        python = importlib.machinery.SourceFileLoader(name, task.entry)
        spec = importlib.util.spec_from_file_location(name, task.entry, loader=python)
        if spec is None:
            raise CannotLoad(f"{task.entry} is no module")
        module = importlib.util.module_from_spec(spec)
        if name == "__main__" and package:
            module.__package__ = package
        sys.modules[name] = self.module = module
        self.failed, self.shown, self.stopped = {}, {}, []
        if self._parts is not None:
            self._run_parts(module)
            return module
        if self._is_document:
            self._run_cells(module)
            return module
        if self._code is None:
            with open(task.entry, "rb") as stream:
                self._code = self.probes.compiled(stream.read(), task.entry)
        exec(self._code, module.__dict__)
        return module

    def _is_own(self, module: ModuleType) -> bool:
        places = [getattr(module, "__file__", None) or "", *_package_path(module)]
        own = any(isinstance(place, str) and place.startswith(self.task.root + os.sep) for place in places)
        if own and isinstance(places[0], str) and self.is_project(places[0]):
            self.used.add(places[0])
        return own and not any("site-packages" in str(place) for place in places)


def _is_magic(node: ast.stmt) -> bool:
    """Whether a statement stands for what only a notebook can do."""
    return isinstance(node, ast.ImportFrom) and node.module == "__magic__"


def _package_path(module: ModuleType) -> list[str]:
    try:
        return [str(place) for place in getattr(module, "__path__", ())]
    except Exception:  # a lazy module may do anything when asked
        return []


def runner(loader: Loader, call: Call, repeat: int) -> Callable[[], Any]:
    """Loads the module and makes the call, ``repeat`` times in the same module."""
    return lambda: _run(loader, call.target, repeat)


def _run(loader: Loader, target: str, repeat: int) -> Any:
    if not target.startswith("::"):
        with loader.loaded("__main__" if target == "__main__" else "") as module:
            if target in ("", "__main__"):
                kept = {name: value for name, value in vars(module).items() if not name.startswith("__")}
                loader.leaked = tracers_in(module)
                return kept | loader.shown
            if _has(module, target):
                values = [_call(module, target) for _ in range(repeat)]
                loader.leaked = tracers_in(module)
                return values[0] if repeat == 1 else values
    from jitlint.confirm.testing import run_test

    # Some decorators make several tests of one, with other names.
    name = target if target.startswith("::") else "::" + target.replace(".", "::")
    with loader.forgetting():
        return run_test(loader, loader.task.entry, name, loader.task.root)


def _has(module: ModuleType, target: str) -> bool:
    owner, _, method = target.rpartition(".")
    return not owner or hasattr(getattr(module, owner, None), method)


def tracers_in(module: ModuleType) -> dict[str, Any]:
    """The module's variables that hold a tracer, and the first that they hold."""
    found = {}
    for name, value in vars(module).items():
        if not name.startswith("__") and not callable(value) and not isinstance(value, ModuleType):
            tracer = _tracer_in(value, _DEEP)
            if tracer is not None:
                found[name] = tracer
    return found


def _tracer_in(value: Any, depth: int) -> Any:
    import jax

    if isinstance(value, jax.core.Tracer):
        return value
    if not depth:
        return None
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = value.values()
    elif isinstance(value, (list, tuple, set)):
        parts = value
    elif type(value).__module__.partition(".")[0] not in ("builtins", "jax", "jaxlib", "numpy"):
        parts = getattr(value, "__dict__", {}).values()
    for part in itertools.islice(parts, _WIDE):
        tracer = _tracer_in(part, depth - 1)
        if tracer is not None:
            return tracer
    return None


def _call(module: ModuleType, target: str) -> Any:
    """Call a function of the module, or a test method of one of its classes with what belongs around it."""
    owner, _, method = target.rpartition(".")
    if not owner:
        return getattr(module, target)()
    kind = getattr(module, owner)
    instance = kind(method) if issubclass(kind, unittest.TestCase) else kind()
    before, after = (
        ("setUp", "tearDown") if isinstance(instance, unittest.TestCase) else ("setup_method",) * 2
    )
    if hasattr(instance, before):
        getattr(instance, before)()
    value = getattr(instance, method)()
    if before != after and hasattr(instance, after):
        getattr(instance, after)()
    return value
