"""NumPy arrays that are written while work may still read them (layer: ``link``, room ``domains``).

JAX takes a NumPy array as it lies in memory where it can, and comes back before its work is done. What it does: notes which arrays
the program writes into that JAX does not have to convert, and follows the variables that hold them. What it does not: follow
views of them, or arrays from one function to another.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from jitlint.catalogue.dtypes import exact_of
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.host_calls import Users
from jitlint.infer.values import Arr
from jitlint.link.domains.timing.state import Clocks, Work
from jitlint.link.engine.domain import Change, Store
from jitlint.link.engine.frame import Frame
from jitlint.link.values import fitting
from jitlint.syntax import ir

_KEPT: Final = frozenset(
    {"bool", "float16", "float32", "int8", "int16", "int32", "uint8", "uint16", "uint32"}
)
"""Data types that JAX takes as they are; what has 64 bits is converted before the call comes back (measured)."""


@dataclass(slots=True)
class Writes:
    """Where elements of such arrays are assigned, or such arrays change themselves, and in which functions."""

    places: set[tuple[str, int]] = field(default_factory=set)
    users: Users = field(default_factory=dict)

    def stored(self, f: Frame, store: Store) -> None:
        """An element of something is assigned."""
        if store.kind == "element" and _is_buffer(store.owner):
            self._note(f, store.at)

    def changed(self, f: Frame, change: Change) -> None:
        """Something changes itself."""
        how = change.how == "in-place" or change.how in lexicon().arrays.host_in_place_methods
        if how and _is_buffer(change.box):
            self._note(f, change.at)

    def _note(self, f: Frame, at: int) -> None:
        if not f.world.level and not f.module.is_test:
            self.places.add((f.module.name, at))
            self.users[f.module.name, f.fn] = None


def _is_buffer(value: object) -> bool:
    if type(value) is not Arr or not value.host or not fitting.is_array(value):
        return False
    return exact_of(value.dtype) in _KEPT


def path_of(node: ir.Node | None) -> str:
    """A variable or attribute path as text, else ""."""
    if type(node) is ir.Name:
        return node.id
    if type(node) is ir.Attr:
        owner = path_of(node.obj)
        return f"{owner}.{node.name}" if owner else ""
    return path_of(node.obj) if type(node) is ir.Sub else ""


def lend(state: Clocks, call: ir.Call, work: Work) -> None:
    """Work begins to read what it is given."""
    for arg in call.args:
        for node in arg.value.elts if isinstance(arg.value, (ir.Tuple, ir.List)) else [arg.value]:
            path = path_of(node) if isinstance(node, (ir.Name, ir.Attr)) else ""
            if path:
                state.lent[path] = work


def write(state: Clocks, written: dict[int, tuple[Work, str]], node: ir.Node | None, at: int) -> None:
    """Something is perhaps written into an array, or the array changes itself. written: where that is too early."""
    path = path_of(node)
    work = state.lent.get(path)
    if work is not None:
        written.setdefault(at, (work, path))
