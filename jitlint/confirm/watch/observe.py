"""Run a callable once under real JAX and record what happened (layer: ``confirm``).

Records executions of every project line, output, result, exception, traces and what made them, draws of random
bits, out-of-bounds indices, results thrown away, clock readings and waits. Judges nothing: that is
`jitlint.confirm.witness`. JAX is imported inside functions only, so importing this module is cheap.

Everything is seen from outside through `sys.settrace` (it works on every supported Python, and wraps nothing that JAX
uses as a cache key), except clocks and waits, which are builtins and have to be replaced for a while.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType, TracebackType
from typing import Any

from jitlint.confirm.watch.imports import unobserved_imports
from jitlint.confirm.watch.spots import Activations, Columns, Spot, columns_of, consumed_at

# File name as in the code object, line.
Place = tuple[str, int]
_ERRORS = 10_000
_OUTPUT = 1 << 20
TraceFunction = Callable[[FrameType, str, Any], Any]


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: full class name, message, and the project lines of its traceback, innermost first. columns: what
    ran at the innermost one, if Python knows; operand: the value that it worked on. holds: the findings whose variables
    held an array of JAX's then, deleted: those for which it was given away. source: the line whose derivative it was, if
    JAX says so."""

    kind: str
    message: str
    places: tuple[Place, ...]
    columns: Columns | None = None
    operand: Columns | None = None
    holds: frozenset[int] = frozenset()
    deleted: frozenset[int] = frozenset()
    source: Place | None = None

    @property
    def place(self) -> Place | None:
        """The innermost line of the project."""
        return self.places[0] if self.places else None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message.splitlines()[0] if self.message else ''}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class Function:
    """A project function, told apart from others by where it is written."""

    path: str
    line: int
    name: str

    @classmethod
    def of(cls, code: CodeType) -> Function:
        """The function a code object belongs to."""
        return cls(code.co_filename, code.co_firstlineno, code.co_name)


@dataclass(frozen=True, slots=True)
class Trace:
    """JAX entered ``function`` to stage it. ``stack``: project lines of the callers, innermost first.
    ``depth``: 1 for a trace started from ordinary code, 2 inside another trace, ... ``maker``: where `jax.jit` was
    last applied to the function, if it was. shapes, static: what it was called with. types: the types of the fields of its
    arguments, by class and field."""

    function: Function
    stack: tuple[Spot, ...]
    depth: int
    maker: tuple[Spot, ...] = ()
    shapes: str = ""
    static: str = ""
    types: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Jitted:
    """`jax.jit` was applied to ``function`` (None: not a function of the project)."""

    function: Function | None
    name: str
    stack: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Compiled:
    """JAX itself said that it traced a function called ``name``."""

    name: str
    stack: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """A key was consumed by `jax.random.<name>`. ``data``: the bits of the key. maker: where it was last made from a
    seed, if it was. batched: under vmap, with one key for all elements."""

    name: str
    data: bytes
    stack: tuple[Spot, ...]
    maker: Spot | None = None
    batched: bool = False


