"""Buffers that are read after they were donated (layer: ``link``, room ``domains``).

What it does: after the interpretation, goes once more over the functions in which a call gives arguments away, over
their callers, and over classes whose methods leave a donated attribute behind. What it does not: look at traced
code, where a donation means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DonatedRead
from jitlint.infer.host_calls import place_in_source
from jitlint.infer.places import Place, Step
from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.values import Func
from jitlint.link.domains.donation.state import Kill, State, join_all
from jitlint.link.domains.donation.walk import run_block, start
from jitlint.link.domains.donation.walker import Known, Summary, Walker, initial
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Key
from jitlint.link.tables.ir_walk import nodes
from jitlint.link.tables.storing import stored
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

MAX_DEPTH: Final = 12


def check(m: Machine, known: Known) -> None:
    """Record a `DonatedRead` for each read of a buffer that is certainly gone."""
    if not m.host_calls.users:
        return
    engine = _Engine(m, known)
    queue = sorted(m.host_calls.users, key=place_in_source, reverse=True)
    seen = set(queue)
    while queue:
        name, fn = queue.pop()
        if fn is None:
            engine.module_body(m.modules[name])
            continue
        summary = engine.summary(fn)
        if summary is None or not (summary.kills or any(summary.writes.values())):
            continue
        for caller in sorted(m.host_calls.callers.get(fn.id, ()), key=place_in_source):
            if caller not in seen:
                seen.add(caller)
                queue.append(caller)
        engine.left_behind(fn, summary)


@dataclass(slots=True)
class _Engine:
    m: Machine
    known: Known
    summaries: dict[int, Summary | None] = field(default_factory=dict)
    said: set[Key] = field(default_factory=set)
    depth: int = 0

    def summary(self, fn: FuncInfo) -> Summary | None:
        """What a function does to its arguments; None when that is not known (recursion, generators)."""
        if fn.id in self.summaries:
            return self.summaries[fn.id]
        if self.depth >= MAX_DEPTH:
            return None  # not remembered: it may be asked for again from nearer
        self.summaries[fn.id] = None
        if fn.node.is_generator or fn.node.is_async:
            return None
        self.depth += 1
        walker = Walker(self.m, fn.module, fn, self.summary, self.known)
        start(walker)
        if run_block(walker, fn.body):
            walker.exits.append(walker.state)
        self.depth -= 1
        self.emit(walker, fn.qualname)
        out = _summarised(walker, join_all(walker.exits))
        self.summaries[fn.id] = out
        return out

    def module_body(self, info: ModuleInfo) -> None:
        """Go over the statements of a module."""
        walker = Walker(self.m, info, None, self.summary, self.known)
        start(walker)
        run_block(walker, info.tree.body)
        self.emit(walker, "<module>")

    def emit(self, walker: Walker, function: str) -> None:
        """Record what a walk found."""
        for (module, at), (kill, form) in walker.found.items():
            self.record(module, at, function if module == walker.module.name else "", kill, form)

    def record(self, module: str, at: int, function: str, kill: Kill, form: str) -> None:
        """Record one read of a dead buffer."""
        key = (DonatedRead, module, at)
        if key in self.said:
            return
        self.said.add(key)
        info = self.m.modules[module]
        ground = "test" if info.is_test else "jit"
        level = Confidence.CERTAIN if kill.array and not kill.kept else Confidence.LIKELY
        form = "kept" if kill.kept else form
        place = Place(module, at, function, (), ground, level)
        name = f"`{kill.name}`" if kill.name else "an argument"
        told = (
            ()
            if form in ("again", "twice", "inside")
            else (Step(kill.module, kill.at, f"{name} is donated here"),)
        )
        self.m.sink.add(key, DonatedRead(place, also=told, name=kill.name, callee=kill.callee, form=form))

    def left_behind(self, fn: FuncInfo, summary: Summary) -> None:
        """An attribute that a method leaves donated is read by other methods of the class."""
        owner = fn.values[0].owner if fn.values else None
        if owner is None or not fn.node.params or fn.name in lexicon().buffers.making:
            return
        gone = self._gone(fn, summary)
        if not gone:
            return
        for method in self.methods(owner):
            if method is fn or method.name in lexicon().buffers.making:
                continue
            reads = self.summary(method)
            if reads is None or not method.node.params:
                continue
            self_name = method.first
            for key, kill in gone.items():
                at = reads.uses.get(("s", ("v", self_name), key))
                if at is not None:
                    self.record(method.module.name, at, method.qualname, kill, "method")

    def _gone(self, fn: FuncInfo, summary: Summary) -> dict[str, Kill]:
        """The attributes of its object that a method leaves donated, and nobody assigns again."""
        this = ("v", fn.first)
        gone: dict[str, Kill] = {}
        for term, kill in summary.kills.items():
            if term[0] == "s" and term[1] == this and (this, term[2]) not in summary.writes:
                gone[term[2]] = kill
        gone |= {k: kill for (o, k), kill in summary.writes.items() if o == this and kill is not None}
        return {key: kill for key, kill in gone.items() if not self.rebound(fn, key.lstrip("."))}

    def methods(self, owner: ClassInfo) -> list[FuncInfo]:
        """The methods of a class, its bases and its subclasses."""
        family = [info for info in self.m.classes if owner in mro(info) or info in mro(owner)]
        found = [v.fn for info in family for v in info.namespace.values() if type(v) is Func]
        return list(dict.fromkeys(found))

    def rebound(self, fn: FuncInfo, name: str) -> bool:
        """Whether any other code than constructors and the method itself stores an attribute of this name."""
        if any(_stores(info.tree.body, name) for info in self.m.modules.values()):
            return True
        return any(
            other is not fn and other.name not in lexicon().buffers.making and _stores(other.body, name)
            for other in self.m.functions
        )


def _stores(body: Sequence[ir.Node], name: str) -> bool:
    return any(target.name == name for node in nodes(body) for target in stored(node))


def _summarised(walker: Walker, end: State | None) -> Summary:
    if end is None:
        return Summary(uses=walker.uses)
    kills = {term: kill for term, kill in end.dead.items() if initial(term)}
    writes: dict[Any, Kill | None] = {}
    for (owner, key), value in end.heap.items():
        if initial(owner):
            writes[owner, key] = end.killed(value) if key != "*" else None
    return Summary(kills, writes, walker.uses)
