"""Arguments that come back longer than they went in (layer: ``link``, room ``domains``).

A cache that a compiled step puts together with what is new, and that a loop hands to the step again, has another shape in each turn:
JAX compiles for each. What it does: marks what a step gets in the place of what its statement replaces, and looks at the results. What
it does not: so of what is cut to its length again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import VaryingArgument
from jitlint.infer.values import S, Tup, Value
from jitlint.link.domains.compilation.log import CompilationLog
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import path_text
from jitlint.link.values.questions.extent import arrays
from jitlint.syntax import ir

_HOW: Final = "put together with more by the function itself, so that it grows at every turn"


def mark(log: CompilationLog, f: Frame, transformed: Transformed) -> None:
    """A compiled function is about to run on what its statement replaces."""
    for number, value, _ in replaced(log, f, transformed):
        for array in arrays(value):
            if array.modes & S:
                array.about = array.about._replace(given=number)


def check(log: CompilationLog, f: Frame, transformed: Transformed, result: Value) -> None:
    """Record the first argument that is part of what replaces it, with more."""
    for number, _, target in replaced(log, f, transformed):
        part = part_of(result, target)
        key = (f.module.name, "argument", transformed.at)
        if (
            part is not None
            and key not in log.done
            and any(array.about.grown == number for array in arrays(part))
        ):
            log.done.add(key)
            call = log.m.texts.table(f).calls[transformed.at]
            arg = call.args[number - 1].value
            log.m.emit(
                f, VaryingArgument, arg.at, None, Confidence.LIKELY, problem="shape", parameter=path_text(arg), how=_HOW
            )  # fmt: skip
            return


def replaced(
    log: CompilationLog, f: Frame, transformed: Transformed
) -> Iterator[tuple[int, Value, tuple[int, ...]]]:
    """The arguments, by number from 1, that a statement in a loop replaces, each with the place of the result that does."""
    if not f.loops or f.world.level or f.module.is_test or not transformed.inner.world.here & S:
        return
    call, statement = log.m.texts.table(f).calls.get(transformed.at), surroundings.statement(f)
    if type(statement) is not ir.Assign or call is None or statement.value is not call or _is_short(log, f):
        return
    places = dict(_places(statement.targets[0]))
    for number, (arg, value) in enumerate(zip(call.args, transformed.arrived.pos), 1):
        if arg.star or arg.name:
            return
        text = path_text(arg.value)
        if text and text in places:
            yield number, value, places[text]


def _is_short(log: CompilationLog, f: Frame) -> bool:
    """Whether the loop around is known to have few turns."""
    loop = f.loops[-1]
    over = loop.iter if type(loop) is ir.For else None
    if type(over) is not ir.Call:
        return isinstance(over, (ir.List, ir.Tuple))
    variation = Variation(log.m, f, log.m.texts.table(f), f.loops)
    return variation.dotted(over.func) == "builtins.range" and not variation.counts(over)


def _places(target: ir.Node, way: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What a target binds, each with where it stands in what is assigned."""
    if isinstance(target, (ir.Tuple, ir.List)):
        for i, part in enumerate(target.elts):
            yield from _places(part, (*way, i))
    elif path_text(target):
        yield path_text(target), way


def part_of(result: Value, way: tuple[int, ...]) -> Value | None:
    """What stands at a place of a result, None if that is not known."""
    for step in way:
        if type(result) is not Tup or step >= len(result.items):
            return None
        result = result.items[step]
    return result
