"""Runs module bodies, each once, in the order in which imports reach them (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import NONE, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST


def run(m: Machine, info: ModuleInfo) -> None:
    """Execute a module's body unless that has begun already (an import cycle sees what is there so far)."""
    m.schedule.imports(info)
    if info.state:
        return
    info.state = 1
    m.schedule.begins(info)
    frame = Frame(info, info.scope, HOST, ground="test" if info.is_test else "jit")
    m.domains.on_module(frame)

    def body() -> Value:
        evaluator.run_block(m, frame, info.tree.body)
        return NONE

    m.contain(info.name, body)
    m.schedule.ends()
    info.state = 2
