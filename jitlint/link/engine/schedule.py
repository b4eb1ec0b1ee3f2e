"""In which order things run: what looks at certain functions may be put off, to be run at last (layer: ``link``, room ``engine``).

An editor's user types into one function. What does not reach it need not run again: an analysis that is to be gone on with
many times runs all the rest first, stops, and has what is left before it. What reaches what is known from an analysis
before, and may be wrong by now; so who changes a function asks whether it was looked at already. What it does: remember
who calls whom, and say of everything that starts by itself whether it has to wait. What it does not: run anything.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import UNKNOWN, Value
from jitlint.link.engine.frame import Frame

Calls = Mapping[int, Collection[int]]
"""Functions, and bodies of modules, with those that they run: numbers of functions, and `body_of` for modules."""

_NONE: Final = frozenset[int]()


def body_of(module: int) -> int:
    """What stands for the body of a module. module: which one it is, in their order."""
    return -1 - module


class Schedule:
    """What runs in this pass over a program.

    In the only pass of most analyses this is everything. Otherwise `hold` puts off all that reaches some functions, as far as
    that is known; the next pass runs only that, unless it puts off a part of it again; `release` lets all of it run.
    """

    def __init__(self) -> None:
        self.calls: dict[int, set[int]] | None = None
        """Who runs whom, if somebody wants to know."""
        self._importing: list[int] = []
        self._held = self._waiting = _NONE
        self._due: frozenset[int] | None = None
        self._results: dict[int, Value] = {}

    def hold(self, functions: Iterable[int], calls: Calls) -> None:
        """Put off what reaches these functions, and what that may reach: it may turn out to be called after all."""
        if self._waiting:
            self._due = self._waiting
        self._held = _closure(functions, _reversed(calls))
        self._waiting = _closure(self._held, calls)

    def release(self) -> None:
        """Run what waits."""
        self._due = self._waiting
        self._held = self._waiting = _NONE

    def holds(self, number: int) -> bool:
        """Whether a function, or the body of a module, does not start by itself in this pass."""
        return number in self._held

    @property
    def is_partial(self) -> bool:
        """Whether something is put off."""
        return bool(self._waiting)

    def waits(self, fn: FuncInfo) -> bool:
        """Whether it is not known yet if somebody calls a function."""
        return fn.id in self._waiting

    def passes_over(self, fn: FuncInfo) -> bool:
        """Whether a function that is meant to be traced runs in a later pass, or has run in an earlier one."""
        return fn.id in self._waiting or (self._due is not None and fn.id not in self._due)

    def due(self, functions: Sequence[FuncInfo]) -> list[FuncInfo]:
        """Those of all functions, in the order of their numbers, that are not passed over; others are not even touched, as in a copy
        of a process that costs as much as to change them."""
        if self._due is None and not self._waiting:
            return list(functions)
        numbers = range(len(functions)) if self._due is None else sorted(n for n in self._due if n >= 0)
        return [functions[number] for number in numbers if number not in self._waiting]

    def gave(self, fn: FuncInfo) -> Value:
        """What a function gave that is passed over."""
        return self._results.get(fn.id, UNKNOWN)

    def has_run(self, fn: FuncInfo, result: Value) -> None:
        """A function that is meant to be traced has run: a later pass may ask for what it gave."""
        if self._waiting:
            self._results[fn.id] = result

    def note_call(self, f: Frame, fn: FuncInfo) -> None:
        """A function is called, and somebody wants to know. What starts by itself has no caller."""
        assert self.calls is not None
        if f.fn is not None:
            self.calls.setdefault(f.fn.id, set()).add(fn.id)
        elif self._importing and f.module.state == 1:
            self.calls.setdefault(self._importing[-1], set()).add(fn.id)

    def imports(self, info: ModuleInfo) -> None:
        """A module is asked for; the body of the one that asks for it comes after its own."""
        if self.calls is not None and self._importing:
            self.calls.setdefault(self._importing[-1], set()).add(body_of(info.number))

    def begins(self, info: ModuleInfo) -> None:
        """The body of a module begins."""
        self._importing.append(body_of(info.number))

    def ends(self) -> None:
        """The body that began last has ended."""
        self._importing.pop()


def _closure(start: Iterable[int], edges: Calls) -> frozenset[int]:
    reached = set(start)
    waiting = list(reached)
    while waiting:
        for number in edges.get(waiting.pop(), ()):
            if number not in reached:
                reached.add(number)
                waiting.append(number)
    return frozenset(reached)


def _reversed(edges: Calls) -> dict[int, set[int]]:
    out: dict[int, set[int]] = {}
    for number, others in edges.items():
        for other in others:
            out.setdefault(other, set()).add(number)
    return out
