"""Python loops in staged code, which become long programs (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.infer.values import S, Value
from jitlint.link.domains.unrolling import loops, rows
from jitlint.link.engine.domain import Domain, Library, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir


class Unrolling(Domain[None]):
    """Looks at each loop of staged code when it has run, and remembers who calls with how many rows."""

    nodes = frozenset({ir.For, ir.While, ir.Comp})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.rows = rows.Rows(m)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """The arguments of a transformed function tell how many rows it gets."""
        rows.called(self.rows, f, transformed.x, transformed.args)

    def hears_of(self, dotted: str) -> bool:
        """Functions of Python that take what they are given element by element."""
        return loops.goes_through(dotted)

    def on_library(self, f: Frame, library: Library) -> None:
        """One of them is called."""
        loops.check_builtin(self.m, f, library)

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A loop turned; how often?"""
        if not f.world.here & S or f.world.kernel:
            return
        if type(node) is ir.For:
            loops.check_for(self.rows, f, node, value)
        elif type(node) is ir.While:
            loops.check_while(self.m, f, node)
        elif type(node) is ir.Comp:
            loops.check_comprehension(self.rows, f, node, value)
