"""What modules that compiled functions get hold, and what changes when it is used (layer: ``link``, room ``domains``).

A layer that keeps statistics, a stream of keys that counts what is drawn, a variable: ``jax.jit`` hands their module over as a copy, and
nothing of what becomes of it goes back. What it does: remembers the parts of the modules among the arguments, and records the
change of one. What it does not: speak where the function does anything with the module but call it, or where the program tells
models in which mode they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.grounds import at_most
from jitlint.infer.lattice import parts
from jitlint.infer.objects import MODE
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import ExtInst, Inst, Tree, Value
from jitlint.link.domains.purity.copies import Change, Copies
from jitlint.link.engine.domain import Library, Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import inner_functions, names_read
from jitlint.link.values.questions import measuring
from jitlint.syntax import ir
from jitlint.syntax.children import below

_ROLE: Final = "nnx"
DROPOUT: Final = "flax.nnx.Dropout.__call__"
_VARIABLE: Final = "flax.nnx.Variable"
_REFERENCE: Final = "ref"
_STORES: Final = ("library", "element")
_TOLD: Final = frozenset({"deterministic", "rngs"})
_DEPTH: Final = 4


class Held:
    """Of a session. parts: what modules hold that a compiled function got as a copy, by identity, with the function and the parameter."""

    __slots__ = ("_modes", "parts")

    def __init__(self, modes: measuring.Modes) -> None:
        self.parts: dict[int, tuple[Value, FuncInfo, str]] = {}
        self._modes = modes

    def entered(self, fn: FuncInfo, bound: dict[str, Value]) -> None:
        """A compiled function starts with copies of its arguments."""
        for name, value in bound.items():
            if type(value) is Inst and value.cls.role == _ROLE:
                for part in library_parts(value, _DEPTH):
                    self.parts[id(part)] = (part, fn, name)

    def left(self, fn: FuncInfo) -> None:
        """A compiled function has run."""
        self.parts = {place: part for place, part in self.parts.items() if part[1] is not fn}

    def used(self, m: Machine, copies: Copies, f: Frame, library: Library) -> None:
        """A layer, or a stream of keys, is called."""
        owner = library.owner
        if id(owner) not in self.parts or type(owner) is not ExtInst:
            return
        if changes(library, owner) and not self._modes.are_set(m):
            self._changed(copies, f, owner, owner.dotted)

    def stored(self, copies: Copies, f: Frame, store: Store) -> None:
        """A variable of the library gets another value."""
        if id(store.owner) in self.parts and store.kind in _STORES:
            self._changed(copies, f, store.owner, _VARIABLE)

    def _changed(self, copies: Copies, f: Frame, part: Value, what: str) -> None:
        held, fn, name = self.parts[id(part)]
        at = _called(fn, name) if held is part else 0
        if at:
            level = Confidence.POSSIBLE if fn.module.is_test else at_most(f.confidence, Confidence.LIKELY)
            frame = Frame(fn.module, fn.module.scope, HOST, ground="jit")
            place = (fn.module.name, fn.qualname)
            copies.changes.setdefault((fn.module.name, at), Change(frame, at, fn, name, level, what, place))


def library_parts(value: Value, depth: int) -> Iterator[Value]:
    """The objects of the library in a module, or another container, and in those that it holds."""
    for part in parts(value):
        if type(part) is ExtInst or (type(part) is Tree and part.evidence == _REFERENCE):
            yield part
        elif depth and (type(part) is not Inst or part.cls.role == _ROLE):
            yield from library_parts(part, depth - 1)


def changes(library: Library, part: ExtInst) -> bool:
    """Whether a call changes the object whose method it is."""
    if library.dotted == DROPOUT:
        return library.args.kw.keys().isdisjoint(_TOLD) and MODE not in part.attrs
    return part.dotted in lexicon().captures.streams or measuring.measures(library, part)


def _called(fn: FuncInfo, name: str) -> int:
    """Where a function calls a parameter, or something of it, or sets what it holds; 0 if it does anything else with it."""
    if any(name in names_read(inner) for inner in inner_functions(fn.module, fn.body)):
        return 0
    nodes = below(fn.body)
    bases = {id(node.func) for node in nodes if type(node) is ir.Call}
    bases |= {id(node.obj) for node in nodes if type(node) is ir.Attr}
    mine = [node for node in nodes if type(node) is ir.Name and node.id == name]
    return min((node.at for node in mine), default=0) if all(id(node) in bases for node in mine) else 0
