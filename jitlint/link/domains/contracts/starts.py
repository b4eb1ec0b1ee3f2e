"""States of optimisers that were made for another tree than they update (layer: ``link``, room ``domains``).

An optimiser that keeps arrays like the parameters, such as their moments, goes through its state and the gradients together. What it
does: compares the gradients of an update with all trees that states of this optimiser were made for. What it does not: follow states.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import ExtInst, Py, Value, py
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.models.trees import structures
from jitlint.link.tables import bound_once
from jitlint.link.values import pytrees
from jitlint.syntax import ir

_SITE: Final = "$site"
"""The attribute in which an optimiser remembers where it was made."""


class Starts:
    """The trees that states were made for, by where the optimiser was made."""

    def __init__(self) -> None:
        self._trees: dict[str, list[Value | None]] = {}
        self._updating: set[tuple[str, int]] = set()

    def made(self, f: Frame, at: int, optimiser: ExtInst) -> None:
        """An optimiser is made."""
        optimiser.attrs[_SITE] = py(f"{f.module.name} {at}")

    def started(self, m: Machine, optimiser: ExtInst, tree: Value | None) -> None:
        """A state is made, by the program itself. What becomes of the tree later is no matter."""
        site = _site_of(optimiser)
        if site and not m.timeless and m.cold is None:
            kept = None if tree is None else pytrees.lift(tree, 0, 0, "")
            self._trees.setdefault(site, []).append(kept)

    def updated(self, m: Machine, f: Frame, at: int, optimiser: ExtInst, gradients: Value | None) -> None:
        """Gradients are given to an optimiser, with a state."""
        self._updating.add((f.module.name, at))
        site = _site_of(optimiser)
        first = next(iter(self._trees.get(site, [])), None)
        if first is None or gradients is None or m.guards or m.cold is not None:
            return
        detail = structures.difference(first, gradients)
        if detail:
            m.emit(
                f, ApiMisuse, at, gradients, when=(_AllOthers(self, site, gradients),),
                api=f"{optimiser.dotted}.update", problem="unfit", parameter="state", detail=detail,
                exception="ValueError",
            )  # fmt: skip

    def is_state(self, f: Frame, name: str) -> bool:
        """Whether a variable certainly holds the new state that an optimiser gives, as the second of two."""
        binding = bound_once.only_binding(f.fn, name)
        target, call = (binding.targets[0], binding.value) if binding is not None else (None, None)
        if type(target) is not ir.Tuple or type(call) is not ir.Call or len(target.elts) != 2:
            return False
        second = target.elts[1]
        return type(second) is ir.Name and second.id == name and (f.module.name, call.at) in self._updating

    def all_differ(self, site: str, gradients: Value) -> bool:
        """Whether no state was made for a tree that has, or may have, the structure of these gradients."""
        trees = self._trees.get(site, [])
        return bool(trees) and all(
            tree is not None and structures.difference(tree, gradients) for tree in trees
        )


def _site_of(optimiser: ExtInst) -> str:
    site = optimiser.attrs.get(_SITE)
    return str(site.const) if type(site) is Py else ""


class _AllOthers:
    """No state of an optimiser was made for such gradients."""

    def __init__(self, starts: Starts, site: str, gradients: Value) -> None:
        self._starts = starts
        self._site = site
        self._gradients = gradients

    def holds(self, found: Found) -> bool:
        """Whether that is so in the whole program."""
        return self._starts.all_differ(self._site, self._gradients)
