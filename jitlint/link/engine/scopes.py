"""Where code runs: variables through the scopes around, and frames inside another world (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.places import Step
from jitlint.infer.values import Scope, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.world import World
from jitlint.link.tables.builtin_names import BUILTINS


def lookup(f: Frame, name: str) -> Value | None:
    """A variable's value through the enclosing scopes and the builtins, or None."""
    scope: Scope | None = f.scope
    while scope is not None:
        value = scope.vars.get(name)
        if value is not None:
            return value
        scope = scope.parent
    return BUILTINS.get(name)


def holder(scope: Scope | None, name: str) -> Scope | None:
    """The innermost of a scope and those around it that has a variable of this name."""
    while scope is not None and name not in scope.vars:
        scope = scope.parent
    return scope


def in_world(
    f: Frame,
    world: World,
    steps: tuple[Step, ...],
    ground: str | None = None,
    confidence: Confidence | None = None,
    entry: Confidence | None = None,
) -> Frame:
    """The caller's frame as seen from inside another world: what a transform calls its function from.

    confidence: of what is found there. entry: how sure it is that what it calls runs; as sure as the caller, if None.
    """
    g = Frame(
        f.module, f.scope, world, f.fn, f.depth + 1, steps, ground or f.ground, confidence or f.confidence
    )
    g.token = object()
    g.at = f.at
    g.outer = f
    g.coarse = f.coarse
    g.dispatched, g.sided = f.dispatched, f.sided
    g.entry = f.entry if entry is None else entry
    sure = confidence is None
    g.own = {k: v for k, v in f.own.items() if k.inherited and (sure or k.by_guesses)}
    g.caught = f.caught if f.caught is not None and f.caught.traced else None
    g.cls = f.cls
    g.recv = f.recv
    g.owner = f.owner
    return g
