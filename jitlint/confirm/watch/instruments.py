"""What is read off JAX's own calls while project code runs: traces, keys, indices, clocks (layer: ``confirm``).

JAX's functions are recognised by their code objects when they are entered, and their arguments are read from the
frame. Nothing is wrapped: a wrapper would be another function to JAX and would change what is measured.
What a release of JAX does not have is not observed; it never fails for that.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import importlib
import inspect
import linecache
import sys
import time
import timeit
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Final

import jax
import numpy as np

from jitlint.confirm.watch.drops import OF_A_JITTED_FUNCTION, called_name, is_dropped
from jitlint.confirm.watch.looks import described, named, typed_fields
from jitlint.confirm.watch.spots import DOTTED, is_only_looked_at

if TYPE_CHECKING:
    from jitlint.confirm.watch.observe import Function, Observation
    from jitlint.confirm.watch.spots import Spot

Hook = Callable[[FrameType], None]
Stack = Callable[["FrameType | None"], "tuple[Spot, ...]"]

# Functions of jax.random that take a key but leave it usable.
_KEEP_KEY = frozenset({"fold_in", "key_data", "key_impl", "clone", "wrap_key_data"})
_UPDATES = ("get", "set", "add", "subtract", "multiply", "divide", "power", "min", "max", "apply")
_DATES = frozenset({"now", "utcnow", "today"})
_CLOCKS = ("time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns", "process_time")
# How far an indexing function may be from the project line it works for: the rest is JAX's own indexing.
_INDEXING = ("array.py", "array_methods.py", "indexing.py", "slicing.py")
_NEAR = frozenset({"traceback_util.py", *_INDEXING, "core.py", "pjit.py", "api.py"})
_TRACED = "/jax/core/compile/jaxpr_trace_duration"
_BUILT = "/jax/core/compile/backend_compile_duration"


def code_of(function: Any) -> CodeType | None:
    """The code object behind wrappers, partials and bound methods."""
    for _ in range(20):
        if isinstance(function, functools.partial):
            function = function.func
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "__func__"):
            function = function.__func__
        else:
            break
    code = getattr(function, "__code__", None)
    if code is None:
        code = getattr(inspect.getattr_static(type(function), "__call__", None), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


@functools.cache
def _consumers() -> dict[int, str]:
    """Code objects of jax.random that consume a key, and their names."""
    found = {}
    for name, value in vars(jax.random).items():
        code = code_of(value) if callable(value) and not name.startswith("_") else None
        if code is not None and code.co_varnames[:1] == ("key",) and name not in _KEEP_KEY:
            found[id(code)] = name
    return found


@functools.cache
def _makers_of_keys() -> frozenset[int]:
    codes = [code_of(getattr(jax.random, name, None)) for name in ("key", "PRNGKey")]
    return frozenset(id(code) for code in codes if code is not None)


@functools.cache
def _random_files() -> frozenset[str]:
    codes = [code_of(jax.random.normal), code_of(jax.random.split)]
    return frozenset(code.co_filename for code in codes if code is not None)


def _array_class() -> type:
    """The class of JAX's arrays, without making one: that would start a backend."""
    found: type = getattr(_module("jax._src.array"), "ArrayImpl", jax.Array)
    return found


_PLACES: Final = ("num_segments", "num_classes", "length")
"""Parameters of functions that make a place for each index: how many places there are."""


@functools.cache
def _jitted_class() -> type:
    """The class of what `jax.jit` answers."""
    return type(jax.jit(lambda: None))


