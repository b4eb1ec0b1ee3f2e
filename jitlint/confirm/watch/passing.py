"""Go past places where tracing ends, to see what stands behind them (layer: ``confirm``). Runs in the worker only.

At such a place, and nowhere else, a traced value answers what the array in its place answered when the same code ran without
``jit``; an element that cannot be stored is not stored. So the trace takes the way that the program takes, and all other values
stay traced. Which places, and what may be concluded, the caller decides.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from jitlint.confirm.watch.spots import Columns, columns_of

At = tuple[str, Columns]
"""A file, and the columns of what runs there."""

_ASKS = ("__bool__", "__index__", "__int__", "__float__", "__complex__")
_STORES = "__setitem__"


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
            yield
        finally:
            for kind, name, original in kept:
                setattr(kind, name, original)

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