@dataclass(frozen=True, slots=True)
class OutOfBounds:
    """An index for which NumPy raises ``message`` and JAX answers."""

    message: str
    stack: tuple[Spot, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A JAX function returned an array to a project line that threw it away."""

    name: str
    spot: Spot


@dataclass(frozen=True, slots=True)
class Tick:
    """``kind`` is ``clock`` (a reading) or ``wait`` (something waited for a result). At a reading, the arrays that the
    variables around it hold: pending, those that nothing waited for since they were made, by variable; known, all. lines:
    how often each line had run by then; made: how many arrays JAX had made. compiled: the jitted functions that lines which ran by then name."""

    kind: str
    stack: tuple[Spot, ...]
    pending: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[int] = frozenset()
    lines: Mapping[Place, int] = field(default_factory=dict)
    made: int = 0
    compiled: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Watch:
    """What to look at when a line begins, for the finding ``number``: whether the ``names`` hold tracers, and with ``size``, how large the program that JAX makes is by then. ``clocks``: look for clocks that take
    some effort to be seen. values: look at what is read; varies: at the names; keys: those of keys; leaks: where tracers in the whole statement's
    variables, its mentions, were made. last: the statement's last line. A look at an array keeps it alive, so it is taken only
    where it is needed."""

    number: int
    names: frozenset[str]
    reads: tuple[str, ...] = ()
    size: bool = False
    clocks: bool = False
    varies: bool = False
    keys: bool = False
    leaks: bool = False
    values: bool = False
    mentions: frozenset[str] = frozenset()
    last: int = 0


Watches = Mapping[Place, Sequence[Watch]]


@dataclass(slots=True)
class Observation:
    """What one run did. ``raised`` is None if it returned; then ``value`` is what it returned. stopped: what ended parts of it.

    lines: how often each ran; staged, how often while JAX traced. errors: every exception that passed through project code,
    handled or not; broken: the lines that one passed through, ends of iterators and of the program included. Of watched
    lines, by the number of the finding: tracers, how often one of the variables held a tracer; unknown, how often
    all of them held nothing else; values, what was read (None: cannot be told); varied, by variable; around,
    the functions that were running, outer ones included, and inner, the innermost; origins, where the tracers were made
    that the statement's variables held; keys, the data of keys that the variables held, an object its own ones, those
    of other parameters apart, and key_names, these variables; sizes, by trace and call, equations of the program.
    printed: what top-level lines printed. leaked: variables of the module that hold tracers when all is over. built: how
    often a function of that name was compiled. made: how many arrays JAX made for project lines.
    """

    lines: Counter[Place] = field(default_factory=Counter)
    staged: Counter[Place] = field(default_factory=Counter)
    errors: list[Raised] = field(default_factory=list)
    broken: set[Place] = field(default_factory=set)
    tracers: Counter[int] = field(default_factory=Counter)
    unknown: Counter[int] = field(default_factory=Counter)
    values: dict[int, set[object]] = field(default_factory=dict)
    varied: dict[int, dict[str, set[object]]] = field(default_factory=dict)
    around: dict[int, set[Place]] = field(default_factory=dict)
    inner: dict[int, set[Place]] = field(default_factory=dict)
    origins: dict[int, set[str]] = field(default_factory=dict)
    keys: dict[int, set[bytes]] = field(default_factory=dict)
    own_keys: dict[int, set[bytes]] = field(default_factory=dict)
    key_names: dict[int, set[str]] = field(default_factory=dict)
    sizes: dict[int, dict[tuple[int, int], list[int]]] = field(default_factory=dict)
    output: str = ""
    printed: dict[int, str] = field(default_factory=dict)
    leaked: Mapping[str, Any] = field(default_factory=dict)
    value: Any = None
    raised: Raised | None = None
    stopped: Sequence[Raised] = ()
    traces: list[Trace] = field(default_factory=list)
    jits: list[Jitted] = field(default_factory=list)
    compiled: list[Compiled] = field(default_factory=list)
    built: Counter[str] = field(default_factory=Counter)
    draws: list[Draw] = field(default_factory=list)
    out_of_bounds: list[OutOfBounds] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    ticks: list[Tick] = field(default_factory=list)
    made: int = 0


def class_name(error: BaseException) -> str:
    """The public dotted name of an exception's class; builtins without their module."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _library_of(error: BaseException) -> str:
    """The folder of the package that has an exception's class, with its separator; "" if that is no package."""
    package = sys.modules.get(type(error).__module__.partition(".")[0])
    file = getattr(package, "__file__", None)
    return os.path.dirname(file) + os.sep if isinstance(file, str) and hasattr(package, "__path__") else ""


def raised(error: BaseException, watched: Callable[[str], bool]) -> Raised:
    """An exception as data. A syntax error has its place in itself, not in its traceback."""
    places: list[Place] = []
    columns, operand = None, None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if watched(code.co_filename):
            places.append((code.co_filename, trace.tb_lineno))
            columns, operand = columns_of(code, trace.tb_lasti), consumed_at(code, trace.tb_lasti)
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename and watched(error.filename):
        places.append((error.filename, error.lineno or 1))
        columns, operand = None, None
    source = _differentiated(error.__cause__, watched)
    return Raised(
        class_name(error), str(error)[:2000], tuple(reversed(places)), columns, operand, source=source
    )


def _differentiated(cause: BaseException | None, watched: Callable[[str], bool]) -> Place | None:
    """The project line of the operation that JAX has transformed, which it gives as the cause."""
    found: Place | None = None
    if type(cause).__name__ == "JaxStackTraceBeforeTransformation" and cause is not None:
        for frame, line in traceback.walk_tb(cause.__traceback__):
            if watched(frame.f_code.co_filename):
                found = (frame.f_code.co_filename, line)
    return found


class Recorder:
    """Records into ``seen`` while it is active. ``watched`` says which file names are the project's."""

    def __init__(self, watched: Callable[[str], bool], watches: Watches | None = None) -> None:
        from jitlint.confirm.watch.instruments import Instruments

        self.seen = Observation()
        self._watched: dict[str, bool] = {}
        self._is_watched = watched
        self._watches = watches or {}
        self._last_error: BaseException | None = None
        self._in_library = False
        self._activations = Activations()
        self._instruments = Instruments(self.seen, self.stack, self.watches)
        self._hooks = self._instruments.hooks

    def watches(self, filename: str) -> bool:
        """Whether a file belongs to the project. Remembered, since it is asked at every call."""
        found = self._watched.get(filename)
        if found is None:
            found = self._watched[filename] = self._is_watched(filename)
        return found

    def stack(self, frame: FrameType | None) -> tuple[Spot, ...]:
        """Where the project is, from ``frame`` outwards."""
        spots = []
        while frame is not None:
            code = frame.f_code
            if self.watches(code.co_filename):
                columns = columns_of(code, frame.f_lasti)
                spots.append(Spot(code.co_filename, frame.f_lineno, columns, self._activations.number(frame)))
            frame = frame.f_back
        return tuple(spots)

    def on_call(self, frame: FrameType, event: str, argument: Any) -> TraceFunction | None:
        """The function for `sys.settrace`."""
        code = frame.f_code
        if self.watches(code.co_filename):
            self._activations.begun(frame)
            self._instruments.entered(frame)
            return self._on_line
        hook = self._hooks.get(id(code))
        if hook is not None:
            # A call that is not understood is not observed; it must not disturb the program.
            with contextlib.suppress(Exception):
                hook(frame)
        caller = frame.f_back
        if caller is not None and self._watched.get(caller.f_code.co_filename):
            frame.f_trace_lines = False
            return self._instruments.on_return
        return None

    def _on_line(self, frame: FrameType, event: str, argument: Any) -> TraceFunction:
        if event == "line":
            place = (frame.f_code.co_filename, frame.f_lineno)
            self.seen.lines[place] += 1
            self.seen.staged[place] += self._instruments.is_staging()
            for watch in self._watches.get(place, ()):
                self._look(frame, watch)
        elif event == "return":
            caller = frame.f_back
            if caller is not None and self._watched.get(caller.f_code.co_filename):
                self._instruments.returned(frame, argument)
        elif event == "exception":
            self.seen.broken.add((frame.f_code.co_filename, frame.f_lineno))
            if isinstance(argument[1], Exception):
                self._on_exception(frame, argument[1])
        return self._on_line

    def _look(self, frame: FrameType, watch: Watch) -> None:
        from jitlint.confirm.watch import looks

        seen, number, code = self.seen, watch.number, frame.f_code
        # What cannot be looked at is not seen; it must not disturb the program.
        with contextlib.suppress(Exception):
            seen.tracers[number] += looks.has_tracer(frame, watch.names)
            seen.unknown[number] += looks.are_traced(frame, watch.names)
        if watch.leaks:
            with contextlib.suppress(Exception):
                seen.origins.setdefault(number, set()).update(looks.origins(frame, watch.mentions))
        if watch.keys:
            parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            for name, data in looks.keys_in(frame, watch.names).items():
                own = seen.own_keys if name in parameters and name != "self" else seen.keys
                own.setdefault(number, set()).update(data)
                seen.key_names.setdefault(number, set()).add(name)
        if watch.varies:
            varied = seen.varied.setdefault(number, {})
            for name, value in looks.bound(frame, watch.names).items():
                varied.setdefault(name, set()).add(looks.printed(value))
        if watch.values:
            seen.values.setdefault(number, set()).add(looks.values_of(frame, watch.reads))
        if watch.size and (size := self._instruments.program_size()) is not None:
            key = size[0], self._activations.number(frame)
            seen.sizes.setdefault(number, {}).setdefault(key, []).append(size[1])
        running = seen.around.setdefault(number, set())
        seen.inner.setdefault(number, set()).add((code.co_filename, code.co_firstlineno))
        outer: FrameType | None = frame
        while outer is not None:
            if self.watches(outer.f_code.co_filename):
                running.add((outer.f_code.co_filename, outer.f_code.co_firstlineno))
            outer = outer.f_back

    def _on_exception(self, frame: FrameType, error: Exception) -> None:
        """Note an exception where it enters project code; it is seen again in every frame that it leaves. Where the
        project is the library that refuses something, note it where it leaves that library, too."""
        if isinstance(error, (StopIteration, StopAsyncIteration)) or not self._enters(frame, error):
            return
        self._last_error = error
        if len(self.seen.errors) >= _ERRORS:
            return
        from jitlint.confirm.watch import looks

        places = tuple((spot.path, spot.line) for spot in self.stack(frame))
        code, offset = frame.f_code, frame.f_lasti
        here = [
            watch
            for (path, line), watches in self._watches.items()
            for watch in watches
            if path == code.co_filename and line <= frame.f_lineno <= max(line, watch.last)
        ]
        holds: frozenset[int] = frozenset()
        deleted: frozenset[int] = frozenset()
        with contextlib.suppress(Exception):
            holds = frozenset(w.number for w in here if looks.holds_array(frame, w.names))
            deleted = frozenset(w.number for w in here if looks.holds_deleted(frame, w.reads, w.names))
        columns, operand = columns_of(code, offset), consumed_at(code, offset)
        self.seen.errors.append(
            Raised(class_name(error), str(error)[:2000], places, columns, operand, holds, deleted)
        )

    def _enters(self, frame: FrameType, error: Exception) -> bool:
        again = error is self._last_error
        if again and not self._in_library:
            return False
        library = _library_of(error)
        self._in_library = bool(library) and frame.f_code.co_filename.startswith(library)
        return not (again and self._in_library)

    def forget(self) -> None:
        """Let go of what would keep tracers alive."""
        self._last_error = None

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Record what happens inside the ``with`` block."""
        before = sys.gettrace()
        clocks = any(watch.clocks for watches in self._watches.values() for watch in watches)
        with self._instruments.active(), unobserved_imports(self.watches):
            if clocks:
                sys.setprofile(self._instruments.on_builtin)
            sys.settrace(self.on_call)
            try:
                yield
            finally:
                sys.settrace(before)
                if clocks:
                    sys.setprofile(None)


class _Output(io.StringIO):
    """Keeps the beginning of what is printed, that of top-level lines also by line."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def write(self, text: str) -> int:
        """Like any stream's."""
        if self.tell() < _OUTPUT:
            super().write(text[:_OUTPUT])
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and not self._recorder.watches(frame.f_code.co_filename):
                frame = frame.f_back
            if frame is not None and frame.f_code.co_name == "<module>":
                printed = self._recorder.seen.printed
                printed[frame.f_lineno] = printed.get(frame.f_lineno, "") + text
        return len(text)


def observe(
    run: Callable[[], Any],
    watched: Callable[[str], bool],
    *,
    jit: bool = True,
    lift: bool = True,
    watches: Watches | None = None,
) -> Observation:
    """Run ``run()`` and answer what it did; with ``jit=False`` under `without_jit`, which gets ``lift``.

    Exceptions of the observed code are recorded, `SystemExit` included.
    """
    import jax

    from jitlint.confirm.watch.eager import without_jit

    recorder = Recorder(watched, watches)
    seen = recorder.seen
    output = _Output(recorder)
    # The shortened tracebacks give the line where a frame ended, not where the exception was raised.
    filtering = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "off")
    try:
        with (
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(output),
            contextlib.nullcontext() if jit else without_jit(lift),
        ):
            try:
                with recorder.active():
                    seen.value = run()
                    jax.effects_barrier()
            except (Exception, SystemExit) as error:
                seen.raised = raised(error, recorder.watches)
                _forget_frames(error.__traceback__)
            finally:
                recorder.forget()
    finally:
        jax.config.update("jax_traceback_filtering", filtering)
        seen.output = output.getvalue()
    return seen


def _forget_frames(trace: TracebackType | None) -> None:
    """Frames hold tracers alive, which a later look for leaks would find."""
    if trace is not None:
        traceback.clear_frames(trace)
