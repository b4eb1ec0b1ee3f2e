"""Keys that a module nobody knows draws from in every lane of a batch (layer: ``link``, room ``domains``).

What it does: where the lanes of a batch, or devices, call a module with one key, takes the module to draw from it. A
pytree that is called is a module; one that gets its key by name has something to draw, unless it is told not to. What
it does not: say so of functions, which may compare what equal keys give, or of a module of which every lane has its
own; or look into modules that are known, which say themselves what they do.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Key, Use
from jitlint.infer.values import L, Map, Partial, Tree, Union, Unknown, Value, alternatives
from jitlint.link.domains.keys.ledger import LOG, MANY, Ledger
from jitlint.link.domains.keys.libraries import is_silent
from jitlint.link.domains.keys.uses import MAX_LOG, MODULE, report
from jitlint.link.engine.domain import Called, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.values.keys import inside, keys_of
from jitlint.syntax import ir

STREAMS: Final = "rngs"

_UNKNOWN: Final = frozenset({Tree, Union, Unknown})
"""Types of callees of which perhaps nothing is known."""


def called(f: Frame, called: Called) -> None:
    """A module is called, perhaps in every lane: ``jax.vmap(lambda x: model(x, key=key))(xs)``."""
    if type(called.callee) not in _UNKNOWN:
        return  # nearly all calls
    log = LOG.of(f)
    if log is None or f.world.excused or f.world.looks:
        return
    for key in _drawn(f, called.callee, called.args.kw, _is_from_outside(f, called.node.func)):
        keep(log, _use(f, called.node.at, key))


def keep(log: list[Use], one: Use) -> None:
    """Remember such a use for the callers of a function."""
    if len(log) < MAX_LOG and all(u.key != one.key or u.stream != one.stream for u in log):
        log.append(one)


def mapped(k: Ledger, f: Frame, transformed: Transformed) -> None:
    """A module is mapped together with its key: ``jax.vmap(functools.partial(model, key=key))(xs)``."""
    x, log = transformed.x, LOG.of(f)
    target, many = x.target, MANY.of(transformed.inner)
    if type(target) is not Partial or many is None or not many.batch or log is None:
        return
    if f.world.excused or f.world.looks:
        return
    at = x.site[1] if x.site[0] == f.module.name else f.at
    named = transformed.args.kw  # what is mapped: every lane has its own
    given = {name: value for name, value in target.keywords.items() if name not in named}
    for key in [] if is_silent(named) else _drawn(f, target.func, given, True):
        this = _use(f, at, key)
        keep(log, this)
        report(k, f, this, this, "shared")


def _use(f: Frame, at: int, key: Key) -> Use:
    return Use(key, MODULE, f.module.name, at, f.qualname, "", (f.module.name, at))


def _drawn(f: Frame, callee: Value, given: dict[str, Value], alike: bool) -> list[Key]:
    """The keys that a call hands to a module of which nothing is known. alike: the module comes from outside.

    What is differentiated is taken for a module, too.
    """
    alts = alternatives(callee)
    if any(type(alt) not in (Tree, Unknown) for alt in alts) or is_silent(given):
        return []
    found = inside([given[STREAMS]]) if isinstance(given.get(STREAMS), Map) else []
    if alike and (f.world.modes & L or any(type(alt) is Tree for alt in alts)):
        found += [key for name in sorted(lexicon().keys.drawn_by_name) for key in keys_of(given.get(name))]
    return found


def _is_from_outside(f: Frame, node: ir.Node | None) -> bool:
    """Whether a function has what it calls from the function around it."""
    while type(node) is ir.Attr:
        node = node.obj
    return type(node) is ir.Name and f.fn is not None and node.id in f.fn.outer_names
