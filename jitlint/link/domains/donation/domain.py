"""Buffers that are read after they were given away (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import Arr, Inst, Tree, Value, Xform, alternatives
from jitlint.link.domains.donation import check, counted
from jitlint.link.domains.donation.lost import Lost
from jitlint.link.domains.donation.walker import Known, Written
from jitlint.link.engine.domain import Called, Domain, Library, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_INIT: Final = ".init"


class Donation(Domain[None]):
    """Walks once more over the host code that gives arguments away, when it is known which code does.

    passing: calls that give the very buffers that they were given, as `jnp.asarray` of JAX arrays does, to whether
    they did so every time. making: calls that make parameters of layers. optimising: those that make the state of an
    optimiser for them. repeating: those that make objects with the same arrays at two places.
    """

    callees = frozenset({Xform})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.passing: dict[Written, bool] = {}
        self.making: set[Written] = set()
        self.optimising: set[Written] = set()
        self.repeating: set[Written] = set()
        self.lost = Lost()

    def on_call(self, f: Frame, called: Called) -> None:
        """A compiled function is called."""
        if not f.world.level:
            counted.check(self.m, f, called)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A compiled function is called, perhaps inside of another."""
        self.lost.entered(f, transformed)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """It has run."""
        self.lost.left(transformed)

    def hears_of(self, dotted: str) -> bool:
        """What may give the very object that it was given, and what certainly gives, or takes, arrays."""
        return dotted in lexicon().buffers.same_object or dotted.endswith(_INIT)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """Note whether there was anything to copy."""
        if library.dotted.endswith(_INIT):
            if library.dotted.startswith(lexicon().buffers.layers):
                self.making.add((f.module.name, library.at))
            elif library.dotted.startswith(lexicon().buffers.optimisers):
                self.optimising.add((f.module.name, library.at))
        elif library.args.pos:
            place = (f.module.name, library.at)
            same = _are_arrays(library.args.pos[0])
            self.passing[place] = same and self.passing.get(place, True)
        return None

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """An object may get the same arrays for two of its fields."""
        if f.world.level or type(value) is not Inst:
            return
        seen = set[int]()
        for held in value.attrs.values():
            if id(held) in seen and _is_of_arrays(held):
                self.repeating.add((f.module.name, at))
            seen.add(id(held))

    def finish(self) -> None:
        """Who gives something away is known now."""
        passing = frozenset(place for place, same in self.passing.items() if same)
        known = (frozenset(found) for found in (self.making, self.optimising, self.repeating))
        check.check(self.m, Known(passing, *known))
        self.lost.check(self.m)


def _are_arrays(value: Value) -> bool:
    """Whether all that something holds are arrays of JAX."""
    found = alternatives(pytrees.leaf(value))
    return all(type(a) is Arr and not a.host and a.kind is SEEN for a in found)


def _is_of_arrays(value: Value) -> bool:
    """The same, or whether it is a tree that a library has made."""
    return value.kind is SEEN if type(value) is Tree else _are_arrays(value)
