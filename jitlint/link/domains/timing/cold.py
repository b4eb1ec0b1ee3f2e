"""Calls that are timed and that compile first (layer: ``link``, room ``domains``).

The first call of a jitted function traces and compiles, which takes far longer than to run it. What it does: finds benchmarks, the
same call many times between two readings of a clock, or one beside a timed rival, whose function nothing has called before. What it
does not: speak of work that goes on from turn to turn, which takes as long as it takes, or of who says that the first call is meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ColdClock
from jitlint.infer.host_calls import place_in_source
from jitlint.infer.places import Place, Step
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Mod
from jitlint.link.domains.timing.meant import is_meant, words_of
from jitlint.link.domains.timing.walk import Walker
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, changed_in, code_of, last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below


class _Timed(NamedTuple):
    """What stands between two readings of a clock. start: where the first one is; end: the second one. since: the variable with
    the first."""

    start: int
    end: int
    since: str
    statements: Sequence[ir.Node]


class _Cold(NamedTuple):
    """A call of a jitted function that nothing has called before. again: it is the same in each turn of a loop."""

    call: ir.Call
    name: str
    again: bool


def check(m: Machine) -> None:
    """Record a `ColdClock` for each such benchmark."""
    for name, fn in sorted(m.host_calls.clocks, key=place_in_source):
        info = m.modules[name]
        reader = _Reader(m, info, fn)
        timed = list(reader.timed(fn.body if fn is not None else info.tree.body))
        for one in timed:
            cold = next(reader.cold(one), None)
            if cold is None or reader.is_meant(one) or not (cold.again or _has_rival(cold, one, timed)):
                continue
            place = Place(
                name, one.end, fn.qualname if fn is not None else "<module>", (), "jit", Confidence.LIKELY
            )
            step = Step(
                name,
                cold.call.at,
                f"`{cold.name}` is called here for the first time, and compiled before it runs",
            )
            m.sink.add((ColdClock, name, one.end), ColdClock(place, also=(step,), callee=cold.name))


class _Reader:
    """One function, or the body of a module, that reads a clock."""

    def __init__(self, m: Machine, info: ModuleInfo, fn: FuncInfo | None) -> None:
        self.m, self.info, self.fn = m, info, fn
        self.parts = code_of(info, fn)
        self._statements = [
            part for part in self.parts if isinstance(part, (ir.Assign, ir.ExprStmt, ir.Return))
        ]
        self._dotted = Walker(m, info, fn, lambda _: None).dotted

    def timed(self, block: Sequence[ir.Node]) -> Iterator[_Timed]:
        """What is timed in a block, and not in each turn of a loop."""
        for number, node in enumerate(block):
            start = self._clock(node)
            since = "".join(bound_by(node)[:1]) if type(node) is ir.Assign else ""
            if start is not None and any(_takes_off(part, since) for part in self.parts):
                rest = block[number + 1 :]
                ends = ((at, i) for i, other in enumerate(rest) if (at := self._clock(other)) is not None)
                yield from (_Timed(start, at, since, rest[:i]) for at, i in itertools.islice(ends, 1))
            for name in ("body", "orelse") if isinstance(node, (ir.If, ir.With, ir.Try)) else ():
                yield from self.timed(getattr(node, name, ()))

    def _clock(self, node: ir.Node) -> int | None:
        """Where a statement reads a clock."""
        clocks = lexicon().timing.clocks
        calls = (part for part in below(node) if type(part) is ir.Call)
        return next((call.at for call in calls if self._dotted(call.func) in clocks), None)

    def is_meant(self, one: _Timed) -> bool:
        """Whether the code says that compiling is timed as well."""
        results = [
            node for node in self._statements if any(_takes_off(part, one.since) for part in below(node))
        ]
        named = {name for node in results for name in bound_by(node)}
        told = [node for node in self._statements if any(last_name(part) in named for part in below(node))]
        said = {word for node in (*one.statements, *results, *told) for word in words_of(node)}
        function = self.fn.qualname if self.fn is not None else ""
        first = not lexicon().timing.first.isdisjoint(said)
        return first or is_meant(function, self.parts, one.end)

    def cold(self, one: _Timed) -> Iterator[_Cold]:
        """The calls in it that compile."""
        for statement in one.statements:
            loop = statement if type(statement) is ir.For else None
            if isinstance(statement, (ir.While, ir.If, ir.Try, ir.With)) or (loop and not self._counts(loop)):
                continue
            changing = changed_in(loop) if loop is not None else set()
            for part in below(statement):
                if (
                    type(part) is ir.Call
                    and type(part.func) is ir.Name
                    and self._is_cold(part, part.func, one)
                ):
                    mentioned = {p.id for p in below([a.value for a in part.args]) if type(p) is ir.Name}
                    if mentioned.isdisjoint(changing):
                        yield _Cold(part, part.func.id, loop is not None)

    def _counts(self, loop: ir.For) -> bool:
        return type(loop.iter) is ir.Call and self._dotted(loop.iter.func) == "builtins.range"

    def _is_cold(self, call: ir.Call, name: ir.Name, one: _Timed) -> bool:
        """Whether a jitted function is called that is made here, and that nothing mentions before."""
        noted = self.m.host_calls.calls.get((self.info.name, call.at))
        if (
            noted is None
            or not (noted.jitted and noted.works)
            or noted.functions
            or noted.others
            or noted.fills
        ):
            return False
        local = self.fn is not None and name.id in self.fn.node.local_names
        if not self._is_made(name.id, local) or any(at < one.start for at in self._mentions(name.id)):
            return False
        return local or not self._is_elsewhere(name.id)

    def _is_made(self, name: str, local: bool) -> bool:
        """Whether a variable is written here, or in the module, and has not been compiled by hand."""
        code = self.parts if local else self.info.tree.body
        made = [node for node in code if _makes(node, name)]
        return bool(made) and not any(type(node) is ir.Assign and _is_compiled(node.value) for node in made)

    def _mentions(self, name: str) -> Iterator[int]:
        """Where the function, or the body of the module, reads a variable."""
        targets = {part.at for node in self.parts if type(node) is ir.Assign for part in below(node.targets)}
        for part in self.parts:
            if type(part) is ir.Name and part.id == name and part.at not in targets:
                yield part.at

    def _is_elsewhere(self, name: str) -> bool:
        """Whether other code mentions a variable of the module."""
        others = [fn.parts for fn in self.info.functions if fn is not self.fn]
        if self.fn is not None:
            others.append(below([node for node in self.info.tree.body if name not in bound_by(node)]))
        if any(type(part) is ir.Name and part.id == name for parts in others for part in parts):
            return True
        return any(self._has(info, name) for info in self.m.modules.values())

    def _has(self, info: ModuleInfo, name: str) -> bool:
        """Whether another module has imported the variable, or the module that it is in."""
        known = info.scope.vars
        module = any(type(value) is Mod and value.info is self.info for value in known.values())
        return info is not self.info and (name in known or module)


def _makes(node: ir.Node, name: str) -> bool:
    return node.name == name if type(node) is ir.FuncDef else name in bound_by(node)


def _takes_off(node: ir.Node, since: str) -> bool:
    """Whether it is the time since a reading."""
    return type(node) is ir.BinOp and node.op == "-" and bool(since) and last_name(node.right) == since


def _is_compiled(node: ir.Node) -> bool:
    """``jitted.lower(x).compile()``."""
    return type(node) is ir.Call and last_name(node.func) == "compile"


def _has_rival(cold: _Cold, one: _Timed, timed: Sequence[_Timed]) -> bool:
    """Whether something else is timed with the same data, and this function just once."""
    given = {part.id for part in below([arg.value for arg in cold.call.args]) if type(part) is ir.Name}
    others = [other for other in timed if other is not one]
    calls = [part for other in others for part in below(list(other.statements)) if type(part) is ir.Call]
    if any(last_name(call.func) == cold.name for call in calls):
        return False
    return any(
        type(part) is ir.Name and part.id in given
        for call in calls
        for part in below([arg.value for arg in call.args])
    )
