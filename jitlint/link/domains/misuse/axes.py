"""Collectives over an axis that nothing in the program binds (layer: ``link``, room ``domains``).

What it does: waits until everything has run, and looks whether the axis' name stands anywhere else than in collectives: as
the `axis_name` of a map, in a mesh, as a default, in a list. What it does not: speak of code that nobody in the program
calls under a transform, which may be meant for the maps of others.
"""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Py
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below


class Axes:
    """Which names the program mentions outside of collectives; looked up once, when somebody asks."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._names: set[str] | None = None

    def heard(self, f: Frame, library: Library) -> None:
        """A collective is called."""
        place = int(lexicon().contracts.collectives[library.dotted])
        axis = library.args.get(place, "axis_name")
        called = any(step.message == "and called here" and step.because == "seen" for step in f.steps)
        if type(axis) is Py and isinstance(axis.const, str) and called:
            self._m.emit(
                f, ApiMisuse, library.at, when=(_Unbound(self, axis.const),),
                api=library.dotted, problem="unbound-axis", parameter=axis.const,
            )  # fmt: skip

    def mentioned(self) -> set[str]:
        """All texts that might be the name of an axis that is bound."""
        if self._names is None:
            short = {name.rpartition(".")[2] for name in lexicon().contracts.collectives}
            self._names = set()
            for module in self._m.modules.values():
                self._names |= _texts(below(module.tree.body), short)
                for fn in module.functions:
                    around = [*fn.node.decorators, *[p.default for p in fn.node.params]]
                    self._names |= _texts(fn.parts, short) | _texts(below(around), short)
        return self._names


class _Unbound:
    def __init__(self, axes: Axes, name: str) -> None:
        self._axes = axes
        self._name = name

    def holds(self, found: Found) -> bool:
        """Whether nothing in the program can have bound the axis."""
        return self._name not in self._axes.mentioned()


def _texts(parts: list[ir.Node], collectives: set[str]) -> set[str]:
    """The texts in some code, but the last arguments of collectives."""
    own = set[int]()
    for node in parts:
        if type(node) is ir.Call and last_name(node.func) in collectives:
            own |= {id(arg.value) for arg in node.args if type(arg.value) is ir.Const}
    return {
        node.value
        for node in parts
        if type(node) is ir.Const and isinstance(node.value, str) and id(node) not in own
    }
