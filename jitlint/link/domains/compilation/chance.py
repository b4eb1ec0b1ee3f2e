"""Which expressions are others at every run of a function, by chance (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.code_tables import CodeTable
from jitlint.syntax import ir


class Chance(Variation):
    """No loops: what a variable is bound to once is what it is."""

    def __init__(self, m: Machine, f: Frame, table: CodeTable) -> None:
        super().__init__(m, f, table, ())

    def _name(self, name: str, depth: int) -> str:
        value = self._only(name)
        return self.scalar(value, depth - 1) if value is not None else ""

    def _named_shape(self, name: str, depth: int) -> str:
        value = self._only(name)
        return self.shape(value, depth - 1) if value is not None else ""

    def _only(self, name: str) -> ir.Node | None:
        """What a name is bound to when it is bound once in the function."""
        values = self.table.bound.get(name, ())
        return (
            values[0] if len(values) == 1 and not isinstance(values[0], (ir.AugAssign, ir.FuncDef)) else None
        )
