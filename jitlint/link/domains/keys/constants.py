"""Keys that compiled code makes of a constant, seen from the host that calls it again and again (layer: ``link``, room ``domains``).

``for batch in data: params = step(params, batch)``, where `step` draws from ``jax.random.key(0)``: the same noise in every
step. What it does: waits until such code is called in a loop of the host that hands on what it changes, in the function at
hand or in one that calls it. What it does not: speak of a function that is only asked again, which may be meant to answer
alike.
"""

from __future__ import annotations

import dataclasses
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Use
from jitlint.infer.objects import SEEDED
from jitlint.infer.values import ExtInst
from jitlint.link.domains.keys.lanes import keep
from jitlint.link.domains.keys.ledger import LOG, MANY, Ledger
from jitlint.link.domains.keys.uses import CONSTANT, report
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import call_at
from jitlint.link.tables.storing import goes_on
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_LOOPS: Final = (ir.For, ir.While)


def applied(k: Ledger, f: Frame, at: int, u: Use, passed: bool) -> None:
    """A called function draws from a key of its own that is always the same: a mistake if it runs many times."""
    many, log = MANY.of(f), LOG.of(f)
    told, goes_on = u.told, u.goes_on
    if many is not None and not many.batch and not told:
        told = report(k, f, u, u, "many")
    if u.staged and not f.scope.level and not told:
        goes_on = goes_on or _hands_on(k, f, at)
        told = goes_on and _is_in_loop(k, f) and report(k, f, u, u, "steps")
    if log is not None:
        keep(log, dataclasses.replace(u, site=(f.module.name, at), told=told, goes_on=goes_on))


def drawn(k: Ledger, f: Frame, library: Library) -> None:
    """Streams of keys are asked for one, or given to what draws from them."""
    streams = (library.owner, library.args.kw.get("rngs"))
    log = LOG.of(f)
    if log is None or not any(type(one) is ExtInst and SEEDED in one.attrs for one in streams):
        return
    place, key = (f.module.name, library.at), k.m.keys.derived(None, "const", f.scope.key, SEEDED)
    keep(
        log,
        Use(
            key, CONSTANT, *place, f.qualname, library.dotted, place, drawn=(*place, f.qualname), staged=True
        ),
    )


def hears_of(dotted: str) -> bool:
    """Whether something draws from streams of keys."""
    return dotted.startswith(tuple(f"{name}." for name in lexicon().contracts.holds_keys))


def _is_in_loop(k: Ledger, f: Frame) -> bool:
    return any(type(node) in _LOOPS for node, _ in k.m.texts.table(f).around.get(f.at, ()))


def _hands_on(k: Ledger, f: Frame, at: int) -> bool:
    """Whether the next call gets what this one leaves: ``state = step(state, batch)``, or the optimiser that it moves on."""
    statement = surroundings.statement(f)
    call = call_at(below(statement), at)
    if call is None:
        return False
    given = [arg.value for arg in call.args if isinstance(arg.value, (ir.Name, ir.Attr))]
    if any(_is_moved_on(paths.peek(k.m, f, node)) for node in given):
        return True
    return type(statement) is ir.Assign and statement.value is call and goes_on(statement, call)


def _is_moved_on(value: object) -> bool:
    return type(value) is ExtInst and f"{value.dotted}.update" in lexicon().captures.training
