"""Layers that keep statistics of what they are given, and whether a program tells models in which mode they are (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.objects import MODE
from jitlint.infer.values import ExtInst
from jitlint.link.engine.domain import Library
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir


def measures(library: Library, layer: ExtInst) -> bool:
    """Whether a layer runs that keeps statistics of what it is given, and was not told otherwise."""
    runs = layer.dotted in lexicon().captures.measuring and library.dotted == f"{layer.dotted}.__call__"
    return runs and not library.args.kw and MODE not in layer.attrs


class Modes:
    """Whether anything in a program sets the mode of a model, which is looked up once."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set: bool | None = None

    def are_set(self, m: Machine) -> bool:
        """Whether a model may be told somewhere to keep no statistics."""
        if self._set is None:
            self._set = _sets_modes(m)
        return self._set


def _sets_modes(m: Machine) -> bool:
    """Whether anything in the program sets the mode of a model."""
    words = lexicon().modes
    setters = words.telling.union(dotted.rpartition(".")[2] for dotted in words.setting)
    return any(
        type(part) is ir.Attr and part.name in setters
        for module in m.modules.values()
        for nodes in module.code()
        for part in nodes
    )
