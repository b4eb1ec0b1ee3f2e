"""Go past places where tracing ends, to see what stands behind them (layer: ``confirm``). Runs in the worker only.

At such a place, and nowhere else, a traced value answers what the array in its place answered when the same code ran without
``jit``; an element that cannot be stored is not stored; a loop whose body answers another carry than it gets answers what it began with. So the trace takes the way that the program takes, and all other values
stay traced. Which places, and what may be concluded, the caller decides.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from jitlint.confirm.watch.spots import Columns, columns_of

At = tuple[str, Columns]
"""A file, and the columns of what runs there."""

_ASKS = ("__bool__", "__index__", "__int__", "__float__", "__complex__")
_STORES = "__setitem__"
_LOOPS = {"fori_loop": (3, "init_val"), "while_loop": (2, "init_val")}
"""Loops, and which of their arguments is the carry that they begin with."""


class Passing:
    """places: where to go past. answers: what arrays answered there without ``jit``, in their order, by the question.

    watched: whether a file is one of the project's.
    """

    def __init__(self, watched: Callable[[str], bool]) -> None:
        self.places: set[At] = set()
        self._watched = watched
        self._answers: dict[tuple[At, str], list[object]] = defaultdict(list)
        self._given: Counter[tuple[At, str]] = Counter()

    @contextlib.contextmanager
    def active(self, jit: bool) -> Iterator[None]:
        """Inside the block: with ``jit`` answers are given, without they are learnt anew."""
        if not self.places:
            yield
            return
        import jax
        from jax._src.array import ArrayImpl

        self._given.clear()
        if not jit:
            self._answers.clear()
        kept = [
            (kind, name, getattr(kind, name))
            for kind in (jax.core.Tracer, ArrayImpl)
            for name in (*_ASKS, _STORES)
        ]
        for kind, name, original in kept:
            wrap = (
                self._storing if name == _STORES else self._learning if kind is ArrayImpl else self._answering
            )
            if kind is jax.core.Tracer or name == _STORES or not jit:
                setattr(kind, name, wrap(name, original))
        try:
            with self._loops():
                yield
        finally:
            for kind, name, original in kept:
                setattr(kind, name, original)

    @contextlib.contextmanager
    def _loops(self) -> Iterator[None]:
        """Inside the block, loops at the places answer the carry that they begin with, where they would be refused."""
        import jax

        kept = [
            (holder, name, loop, self._looping(loop, *where))
            for loop, where in ((getattr(jax.lax, known), where) for known, where in _LOOPS.items())
            for holder, name in self._holders(loop)
        ]
        try:
            for holder, name, _, passing in kept:
                setattr(holder, name, passing)
            yield
        finally:
            for holder, name, loop, _ in kept:
                setattr(holder, name, loop)

    def _holders(self, function: Callable[..., Any]) -> list[tuple[Any, str]]:
        """The modules that hold a function of JAX's, and the names by which the project's hold it."""
        import jax

        found: list[tuple[Any, str]] = [(jax.lax, function.__name__)]
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(file, str) and self._watched(file):
                found += [(module, name) for name, value in list(vars(module).items()) if value is function]
        return found

    def _looping(self, loop: Callable[..., Any], place: int, name: str) -> Callable[..., Any]:
        import jax

        @functools.wraps(loop)
        def run(*arguments: Any, **more: Any) -> Any:
            at = self._place()
            if at is None:
                return loop(*arguments, **more)
            begin = arguments[place] if place < len(arguments) else more.get(name)
            try:
                end = loop(*arguments, **more)
            except TypeError:
                return begin
            return end if jax.tree.structure(end) == jax.tree.structure(begin) else begin

        return run

    def _learning(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def ask(array: Any) -> Any:
            answer = original(array)
            at = self._place()
            if at is not None:
                self._answers[at, name].append(answer)
            return answer

        return ask

    def _answering(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def ask(tracer: Any) -> Any:
            try:
                return original(tracer)
            except Exception:
                at = self._place()
                known = self._answers.get((at, name), []) if at is not None else []
                number = self._given[at, name] if at is not None else 0
                if at is None or number >= len(known):
                    raise
                self._given[at, name] += 1
                return known[number]

        return ask

    def _storing(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def store(array: Any, *args: Any) -> None:
            if self._place() is None:
                original(array, *args)

        return store

    def _place(self) -> At | None:
        """Where the project asks, if that is a place to go past."""
        frame = sys._getframe(2)
        while frame is not None and not self._watched(frame.f_code.co_filename):
            outer = frame.f_back
            if outer is None:
                return None
            frame = outer
        columns = columns_of(frame.f_code, frame.f_lasti)
        at = (frame.f_code.co_filename, columns) if columns is not None else None
        return at if at in self.places else None
