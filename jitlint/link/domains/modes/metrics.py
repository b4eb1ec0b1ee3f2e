"""Metrics of `flax.nnx` that never begin again (layer: ``link``, room ``domains``).

What it does: finds a loop whose turns ask a metric for its value after an inner loop has updated it, and never reset it. What it
does not: speak of a metric that is made in the turn, or of one that is asked in the loop that updates it: that is a running mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import UnresetMetric
from jitlint.infer.places import Step
from jitlint.link.domains.modes.marks import MEASURES, REPORTS, RESETS, Mark, touch
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import changed_in, nodes
from jitlint.syntax import ir


def turned(m: Machine, f: Frame, loop: ir.Node, turn: Sequence[Mark]) -> None:
    """A loop of host code has run. turn: what happens in one of its turns."""
    reports = [mark for mark in turn if mark.kind == REPORTS]
    if not reports or not isinstance(loop, (ir.For, ir.While)):
        return
    made, inner = changed_in(loop), list(_inner_loops(loop))
    for report in reports:
        if report.path[0] in made or any(mark.kind == RESETS and touch(mark, report) for mark in turn):
            continue
        measured = next((one for one in turn if _goes_before(one, report, inner)), None)
        if measured is not None:
            module, at, function = report.site
            step = Step(f.module.name, measured.at, "it is updated here, in an inner loop")
            m.emit(
                f, UnresetMetric, at, None, Confidence.LIKELY, where=(module, function), name=".".join(report.path),
                also=(step,),
            )  # fmt: skip


def _inner_loops(loop: ir.For | ir.While) -> Iterator[frozenset[int]]:
    """The calls in each of the loops that stand in another."""
    for part in nodes(loop.body):
        if isinstance(part, (ir.For, ir.While)):
            yield frozenset(node.at for node in nodes(part) if type(node) is ir.Call)


def _goes_before(measured: Mark, report: Mark, inner: Sequence[frozenset[int]]) -> bool:
    """Whether a metric is updated in a loop that ends before it is asked for its value."""
    if measured.kind != MEASURES or not touch(measured, report) or measured.at > report.at:
        return False
    return any(measured.at in calls and report.at not in calls for calls in inner)
