"""Batches that are padded to the longest of their sequences (layer: ``link``, room ``domains``).

Each batch has another width, and JAX compiles for each. What it does: looks at arrays that a loop hands to a compiled function, and
that are made anew in each turn. What it does not: so of data that is padded once, before the loop.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import VaryingArgument
from jitlint.infer.values import Arr, S, Value
from jitlint.link.domains.compilation.log import CompilationLog
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.models.jax.mapping import leaves
from jitlint.link.tables.ir_walk import changed_in, whole
from jitlint.syntax import ir

_HOW: Final = "padded to the longest of a few sequences, which is another one each time"


def check(log: CompilationLog, f: Frame, transformed: Transformed) -> None:
    """Record the first argument that has such a width."""
    if not f.loops or f.world.level or f.module.is_test or not transformed.inner.world.here & S:
        return
    call = log.m.texts.table(f).calls.get(transformed.at)
    if call is None or any(arg.star for arg in call.args):
        return
    changed = set().union(*[changed_in(loop) for loop in f.loops if isinstance(loop, (ir.For, ir.While))])
    for arg, value in zip(call.args, transformed.args.pos):
        root = whole(arg.value)
        key = (f.module.name, "argument", arg.value.at)
        if type(root) is ir.Name and root.id in changed and key not in log.done and _is_ragged(value):
            log.done.add(key)
            log.m.emit(
                f, VaryingArgument, arg.value.at, None, Confidence.LIKELY, problem="shape", parameter=root.id, how=_HOW
            )  # fmt: skip
            return


def _is_ragged(value: Value) -> bool:
    return any(type(leaf) is Arr and leaf.about.ragged for leaf in leaves(value))