@functools.cache
def _hook_names() -> dict[int, str]:
    """The code objects of JAX's functions to look at, and the method of `Instruments` that does."""
    found = dict.fromkeys(_consumers(), "_on_draw")
    indexing, methods = _module("jax._src.numpy.indexing"), _module("jax._src.numpy.array_methods")
    reference = getattr(methods, "_IndexUpdateRef", None)
    table: list[tuple[Any, str]] = [
        (jax.jit, "_on_jit"),
        (jax.block_until_ready, "_on_wait"),
        (getattr(indexing, "rewriting_take", None), "_on_getitem"),
        (getattr(indexing, "_rewriting_take", None), "_on_getitem"),
        (jax.numpy.take, "_on_take"),
        (jax.numpy.take_along_axis, "_on_take_along_axis"),
        (jax.lax.dynamic_index_in_dim, "_on_dynamic_index"),
        (jax.lax.dynamic_slice, "_on_dynamic_slice"),
        (jax.lax.dynamic_update_slice, "_on_dynamic_slice"),
    ]
    table += [(function, "_on_places") for function in (jax.nn.one_hot, jax.numpy.bincount)]
    table += [(getattr(jax.ops, f"segment_{name}"), "_on_places") for name in ("sum", "prod", "max", "min")]
    table += [(getattr(reference, name, None), "_on_update") for name in _UPDATES]
    table += [(getattr(timeit, name, None), "_on_timer") for name in ("timeit", "repeat")]
    table += [(getattr(timeit.Timer, name, None), "_on_timer") for name in ("timeit", "repeat", "autorange")]
    for name in ("_value", "__array__"):
        member = inspect.getattr_static(_array_class(), name, None)
        table.append((getattr(member, "fget", member), "_on_wait"))
    for function, hook in table:
        code = code_of(function)
        if code is not None:
            found[id(code)] = hook
    return found


def prepare() -> None:
    """Find out now what every run needs."""
    _hook_names()
    _random_files()
    _jitted_class()


def concrete(value: Any) -> np.ndarray[Any, Any] | None:
    """The numbers of an array, also below tracers that carry them (vmap, grad); None if there are none."""
    for _ in range(8):
        if isinstance(value, jax.core.Tracer):
            below = "primal" if hasattr(value, "primal") else "val" if hasattr(value, "batch_dim") else ""
            value = getattr(value, below, None)
        elif hasattr(value, "_base_array"):  # a new-style key
            value = value._base_array
    if value is None or isinstance(value, jax.core.Tracer):
        return None
    try:
        return np.asarray(value)
    except Exception:  # not an array, deleted, or not addressable
        return None


