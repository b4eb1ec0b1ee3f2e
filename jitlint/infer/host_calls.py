"""What is remembered of the calls in untraced code (layer: ``infer``); `jitlint.link.core.host_calls` fills it."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.infer.program import FuncInfo

Users = dict[tuple[str, FuncInfo | None], None]
"""Functions, or bodies of modules, in the order in which they were met: sets of objects have another one in every run."""


@dataclass(slots=True)
class HostCall:
    """What one call expression reaches, over all contexts in which it was seen.

    jitted, functions, others: how it was reached. works: whether something that is jitted computes anything.
    donated: position of an argument, counted as the callee counts, or its keyword to whether the argument is certainly a
    single array; only what every call gives away.
    shift: arguments that the callee gets before those that are written (a receiver). target: of the donating function.
    fills: what is computed may be in the objects that were given.
    """

    jitted: bool = False
    works: bool = False
    functions: dict[FuncInfo, None] = field(default_factory=dict)
    others: bool = False
    donated: dict[int | str, bool] | None = None
    shift: int = 0
    target: str = ""
    fills: bool = False


@dataclass(slots=True)
class HostCalls:
    """All notes. users: functions (None: the body of a module) in which a call gives arguments away.

    callers: who calls a function of the project, by the function's number. clocks: functions that read a clock.
    drawn: the names that a body takes out of iterators.
    managers: what ``with`` runs before and after its block, by module and origin of the context manager; with its users.
    """

    calls: dict[tuple[str, int], HostCall] = field(default_factory=dict)
    users: Users = field(default_factory=dict)
    callers: dict[int, Users] = field(default_factory=dict)
    clocks: Users = field(default_factory=dict)
    drawn: dict[tuple[str, FuncInfo | None], frozenset[str]] = field(default_factory=dict)
    managers: dict[tuple[str, int], dict[tuple[FuncInfo | None, FuncInfo], Users]] = field(
        default_factory=dict
    )


def place_in_source(user: tuple[str, FuncInfo | None]) -> tuple[str, int]:
    """By which functions are put into an order that says nothing of who came first; bodies of modules come before."""
    name, fn = user
    return name, -1 if fn is None else fn.id
