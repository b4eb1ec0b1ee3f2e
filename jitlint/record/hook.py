"""Runs inside the user's program and notes which of its functions JAX traces, and how (layer: ``record``).

What it does: on every start of a function of the project, look whether a JAX trace is active, and which arguments are
tracers. Listen to JAX's own events for traces and compilations. Write what was seen when the process ends. Which lines
ran is the part of ``activations.py``, why something is traced again that of ``causes.py``.
What it does not: wrap or replace anything of JAX or of the user, import JAX, keep values (only shapes, dtypes, type
names and plain numbers), or raise.

It is loaded by its path into Pythons that do not have jitlint, so it uses nothing but the standard library.
`sys.monitoring` (Python 3.12) leaves library code alone; before that `sys.setprofile` sees every call, which costs more,
and neither lines nor errors are recorded.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import opcode
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jitlint.record import activations
    from jitlint.record.functions import Function, Operation

VERSION = 1
_MOST_SIGNATURES = 32
_FLUSH_SECONDS = 2.0
_PARTS = ("site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox")
_REASON = "TRACING CACHE MISS"
_STAGED = "DynamicJaxprTrace"
_LOOK_UPS = ("__getattribute__", "__getattr__")
_OPTIMIZED = 0x01  # set in the code of functions, not in that of modules and class bodies
_RAISE = opcode.opmap["RAISE_VARARGS"]
_OTHER_TRACES = {"BatchTrace": "vmap", "JVPTrace": "grad", "LinearizeTrace": "grad"}


class Recorder:
    """The state of one process."""

    def __init__(self, folder: str, root: str, load: Callable[[str], Any]) -> None:
        self._causes, self._functions, self._watching = map(load, ("causes", "functions", "activations"))
        self._operations: dict[tuple[str, str, int], Operation] = {}
        self._folder = folder
        self._root = os.path.join(root, "")
        self._known: dict[int, Function] = {}
        self._in_project: dict[str, bool] = {}
        self._is_leaf: dict[type, bool] = {}
        self._core: Any = None
        self._busy = threading.local()
        self._last_root: dict[str, Function] = {}
        self._last_error = 0
        self._flushed = time.monotonic()
        self._monitoring: Any = None
        self._tool = 0
        self._watch: activations.Activations | None = None

    # ------------------------------------------------------------ starting

    def start(self) -> None:
        """Hook into this process."""
        monitoring = getattr(sys, "monitoring", None)
        if monitoring is None:
            threading.setprofile(self._on_profile)
            sys.setprofile(self._on_profile)
        else:
            tool = next((number for number in (4, 3) if monitoring.get_tool(number) is None), None)
            if tool is None:
                raise RuntimeError("no free tool id of sys.monitoring")
            self._monitoring, self._tool = monitoring, tool
            events = monitoring.events
            monitoring.use_tool_id(tool, "jitlint")
            monitoring.register_callback(tool, events.PY_START, self._on_start)
            monitoring.register_callback(tool, events.PY_UNWIND, self._on_unwind)
            self._watch = self._watching.Activations(monitoring, tool, self._mode, self._is_tracer)
            monitoring.set_events(tool, events.PY_START | events.PY_UNWIND | events.RAISE)
        atexit.register(self.write)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        """A child starts from nothing; processes of `multiprocessing` end without `atexit`."""
        self._known, self._operations = {}, {}
        self._last_root = {}
        util = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self.write, exitpriority=0)
        if self._watch is not None:
            self._watch.forget()
            self._monitoring.restart_events()

    def _bind(self) -> bool:
        """Find JAX once the program has imported it completely."""
        jax = sys.modules.get("jax")
        core = sys.modules.get("jax._src.core")
        if jax is None or core is None or getattr(jax.__spec__, "_initializing", False):
            return False
        if not hasattr(core, "trace_ctx") or not hasattr(core, "eval_trace"):
            return False
        self._core = core
        events = getattr(jax, "monitoring", None) or sys.modules.get("jax._src.monitoring")
        if events is not None:
            with contextlib.suppress(Exception):
                events.register_event_duration_secs_listener(self._on_duration)
        if os.environ.get("JITLINT_RECORD_REASONS"):
            with contextlib.suppress(Exception):
                self._listen_for_reasons(jax)
        return True

    # ------------------------------------------------------------ events

    def _function(self, code: CodeType) -> Function | None:
        """The function of a code object of the project."""
        if not self._is_inside(code) or not code.co_flags & _OPTIMIZED:
            return None
        fn: Function = self._functions.Function(code, self._causes.Causes())
        self._known[id(code)] = fn
        return fn

    def _is_inside(self, code: CodeType) -> bool:
        """Whether code stands in a file of the project."""
        name = code.co_filename
        inside = self._in_project.get(name)
        if inside is None:
            parts = name[len(self._root) :].split(os.sep)
            inside = name.startswith(self._root) and not any(part in _PARTS for part in parts)
            self._in_project[name] = inside
        return inside

    def _on_start(self, code: CodeType, offset: int) -> object:
        fn = self._known.get(id(code))
        if fn is None:
            fn = self._function(code)
            if fn is None:
                return self._monitoring.DISABLE
            if self._watch is not None:
                fn.lines = self._watch.watch(code, staged=False)
        if self._core is None and not self._bind():
            return None
        if self._core.trace_ctx.trace is self._core.eval_trace or getattr(self._busy, "on", False):
            fn.eager += 1
            return None
        self._note(fn, sys._getframe(1))
        return None

    def _mode(self) -> str:
        """What this thread does now, in the words of `activations`."""
        if self._core is None or self._core.trace_ctx.trace is self._core.eval_trace:
            return "eager"
        busy = getattr(self._busy, "on", False)
        return "staged" if not busy and any(kind == _STAGED for kind, _ in self._traces()) else "other"

    def _is_tracer(self, value: object) -> bool:
        return isinstance(value, self._core.Tracer)

    def _on_profile(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        fn = self._known.get(id(code)) or self._function(code)
        if fn is None or (self._core is None and not self._bind()):
            return
        if self._core.trace_ctx.trace is self._core.eval_trace or getattr(self._busy, "on", False):
            fn.eager += 1
        else:
            self._note(fn, frame)

    def _on_unwind(self, code: CodeType, offset: int, error: BaseException) -> None:
        """An exception leaves a function."""
        fn = self._known.get(id(code))
        if fn is None:
            return
        if self._watch is not None:
            self._watch.on_unwind()
        if fn.roots and self._core is not None and id(error) != self._last_error:
            self._note_failure(fn, error)

    def _note_failure(self, fn: Function, error: BaseException) -> None:
        """If JAX called the function for a trace, the trace has failed."""
        if self._core.trace_ctx.trace is self._core.eval_trace or isinstance(error, GeneratorExit):
            return
        if fn.code.co_name in _LOOK_UPS and isinstance(error, AttributeError):
            return  # JAX asks many objects for attributes that they do not have
        self._last_error = id(error)
        place, deliberate, trace = None, False, error.__traceback__
        while trace is not None:
            within = trace.tb_frame.f_code
            deliberate = False
            if self._in_project.get(within.co_filename):
                place = (within.co_filename, trace.tb_lineno)
                deliberate = within.co_code[trace.tb_lasti] == _RAISE
            trace = trace.tb_next
        if place is None:
            return
        kind = type(error)
        seen = {
            "file": os.path.relpath(place[0], self._root).replace(os.sep, "/"),
            "line": place[1],
            "exception": f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."),
            "deliberate": deliberate,
        }
        if seen not in fn.errors and len(fn.errors) < 16:
            fn.errors.append(seen)

    def _on_duration(self, event: str, seconds: float, **details: Any) -> None:
        name = str(details.get("fun_name", ""))
        if event == "/jax/core/compile/jaxpr_trace_duration":
            fn = self._last_root.get(name)
            if fn is not None:
                fn.traces += 1
                fn.trace_seconds += seconds
        elif event == "/jax/core/compile/backend_compile_duration":
            name = name.removeprefix("jit(").removesuffix(")")
            fn = self._last_root.get(name)
            if fn is not None:
                fn.compiles += 1
                fn.compile_seconds += seconds
            elif not getattr(self._busy, "on", False):
                self._note_operation(name, seconds, sys._getframe(1))

    # ------------------------------------------------------------ looking

    def _traces(self) -> Iterator[tuple[str, Any]]:
        """The active traces, innermost first: class name and trace."""
        trace = self._core.trace_ctx.trace
        for _ in range(50):
            if trace is None or trace is self._core.eval_trace:
                return
            yield type(trace).__name__, trace
            trace = getattr(trace, "parent_trace", None)

    def _note(self, fn: Function, frame: FrameType) -> None:
        self._busy.on = True  # flattening a pytree may run the user's code
        try:
            self._note_entry(fn, frame)
        except Exception:  # a strange object; this entry is lost, the program goes on
            return
        finally:
            self._busy.on = False
        if time.monotonic() - self._flushed > _FLUSH_SECONDS:
            self.write()

    def _note_entry(self, fn: Function, frame: FrameType) -> None:
        modes, staged = self._modes()
        if not modes:
            fn.eager += 1
            return
        first = not fn.entries
        fn.entries += 1
        if staged and not fn.staged:
            fn.kinds, fn.calls = {}, {}
        fn.staged += staged
        for mode in modes:
            fn.modes[mode] = fn.modes.get(mode, 0) + 1
        signature = self._note_arguments(fn, frame.f_locals, counts=staged or not fn.staged)
        if self._is_root(frame):
            fn.roots[modes[0]] = fn.roots.get(modes[0], 0) + 1
            self._last_root[fn.code.co_name] = fn
            self._note_cause(fn, modes, frame)
            if signature in fn.signatures or len(fn.signatures) < _MOST_SIGNATURES:
                fn.signatures[signature] = fn.signatures.get(signature, 0) + 1
        if staged and first:
            self._note_captured(fn, frame)
        if staged and self._watch is not None:
            fn.lines = self._watch.watch(fn.code, staged=True)

    def _note_cause(self, fn: Function, modes: list[str], frame: FrameType) -> None:
        """Why JAX traces a function again, if it does so for itself, and not within another trace that it makes again."""
        if modes[0] == "jit" or len(modes) == 1:
            values = {name: frame.f_locals.get(name) for name in fn.parameters}
            fn.causes.note(self._all_leaves(values), self._caller(frame)[0])

    def _note_operation(self, name: str, seconds: float, frame: FrameType) -> None:
        """A library function is compiled: for which line of the project, and with which arguments."""
        (file, line), called = self._caller(frame)
        if not file:
            return
        operation = self._operations.get((name, file, line))
        if operation is None:
            operation = self._functions.Operation(name, file, line, self._causes.Causes())
            self._operations[name, file, line] = operation
        operation.compiles += 1
        operation.seconds += seconds
        values: dict[str, Any] = {}
        if called is not None:
            values = {p: called.f_locals.get(p) for p in self._functions.parameters_of(called.f_code)}
        self._busy.on = True  # see `_note`
        try:
            operation.causes.note(self._all_leaves(values), (file, line))
        finally:
            self._busy.on = False

    def _caller(self, frame: FrameType) -> tuple[tuple[str, int], FrameType | None]:
        """The line of the project that a frame was called from, however indirectly, and what that line called."""
        called, back = frame, frame.f_back
        while back is not None:
            if self._is_inside(back.f_code):
                file = os.path.relpath(back.f_code.co_filename, self._root).replace(os.sep, "/")
                return (file, back.f_lineno), called
            called, back = back, back.f_back
        return ("", 0), None

    def _all_leaves(self, values: Mapping[str, Any]) -> Any:
        return self._causes.leaves_of(values, self._core.Tracer, self._is_known_leaf)

    def _modes(self) -> tuple[list[str], bool]:
        """The transforms that are at work, and whether the code is staged out by one of them."""
        modes = []
        staged = False
        for kind, trace in self._traces():
            if kind == _STAGED:
                staged = True
                info = getattr(getattr(trace, "frame", None), "debug_info", None)
                modes.append(str(getattr(info, "traced_for", "") or "jit"))
            elif kind in _OTHER_TRACES:
                modes.append(_OTHER_TRACES[kind])
        return modes, staged

    def _note_arguments(self, fn: Function, values: Mapping[str, Any], counts: bool) -> str:
        """Note which arguments are traced, if the call counts; give them as text."""
        letters, shown = "", []
        for name in fn.parameters:
            kind, text = self._describe(values.get(name))
            if counts:
                fn.kinds.setdefault(name, set()).add(kind)
            letters += {"traced": "T", "mixed": "M"}.get(kind, "-")
            shown.append(f"{name}={text}")
        if counts:
            fn.calls[letters] = fn.calls.get(letters, 0) + 1
        return ", ".join(shown)

    def _describe(self, value: Any) -> tuple[str, str]:
        """traced, static or mixed, and the value's shapes and types."""
        tracer = self._core.Tracer
        if isinstance(value, tracer):
            return "traced", self._causes.aval(value)
        if value is None or isinstance(value, (bool, int, float)):
            return "static", repr(value)
        if isinstance(value, str):
            return "static", "str"
        try:
            leaves = self._leaves(value)
        except Exception:  # of a flatten function of the user's
            return "mixed", type(value).__name__
        if len(leaves) == 1 and leaves[0] is value:
            leaves = list(getattr(value, "__dict__", {}).values())[:64]
        found = [isinstance(leaf, tracer) for leaf in leaves]
        if not any(found):
            return "static", type(value).__name__
        shapes = " ".join(self._causes.aval(leaf) for leaf in leaves[:8] if isinstance(leaf, tracer))
        more = " ..." if len(leaves) > 8 else ""
        return "traced" if all(found) else "mixed", f"{type(value).__name__}({shapes}{more})"

    def _leaves(self, value: Any) -> list[Any]:
        """The leaves of a pytree. JAX warns of iterables that it takes for leaves, unless it is told that they are."""
        tree = sys.modules.get("jax.tree_util")
        if tree is None or getattr(tree, "default_registry", None) is None:
            return [value]
        return list(tree.tree_leaves(value, is_leaf=self._is_known_leaf))

    def _is_known_leaf(self, node: Any) -> bool:
        known = self._is_leaf.get(type(node))
        if known is None:
            registry = sys.modules["jax.tree_util"].default_registry
            known = self._is_leaf[type(node)] = registry.flatten_one_level(node) is None
        return known

    def _is_root(self, frame: FrameType) -> bool:
        """Whether JAX, or a library on its behalf, called this function, and not the project."""
        back = frame.f_back
        while back is not None:
            name = back.f_code.co_filename
            if self._in_project.get(name) or (name.startswith(self._root) and id(back.f_code) in self._known):
                return False
            if f"{os.sep}jax{os.sep}_src{os.sep}" in name and not name.endswith("tree_util.py"):
                return True
            back = back.f_back
        return False

    def _note_captured(self, fn: Function, frame: FrameType) -> None:
        """Arrays that the function's code names without getting them as arguments: an upper bound of what is baked in."""
        places = [(name, frame.f_locals.get(name)) for name in fn.code.co_freevars]
        places += [(name, frame.f_globals.get(name)) for name in fn.code.co_names]
        for name, value in places:
            size = getattr(value, "nbytes", None)
            if isinstance(size, int) and not isinstance(value, (self._core.Tracer, memoryview)) and size > 0:
                fn.captured[name] = size

    def _listen_for_reasons(self, jax: Any) -> None:
        import logging

        def listen(record: logging.LogRecord) -> bool:
            text = record.getMessage()
            if not text.startswith(_REASON):
                return True
            name = text.partition("def ")[2].partition("(")[0] or text.partition("for ")[2].partition(" ")[0]
            fn = self._last_root.get(name)
            if fn is None:
                fn = next(
                    (each for each in self._last_root.values() if f" {each.code.co_name} " in text), None
                )
            if fn is not None and len(fn.reasons) < 8:
                fn.reasons.append(" ".join(text.split())[:300])
            return False

        jax.config.update("jax_explain_cache_misses", True)
        for name in ("jax._src.interpreters.partial_eval", "jax._src.pjit"):
            logging.getLogger(name).addFilter(listen)

    # ------------------------------------------------------------ ending

    def write(self) -> None:
        """Put what has been seen so far into this process's file."""
        self._flushed = time.monotonic()
        functions = [fn.as_json(self._root) for fn in list(self._known.values()) if fn.entries]
        eager = [
            [os.path.relpath(fn.code.co_filename, self._root).replace(os.sep, "/"), fn.code.co_firstlineno]
            for fn in list(self._known.values())
            if not fn.entries
        ]
        jax = sys.modules.get("jax")
        if not functions and jax is None:
            return
        ran: dict[str, list[int]] = {}
        for fn in list(self._known.values()):
            if fn.lines is not None and fn.lines.eager and not fn.code.co_name.startswith("<"):
                file = os.path.relpath(fn.code.co_filename, self._root).replace(os.sep, "/")
                ran[file] = sorted({*ran.get(file, ()), *fn.lines.eager})
        data = {
            "version": VERSION,
            "python": sys.version.split()[0],
            "jax": str(getattr(jax, "__version__", "")),
            "precise": self._monitoring is not None,
            "functions": functions,
            "eager": eager,
            "ran": ran,
            "operations": [each.as_json() for each in list(self._operations.values()) if each.compiles > 1],
        }
        path = os.path.join(self._folder, f"{os.getpid()}-{id(self):x}.json")
        with contextlib.suppress(OSError):
            with open(path + ".tmp", "w", encoding="utf-8") as stream:
                json.dump(data, stream)
            os.replace(path + ".tmp", path)


def start(environment: Mapping[str, str], load: Callable[[str], Any]) -> None:
    """Record this process as the environment says. load: gives the modules beside this one, by name."""
    Recorder(environment["JITLINT_RECORD_FOLDER"], environment["JITLINT_RECORD_ROOT"], load).start()