class Instruments:
    """Hooks by code object, and what runs when project code is entered or gets a result from a library."""

    def __init__(self, seen: Observation, stack: Stack, watches: Callable[[str], bool]) -> None:
        from jitlint.confirm.watch import observe

        self._data = observe
        self._seen = seen
        self._stack = stack
        self._watches = watches
        self._waited: dict[int, weakref.ref[Any]] = {}
        self._staged: list[Any] = []  # keeps them alive, so that they can be told apart
        self._makers_by_key: dict[bytes, Spot] = {}
        self._makers: dict[Function, tuple[Spot, ...]] = {}
        self._core = _module("jax._src.core")
        partial_eval = _module("jax._src.interpreters.partial_eval")
        self._staging: type = getattr(partial_eval, "DynamicJaxprTrace", type(None))
        self._current = getattr(self._core, "trace_ctx", None)
        self.hooks: dict[int, Hook] = {code: getattr(self, name) for code, name in _hook_names().items()}

    # Project code

    def entered(self, frame: FrameType) -> None:
        """A project function starts: if this is the first one under a new staged trace, JAX traces it."""
        if self._current is None:
            return
        trace, depth, newest = self._current.trace, 0, None
        for _ in range(50):
            if trace is None:
                break
            if isinstance(trace, self._staging):
                depth += 1
                newest = newest if newest is not None else trace
            trace = getattr(trace, "parent_trace", None)
        if newest is None or any(known is newest for known in self._staged):
            return
        self._staged.append(newest)
        function = self._data.Function.of(frame.f_code)
        stack, maker = self._stack(frame.f_back), self._makers.get(function, ())
        shapes, static = described(frame)
        self._seen.traces.append(
            self._data.Trace(function, stack, depth, maker, shapes, static, typed_fields(frame))
        )

    def program_size(self) -> tuple[int, int] | None:
        """The innermost program that JAX is making, and how many equations it has; None outside of all."""
        trace = getattr(self._current, "trace", None)
        for _ in range(50):
            if trace is None or isinstance(trace, self._staging):
                break
            trace = getattr(trace, "parent_trace", None)
        frame = getattr(trace, "frame", None)
        made = getattr(frame, "tracing_eqns", None)
        made = getattr(frame, "eqns", None) if made is None else made
        if made is None:
            return None
        if not any(known is trace for known in self._staged):
            self._staged.append(trace)  # its id must not be given to another one
        return id(trace), len(made)

    def is_staging(self) -> bool:
        """Whether JAX is making a program of what runs now."""
        trace = getattr(self._current, "trace", None)
        for _ in range(50):
            if trace is None or isinstance(trace, self._staging):
                break
            trace = getattr(trace, "parent_trace", None)
        return trace is not None and isinstance(trace, self._staging)

    def on_return(self, frame: FrameType, event: str, argument: Any) -> Any:
        """A library function called by a project line returns: is the array it made thrown away at once?"""
        if event == "return" and self.hooks.get(id(frame.f_code)) == self._on_timer:
            self._tick("clock", frame.f_back)
        if event == "return" and isinstance(argument, (jax.Array, jax.core.Tracer)):
            caller = frame.f_back
            self._seen.made += 1
            if caller is not None and id(frame.f_code) in _makers_of_keys():
                data = concrete(argument)
                stack = self._stack(caller)
                if data is not None and stack:
                    self._makers_by_key[data.tobytes()] = stack[0]
        if event == "return":
            self.returned(frame, argument)
        return self.on_return

    def returned(self, frame: FrameType, argument: Any) -> None:
        """What a project line has called returns: is the array that it made thrown away at once?"""
        if argument is not None and is_dropped(frame, argument):
            name = called_name(frame)
            if name != OF_A_JITTED_FUNCTION:  # what is compiled answers after it
                self._seen.dropped.append(self._data.Dropped(name, self._stack(frame.f_back)[0]))

    def _is_batching(self) -> bool:
        trace = getattr(self._current, "trace", None)
        return type(trace).__name__ == "BatchTrace"

    # jit, keys

    def _on_jit(self, frame: FrameType) -> None:
        function = frame.f_locals.get("fun")
        code = code_of(function)
        stack = self._stack(frame.f_back)
        if not stack or code is None:
            return
        name = getattr(function, "__name__", code.co_name)
        jitted = self._data.Function.of(code)
        self._makers[jitted] = stack
        self._seen.jits.append(self._data.Jitted(jitted, name, stack))

    def _on_draw(self, frame: FrameType) -> None:
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename.endswith("traceback_util.py"):
            caller = caller.f_back
        if caller is None or caller.f_code.co_filename in _random_files():
            return  # one function of jax.random on behalf of another
        key = frame.f_locals.get("key")
        data = concrete(key)
        stack = self._stack(caller)
        batched = self._is_batching() and not isinstance(key, jax.core.Tracer)
        if data is None or not stack or is_only_looked_at(caller):
            return
        name = _consumers()[id(frame.f_code)]
        for row in np.reshape(data, (-1, data.shape[-1] if data.ndim else 1)):
            bits = row.tobytes()
            self._seen.draws.append(
                self._data.Draw(name, bits, stack, self._makers_by_key.get(bits), batched)
            )

    # Indices

    def _check_index(self, frame: FrameType, array: Any, index: Any) -> None:
        """Ask NumPy about the index, with an array of the same shape."""
        caller = frame.f_back
        while caller is not None and caller.f_code.co_filename.rpartition("/")[2] in _NEAR:
            caller = caller.f_back
        stack = self._stack(caller)
        if caller is None or not stack or stack[0][:2] != (caller.f_code.co_filename, caller.f_lineno):
            return
        try:
            np.broadcast_to(np.False_, np.shape(array))[_plain(index)]
        except IndexError as error:
            self._seen.out_of_bounds.append(self._data.OutOfBounds(str(error), stack))
        except Exception:  # NumPy refuses for another reason, or the index is traced
            return

    def _on_getitem(self, frame: FrameType) -> None:
        self._check_index(frame, frame.f_locals.get("arr"), frame.f_locals.get("idx"))

    def _on_update(self, frame: FrameType) -> None:
        reference = frame.f_locals.get("self")
        self._check_index(frame, getattr(reference, "array", None), getattr(reference, "index", None))

    def _on_take(self, frame: FrameType) -> None:
        array, axis = frame.f_locals["a"], frame.f_locals.get("axis")
        shape = np.shape(array) if axis is not None else (int(np.size(array)),)
        index = (slice(None),) * (axis % len(shape) if axis else 0) + (frame.f_locals.get("indices"),)
        self._check_index(frame, np.broadcast_to(np.False_, shape), index)

    def _on_take_along_axis(self, frame: FrameType) -> None:
        array, axis = frame.f_locals["arr"], frame.f_locals.get("axis")
        size = np.shape(array)[axis] if isinstance(axis, int) else int(np.size(array))
        self._check_index(frame, np.broadcast_to(np.False_, (size,)), frame.f_locals.get("indices"))

    def _on_dynamic_index(self, frame: FrameType) -> None:
        size = np.shape(frame.f_locals["operand"])[frame.f_locals.get("axis", 0)]
        self._check_index(frame, np.broadcast_to(np.False_, (size,)), frame.f_locals.get("index"))

    def _on_dynamic_slice(self, frame: FrameType) -> None:
        given = frame.f_locals
        starts, shape = given.get("start_indices"), np.shape(given["operand"])
        sizes = given["slice_sizes"] if "slice_sizes" in given else np.shape(given["update"])
        for size, start, length in zip(shape, starts or (), sizes or ()):
            known = concrete(start) if length else None
            for first in np.unique([] if known is None else known):  # several under `vmap`
                last = int(first) + length - 1 + (size if first < 0 else 0)
                self._check_index(frame, np.broadcast_to(np.False_, (size,)), last)

    def _on_places(self, frame: FrameType) -> None:
        given = frame.f_locals
        indices = given.get("segment_ids", given.get("x"))
        places = next((given[name] for name in _PLACES if name in given), None)
        if isinstance(places, int):
            self._check_index(frame, np.broadcast_to(np.False_, (places,)), indices)

    # Clocks and waits

    def _tick(self, kind: str, frame: FrameType | None, waited: Any = None) -> None:
        """Note a reading, or a wait for ``waited``. What was begun before a wait is done when that is over."""
        stack = self._stack(frame)
        if not stack:
            return
        held = self._held(frame)
        if kind == "wait":
            for array in [*held.values(), *jax.tree.leaves(waited)]:
                with contextlib.suppress(TypeError):
                    self._waited[id(array)] = weakref.ref(array)
            self._seen.ticks.append(self._data.Tick(kind, stack))
            return
        pending = {name: id(array) for name, array in held.items() if not self._was_waited_for(array)}
        known = frozenset(id(array) for array in held.values())
        lines = {place: count for place, count in self._seen.lines.items() if place[0] == stack[0].path}
        made = self._seen.made + len(self._seen.compiled)
        compiled = self._compiled_names(frame)
        self._seen.ticks.append(self._data.Tick(kind, stack, pending, known, lines, made, compiled))

    def _compiled_names(self, frame: FrameType | None) -> frozenset[str]:
        """The names by which the lines that ran call jitted functions, also those of modules: what is compiled already
        runs no Python that could be seen."""
        while frame is not None and not self._watches(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return frozenset()
        known = {**frame.f_globals, **frame.f_locals}
        places = [place for place in self._seen.lines if place[0] == frame.f_code.co_filename]
        names = {name for place in places for name in DOTTED.findall(linecache.getline(*place))}
        return frozenset(name for name in names if isinstance(named(name, known), _jitted_class()))

    def _was_waited_for(self, array: Any) -> bool:
        reference = self._waited.get(id(array))
        return reference is not None and reference() is array

    def _held(self, frame: FrameType | None) -> dict[str, Any]:
        """The arrays that the variables of the innermost project function hold."""
        while frame is not None and not self._watches(frame.f_code.co_filename):
            frame = frame.f_back
        variables = frame.f_locals if frame is not None else {}
        return {name: value for name, value in variables.items() if isinstance(value, _array_class())}

    def _on_wait(self, frame: FrameType) -> None:
        names = frame.f_code.co_varnames
        self._tick("wait", frame.f_back, frame.f_locals.get(names[0]) if names else None)

    def _on_timer(self, frame: FrameType) -> None:
        if frame.f_back is not None and self._watches(frame.f_back.f_code.co_filename):
            self._tick("clock", frame.f_back)

    def on_builtin(self, frame: FrameType, event: str, argument: Any) -> None:
        """The function for `sys.setprofile`: the clocks of classes that cannot be changed."""
        if event == "c_call" and argument.__name__ in _DATES:
            owner = argument.__self__
            if isinstance(owner, type) and issubclass(owner, datetime.date):
                self._tick("clock", frame)

    def _ticking(self, array: type, function: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def ticking(*args: Any, **kwargs: Any) -> Any:
            caller = sys._getframe(1)
            # JAX reads clocks for itself: only the project's own readings count.
            if kind == "wait":
                counts = bool(args) and isinstance(args[0], array)
            else:
                counts = self._watches(caller.f_code.co_filename)
            if counts:
                self._tick(kind, caller, args[0] if kind == "wait" else None)
            return function(*args, **kwargs)

        ticking.__name__ = function.__name__
        return ticking

    def _on_event(self, event: str, duration_secs: float, **details: Any) -> None:
        if event == _TRACED:
            stack = self._stack(sys._getframe(1))
            if stack:
                self._seen.compiled.append(self._data.Compiled(str(details.get("fun_name", "")), stack))
        elif event == _BUILT:
            # It says `jit(f)`.
            self._seen.built[str(details.get("fun_name", "")).rpartition("(")[2].rstrip(")")] += 1

    @contextlib.contextmanager
    def active(self) -> Iterator[None]:
        """Listen to JAX's events, and to clocks and waits that are not Python functions."""
        array = _array_class()
        replaced: list[tuple[Any, str, Any]] = []
        try:
            for owner, names, kind in (
                (time, _CLOCKS, "clock"),
                (jax.profiler, ("start_trace", "stop_trace"), "clock"),
                (array, ("block_until_ready",), "wait"),
                (np, ("asarray", "array"), "wait"),
            ):
                for name in names:
                    original = getattr(owner, name)
                    setattr(owner, name, self._ticking(array, original, kind))
                    replaced.append((owner, name, original))
            jax.monitoring.register_event_duration_secs_listener(self._on_event)
            yield
        finally:
            _stop_listening(self._on_event)
            for owner, name, original in replaced:
                setattr(owner, name, original)


def _stop_listening(listener: Callable[..., None]) -> None:
    for module, name in (
        ("jax.monitoring", "unregister_event_duration_listener"),
        ("jax._src.monitoring", "_unregister_event_duration_listener_by_callback"),
    ):
        remove = getattr(_module(module), name, None)
        if remove is not None:
            with contextlib.suppress(ValueError, AssertionError):  # it was never registered
                remove(listener)
            return


def _plain(index: Any) -> Any:
    """An index that NumPy understands. Raises TypeError for one whose numbers are not known."""
    if isinstance(index, tuple):
        return tuple(_plain(item) for item in index)
    if isinstance(index, slice):
        return slice(*(None if part is None else int(part) for part in (index.start, index.stop, index.step)))
    if index is None or index is Ellipsis or isinstance(index, (int, np.ndarray)):
        return index
    known = concrete(index)
    if known is None:
        raise TypeError("the index is traced")
    return known
