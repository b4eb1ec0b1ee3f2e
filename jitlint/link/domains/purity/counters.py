"""Python numbers in modules that `flax.nnx.jit` hands back changed (layer: ``link``, room ``domains``).

``self.calls += 1``: a number that is no array is a part of the module's graph, for which the function was compiled; each call leaves
another one, and the next call compiles again. What it does: remembers the modules among the arguments, and looks for such steps. What it
does not: speak of numbers that are only set, or set under a condition.
Source: https://flax.readthedocs.io/en/latest/nnx_basics.html#the-graphdef-and-state
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import VaryingArgument
from jitlint.infer.lattice import parts
from jitlint.infer.values import Inst, Map, Py, Seq, Tup, Value
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir

JIT: Final = "flax.nnx.jit"
_ROLE: Final = "nnx"
_DEPTH: Final = 4


class Counters:
    """Of a session: the modules that are among the arguments of such functions, by identity."""

    __slots__ = ("_given",)

    def __init__(self) -> None:
        self._given: dict[int, Inst] = {}

    def entered(self, values: Iterable[Value], depth: int = _DEPTH) -> None:
        """Such a function starts with its arguments."""
        for value in values:
            if type(value) is Inst and value.cls.role == _ROLE:
                self._given[id(value)] = value
            if depth and isinstance(value, (Inst, Seq, Tup, Map)):
                self.entered(parts(value), depth - 1)

    def stored(self, m: Machine, f: Frame, store: Store) -> None:
        """An attribute of an object gets another value."""
        owner, old = store.owner, store.old
        if type(owner) is not Inst or id(owner) not in self._given or type(old) is not Py or m.guards:
            return
        node = surroundings.statement(f) if old.kind == "int" else None
        if type(node) is ir.AugAssign and type(node.value) is ir.Const:
            m.emit(
                f, VaryingArgument, store.at, None, Confidence.LIKELY, problem="counter", parameter=store.key,
                how=owner.cls.name,
            )  # fmt: skip
