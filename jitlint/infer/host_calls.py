"""What is remembered of the calls in untraced code (layer: ``infer``); `jitlint.link.core.host_calls` fills it."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Xform

Users = dict[tuple[str, FuncInfo | None], None]
"""Functions, or bodies of modules, in the order in which they were met: sets of objects have another one in every run."""


@dataclass(slots=True)
class HostCall:
    """What one call expression reaches, over all contexts in which it was seen.

    jitted, functions, others: how it was reached. works: whether something that is jitted computes anything.
    donated: position of an argument, counted as the callee counts, or its keyword to whether the argument is certainly a
    single array; only what every call gives away.
    shift: arguments that the callee gets before those that are written (a receiver). target: of the donating function.
    fills: what is computed may be in the objects that were given. compiled: what is called, where that is jitted and the same
    application in every context.
    """

    jitted: bool = False
    works: bool = False
    functions: dict[FuncInfo, None] = field(default_factory=dict)
    others: bool = False
    donated: dict[int | str, bool] | None = None
    shift: int = 0
    target: str = ""
    fills: bool = False
    compiled: Xform | None = None

    def note_jitted(self, compiled: Xform | None, given: dict[int | str, bool]) -> None:
        """Something that is jitted is called, and given these arguments for good."""
        known = self.compiled
        alike = known is not None and compiled is not None and known.site == compiled.site
        same = alike or not self.jitted
        self.compiled = compiled if same else None
        old = self.donated
        self.donated = given if old is None else {k: v and old[k] for k, v in given.items() if k in old}
        self.jitted = True

    def add(self, other: HostCall) -> None:
        """The same expression in other contexts."""
        if other.jitted:
            self.note_jitted(other.compiled, other.donated or {})
        self.works, self.others, self.fills = (
            self.works or other.works,
            self.others or other.others,
            self.fills or other.fills,
        )
        self.functions.update(other.functions)
        self.shift, self.target = other.shift, other.target or self.target

    @property
    def only(self) -> Xform | None:
        """What is called for certain: one application of a transform, and nothing else."""
        return None if self.functions or self.others else self.compiled


@dataclass(slots=True)
class HostCalls:
    """All notes. root: the function that runs with what its signature says, without a caller; alone: what was seen then, which
    says nothing where the program's own calls say what is reached.

    users: functions (None: the body of a module) in which a call gives arguments away.

    callers: who calls a function of the project, by the function's number. clocks: functions that read a clock.
    drawn: the names that a body takes out of iterators.
    managers: what ``with`` runs before and after its block, by module and origin of the context manager; with its users.
    """

    calls: dict[tuple[str, int], HostCall] = field(default_factory=dict)
    root: FuncInfo | None = None
    alone: dict[FuncInfo, dict[tuple[str, int], HostCall]] = field(default_factory=dict)
    users: Users = field(default_factory=dict)
    callers: dict[int, Users] = field(default_factory=dict)
    clocks: Users = field(default_factory=dict)
    drawn: dict[tuple[str, FuncInfo | None], frozenset[str]] = field(default_factory=dict)
    managers: dict[tuple[str, int], dict[tuple[FuncInfo | None, FuncInfo], Users]] = field(
        default_factory=dict
    )

    def at(self, place: tuple[str, int]) -> HostCall:
        """The note to be written about a call expression now."""
        calls = self.calls if self.root is None else self.alone.setdefault(self.root, {})
        return calls.setdefault(place, HostCall())

    def settle(self) -> None:
        """Everything has run: it is known which functions the program itself calls."""
        for root, calls in self.alone.items():
            if not root.reached:
                self._add(calls)
        told = frozenset(self.calls)
        for root, calls in self.alone.items():
            if root.reached:
                self._add({place: call for place, call in calls.items() if place not in told})
        self.alone.clear()

    def _add(self, calls: dict[tuple[str, int], HostCall]) -> None:
        for place, call in calls.items():
            self.calls.setdefault(place, HostCall()).add(call)


def place_in_source(user: tuple[str, FuncInfo | None]) -> tuple[str, int]:
    """By which functions are put into an order that says nothing of who came first; bodies of modules come before."""
    name, fn = user
    return name, -1 if fn is None else fn.id
