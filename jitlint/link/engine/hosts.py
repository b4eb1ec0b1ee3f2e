"""Which calls the program makes outside of any trace, by the time everything has run (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from jitlint.infer.places import Step
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import call_at


def are_made(m: Machine, call: Step) -> bool:
    """Whether a call stands in the body of a module, or in functions that module-level code calls on the host."""
    module = m.modules[call.module]
    return all(fn.hosted for fn in module.functions if call_at(fn.parts, call.at) is not None)
