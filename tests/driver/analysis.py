"""A stand-in for the interpreter: every ``if`` in a function is a traced branch, every function is traced.

The driver's tests are about files, caching and words; what real tracing finds is tested elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Truth
from jitlint.infer.places import Place, Step
from jitlint.infer.traced_functions import TracedFunction, TracedParameter
from jitlint.link.program import Analysis, ModuleInput, Options
from jitlint.syntax import ir

seen: list[tuple[list[ModuleInput], Options]] = []
"""The inputs of every call, newest last."""


def analyse(modules: Sequence[ModuleInput], options: Options) -> Analysis:
    seen.append((list(modules), options))
    events: list[Truth] = []
    traced: list[TracedFunction] = []
    for module in modules:
        for function in ir.decode_module(module.data).functions:
            sure = Confidence.POSSIBLE if function.name.startswith("maybe") else Confidence.CERTAIN
            step = Step(module.name, function.name_at, f"`{function.name}` is jitted here")
            for statement in ir.decode_body(function.body):
                if isinstance(statement, ir.If):
                    place = Place(module.name, statement.test.at, function.qualname, (step,), "jit", sure)
                    events.append(Truth(place, "parameter `x`", "S", "if"))
            parameters = [TracedParameter(parameter.name, "traced") for parameter in function.params]
            traced.append(
                TracedFunction(
                    module.name,
                    function.qualname,
                    function.first_at,
                    function.name_at,
                    "S",
                    "jit",
                    sure,
                    parameters,
                    (step,),
                )
            )
    return Analysis(events=events, traced=traced, jit_sites=2, jit_sites_resolved=1, notes={"things": 3})
