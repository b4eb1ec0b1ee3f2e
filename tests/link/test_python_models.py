"""Python's builtins, containers and standard library inside a jitted function: what the analysis observes."""

from __future__ import annotations

import pytest

from jitlint.infer.events import RAISING, AnyEvent, Convert, Leak, Truth
from jitlint.link.program import ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from tests.link.python_cases import CASES, LEAKS, Case


def observed(source: str) -> list[AnyEvent]:
    """What JAX refuses or is left with, in a program of one module."""
    module = lower(source)
    assert isinstance(module, ir.Module), module
    data = ir.encode_module(module)
    events = analyse([ModuleInput("case", "case.py", False, data, False)], Options()).events
    return [event for event in events if type(event) in RAISING or isinstance(event, Leak)]


def label(event: AnyEvent) -> str:
    """The event as the cases write it."""
    if isinstance(event, Truth):
        return f"truth:{event.form}"
    if isinstance(event, Convert):
        return f"convert:{event.to}"
    return f"leak:{event.target}" if isinstance(event, Leak) else type(event).__name__


@pytest.mark.parametrize("case", [*CASES, *LEAKS], ids=lambda case: f"{case.transform}: {case.body}")
def test_events(case: Case) -> None:
    assert [label(event) for event in observed(case.source)] == list(case.events)
