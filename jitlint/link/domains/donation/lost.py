"""Donations that have no effect (layer: ``link``, room ``domains``).

Inside of a compiled function another one is a part of its program: only the outermost call has buffers to give away. What it does:
remembers from where functions that take over buffers are called, and finds those that never run by themselves. What it does not: speak
of what the outer function makes itself, whose memory the compiler uses again on its own.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import LostDonation
from jitlint.infer.places import Place, Step
from jitlint.infer.values import Scope, Xform
from jitlint.link.core.host_calls import donated, may_donate
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions.signatures import signature

Site = tuple[str, int]
"""A module, and where in it a transformed function is made."""


class Lost:
    """Of a session. outer: what the host has called, if it compiles, from the outermost on. direct: what it calls itself, and the
    functions around each of these calls. compiled: the functions that it calls compiled. inner: what runs inside of others, with the one around
    and the argument that both have."""

    def __init__(self) -> None:
        self.outer: list[Transformed] = []
        self.direct: dict[Site, set[frozenset[int]]] = {}
        self.compiled: set[int] = set()
        self.inner: dict[tuple[Site, Site], tuple[Xform, Xform, str]] = {}

    def entered(self, f: Frame, transformed: Transformed) -> None:
        """A transformed function is called."""
        x = transformed.x
        if x.spec.name not in lexicon().buffers.donors:
            return
        if not f.world.level:
            if (f.module.name, transformed.at) == x.site:
                return  # it runs on its own, and nobody calls it
            self.direct.setdefault(x.site, set()).add(_functions(f))
            target = signature(x.target)
            self.compiled |= {target.func.fn.id} if target is not None else set()
            self.outer.append(transformed)
        elif may_donate(x) and len(self.outer) == 1 and not may_donate(self.outer[0].x):
            name = _shared(self.outer[0], x)
            if name:
                self.inner.setdefault((x.site, self.outer[0].x.site), (x, self.outer[0].x, name))

    def left(self, transformed: Transformed) -> None:
        """It has run."""
        if self.outer and self.outer[-1] is transformed:
            self.outer.pop()

    def check(self, m: Machine) -> None:
        """Record those that only run inside of others."""
        for (site, around), (x, outer, name) in self.inner.items():
            module = m.modules.get(around[0])
            alone = any(self.compiled.isdisjoint(found) for found in self.direct.get(site, ()))
            if alone or site == around or module is None or module.is_test:
                continue
            also = (Step(*site, f"`{_name(x)}` is told to take over `{name}` here"),)
            place = Place(*around, "", (), "jit", Confidence.LIKELY)
            event = LostDonation(place, also=also, name=name, callee=_name(x), outer=_name(outer))
            m.sink.add((LostDonation, *around), event)


def _functions(f: Frame) -> frozenset[int]:
    """The function that runs, and those that it was written in."""
    found = set[int]()
    scope: Scope | None = f.scope
    while scope is not None and scope.fn is not None:
        found.add(scope.fn.id)
        scope = scope.parent
    return frozenset(found)


def _shared(outer: Transformed, x: Xform) -> str:
    """The argument that is donated, if the function around has one of the same name, which it may as well donate."""
    inside, around = signature(x.target), signature(outer.x.target)
    if inside is None or around is None:
        return ""
    taken = [param.name for param in inside.positional]
    numbers, names = donated(x, taken, len(taken))
    given = {taken[number] for number in numbers if 0 <= number < len(taken)} | names
    return next((param.name for param in around.positional if param.name in given), "")


def _name(x: Xform) -> str:
    found = signature(x.target)
    return found.func.fn.name if found is not None else "the function"
