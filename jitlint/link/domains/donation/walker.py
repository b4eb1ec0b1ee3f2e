"""One run over a function for donations: what it knows and what it found (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Descr, Ext
from jitlint.link.domains.donation.state import Kill, State, Term, root
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.builtin_names import BUILTINS
from jitlint.syntax import ir

TURNS: Final = 2
"""How often a loop is run: what the first turn gives away, the second may read."""

Written = tuple[str, int]
"""A call as it is written: its module and origin."""


class Known(NamedTuple):
    """What the interpretation has seen of calls of libraries. passing: they give the very buffers that they were given.
    making: they give arrays, in a tree. optimising: what they are given are arrays. repeating: they make objects with the same
    arrays at two places."""

    passing: frozenset[Written]
    making: frozenset[Written]
    optimising: frozenset[Written]
    repeating: frozenset[Written]


@dataclass(slots=True)
class Summary:
    """What a call of a function does to what its parameters hold.

    kills: initial objects that are dead after every way through it. writes: what it may store, dead or not (None).
    uses: initial objects whose contents it reads, and where.
    """

    kills: dict[Term, Kill] = field(default_factory=dict)
    writes: dict[tuple[Term, str], Kill | None] = field(default_factory=dict)
    uses: dict[Term, int] = field(default_factory=dict)


@dataclass(slots=True)
class Walker:
    """One run of a function (or module body when ``fn`` is None). found: reads of the dead, by module and origin."""

    m: Machine
    module: ModuleInfo
    fn: FuncInfo | None
    summary_of: Callable[[FuncInfo], Summary | None]
    known: Known
    state: State = field(default_factory=State)
    found: dict[tuple[str, int], tuple[Kill, str]] = field(default_factory=dict)
    uses: dict[Term, int] = field(default_factory=dict)
    exits: list[State] = field(default_factory=list)
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    unstable: frozenset[str] = frozenset()
    excused: int = 0

    def report(self, module: str, at: int, kill: Kill, form: str) -> None:
        """Note that what a donation took is read."""
        if not self.excused:
            self.found.setdefault((module, at), (kill, form))

    def dotted(self, node: ir.Node | None) -> str | None:
        """The canonical name of a library function or module that an expression names, else None."""
        if type(node) is ir.Attr:
            owner = self.dotted(node.obj)
            return None if owner is None else self.m.catalogue.canonical(f"{owner}.{node.name}")
        if type(node) is not ir.Name:
            return None
        known = self.imported.get(node.id)
        if known is not None:
            return known
        if node.id in self.state.env or (self.fn is not None and node.id in self.fn.node.local_names):
            return None
        value = self.module.scope.vars.get(node.id) or BUILTINS.get(node.id)
        return value.dotted if type(value) is Ext else None

    def is_computed(self, owner: ir.Node | None, name: str) -> bool:
        """Whether ``self.name`` is a property, which may give something new at each read."""
        if self.fn is None or not self.fn.values or type(owner) is not ir.Name:
            return False
        func = self.fn.values[0]
        params = self.fn.node.params
        if func.owner is None or not params or owner.id != params[0].name:
            return False
        return type(func.owner.namespace.get(name)) is Descr


def initial(term: Term) -> bool:
    """Whether a term is about what was there at the start of a function."""
    return bool(root(term)[0] == "v")
