"""Clocks that are read, and buffers that are written, while work may still be running (layer: ``link``, room ``domains``).

What it does: after the interpretation, goes once more over the functions in which untraced code read a clock, and over
what these call. What it does not: judge how long anything takes. Whatever may wait for a result counts as waiting.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import EarlyWrite, UnsyncedClock
from jitlint.infer.evidence import parameter_evidence
from jitlint.infer.host_calls import place_in_source
from jitlint.infer.places import Place, Step
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.timing import blocks as timing_blocks
from jitlint.link.domains.timing.buffers import Writes
from jitlint.link.domains.timing.meant import is_meant
from jitlint.link.domains.timing.state import DONE, ENTRY, PROFILE, Clocks, Pending, either
from jitlint.link.domains.timing.walk import Walker, run_block
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Key
from jitlint.syntax import ir
from jitlint.syntax.children import below

MAX_DEPTH: Final = 8


def check(m: Machine, writes: Writes) -> None:
    """Record an `UnsyncedClock` for each reading of a clock that comes too early, and an `EarlyWrite` for each such write."""
    if not m.host_calls.clocks and not writes.users:
        return
    engine = _Engine(m, timing_blocks.clocked(m.host_calls.clocks, m.host_calls.callers), writes)
    for name, fn in _measuring(m, engine.clocked, writes):
        if fn is not None:
            engine.summary(fn)
            continue
        info = m.modules[name]
        walker = Walker(m, info, None, engine.summary, clocked=engine.clocked)
        run_block(walker, info.tree.body)
        engine.emit(walker, "<module>")


def _measuring(m: Machine, clocked: frozenset[int], writes: Writes) -> list[tuple[str, FuncInfo | None]]:
    """Who reads a clock, and who lets it be read: by a method, or by a context manager; and who writes into buffers."""
    notes = m.host_calls
    out = dict.fromkeys([*notes.clocks, *writes.users])
    for number in sorted(clocked):
        out.update(dict.fromkeys(notes.callers.get(number, ())))
    for known in notes.managers.values():
        for (_, leave), users in known.items():
            if leave.id in clocked:
                out.update(dict.fromkeys(users))
    return sorted(out, key=place_in_source)


@dataclass(slots=True)
class _Engine:
    m: Machine
    clocked: frozenset[int]
    writes: Writes
    summaries: dict[int, Pending] = field(default_factory=dict)
    said: set[Key] = field(default_factory=set)
    depth: int = 0

    def summary(self, fn: FuncInfo) -> Pending:
        """What a call of a function leaves running: a call, `DONE` when it waits, None when it does nothing."""
        if fn.id in self.summaries:
            return self.summaries[fn.id]
        if self.depth >= MAX_DEPTH:
            return DONE  # not remembered: it may be asked for again from nearer
        self.summaries[fn.id] = DONE
        if fn.node.is_generator or fn.node.is_async:
            return DONE
        self.depth += 1
        walker = Walker(self.m, fn.module, fn, self.summary, clocked=self.clocked)
        walker.state.readings[ENTRY] = None
        walker.state.device |= _arrays(fn)
        if run_block(walker, fn.body):
            walker.exits.append(walker.state)
        self.depth -= 1
        self.emit(walker, fn.qualname)
        self.summaries[fn.id] = _left(walker.exits)
        return self.summaries[fn.id]

    def emit(self, walker: Walker, function: str) -> None:
        """Record what a walk found."""
        self._emit_writes(walker, function)
        info = walker.module
        parts = walker.fn.parts if walker.fn is not None else below(info.tree.body) if walker.found else []
        for (at, since), work in walker.found.items():
            key = (UnsyncedClock, info.name, at)
            if key in self.said:
                continue
            self.said.add(key)
            level = Confidence.CERTAIN if work.direct else Confidence.LIKELY
            if is_meant(function, parts, at):
                level = Confidence.POSSIBLE
            place = Place(info.name, at, function, (), "test" if info.is_test else "jit", level)
            step = Step(work.module, work.at, f"`{work.name}` starts here, and nothing waits for its result")
            self.m.sink.add(
                key, UnsyncedClock(place, also=(step,), callee=work.name, profile=since == PROFILE)
            )

    def _emit_writes(self, walker: Walker, function: str) -> None:
        info = walker.module
        for at, (work, name) in walker.written.items():
            key = (EarlyWrite, info.name, at)
            if (info.name, at) not in self.writes.places or key in self.said:
                continue
            self.said.add(key)
            place = Place(info.name, at, function, (), "jit", Confidence.LIKELY)
            step = Step(
                work.module, work.at, f"`{work.name}` gets `{name}` here, and nothing waits for its result"
            )
            self.m.sink.add(key, EarlyWrite(place, also=(step,), callee=work.name, buffer=name))


def _arrays(fn: FuncInfo) -> set[str]:
    """The parameters that may hold results: those that do not look like switches and numbers."""
    evidence = parameter_evidence(fn)
    out = {p.name for p in fn.node.params if not _is_plain(p.default) and not _names_plain(p.annotation)}
    return {name for name in out if name not in ("self", "cls") and evidence.get(name) != "flag"}


def _is_plain(node: ir.Expr | None) -> bool:
    return type(node) is ir.Const and node.kind in ("bool", "int", "float", "str")


def _names_plain(node: ir.Expr | None) -> bool:
    return type(node) is ir.Name and node.id in ("bool", "int", "float", "str")


def _left(exits: list[Clocks]) -> Pending:
    out: Pending = None
    for i, state in enumerate(exits):
        one = state.readings.get(ENTRY)
        out = one if i == 0 else either(out, one)
    return out
