"""Which PRNG keys are consumed, and whether they were before (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.keys import Key
from jitlint.infer.values import Ext, ExtInst, Func, Inst, Map, Method, S, Union, Value
from jitlint.link.domains.keys import (
    calls,
    closures,
    constants,
    copies,
    defaults,
    lanes,
    libraries,
    members,
    met,
    parameters,
    passes,
    stored,
    unstable,
    uses,
)
from jitlint.link.domains.keys.ledger import LOG, MANY, RANDOM, Ledger, Runs
from jitlint.link.engine.domain import (
    Activation,
    Called,
    Domain,
    Library,
    Rename,
    Repeat,
    Store,
    Transformed,
    Turn,
)
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.values import keys, paths
from jitlint.link.values.library_objects import INITIALISERS
from jitlint.syntax import ir

_OUTLIVE: Final = ("attribute", "class", "element", "global", "module", "nonlocal")
"""Kinds of places that outlive the activation that stores there."""


class _Activation:
    """What an activation starts from. given: keys in its arguments, and those that its functions close over. handed: those that its caller hands over. first:
    the number of the last key that is older. summary: what it did to keys, once it is over."""

    __slots__ = ("first", "given", "handed", "summary")

    def __init__(self, given: list[Key], handed: list[Key], first: int) -> None:
        self.given = given
        self.handed = handed
        self.first = first
        self.summary: calls.Summary | None = None


_ACTIVATION: Final = Slot[_Activation]()


class Keys(Domain[calls.Summary]):
    """Keeps what each activation consumes, and says so again for a remembered one."""

    callees = frozenset({Ext, Inst, Union})
    hears_names = True
    nodes = frozenset({ir.For, ir.Comp})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.ledger = Ledger(m)

    def on_module(self, f: Frame) -> None:
        """What a module's body consumes, it consumes."""
        LOG.put(f, [])

    def on_bind(self, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> None:
        """Arguments that are keys have names before they are compared."""
        names = self.m.keys
        first = names.count
        if func.defaults:
            left_out = [value for name, value in func.defaults.items() if bound.get(name) is value]
            self.ledger.defaults.update(keys.inside(left_out) if left_out else ())
        takes = func.fn.keys if func.fn.keys is not None else parameters.key_parameters(self.m, func.fn)
        if takes:
            met.handed(self.m, f, at, func, takes, bound)
        parameters.name_all(self.m, takes, func, bound)
        if names.count > first:
            many = MANY.of(f)
            if many is not None:
                many.own |= keys.newer(bound.values(), first)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """An activation consumes for itself first."""
        LOG.put(inner, [])
        if not inner.has_keys:  # nearly always
            _ACTIVATION.put(inner, _Activation([], [], self.m.keys.count))
            return
        bound = inner.scope.vars
        own = keys.inside(bound.values())
        handed = _handed(f, bound, own) if own else own
        given = closures.given(bound.values(), own, _called(inner))
        _ACTIVATION.put(inner, _Activation(given, handed, self.m.keys.count))

    def summarise(self, inner: Frame, activation: Activation) -> calls.Summary | None:
        """What it consumes of keys that are older."""
        own = _ACTIVATION.of(inner)
        if own is not None:
            own.summary = calls.summarise(self.ledger, inner, own.given, own.first, activation.value)
        return own.summary if own is not None else None

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """Its caller consumes that as well."""
        own = _ACTIVATION.of(inner)
        if own is not None and own.summary is not None:
            names = calls.renaming(self.ledger, own.summary, own.given, again=False)
            calls.apply(self.ledger, f, activation.at, own.summary, names, own.handed)
            calls.apply_returned(f, activation.at, own.summary, None)

    def replay(self, f: Frame, activation: Activation, summary: calls.Summary) -> Rename | None:
        """A remembered call consumes and makes other keys than the first one did."""
        bound = activation.bound
        inside = keys.inside(bound.values())
        names = calls.renaming(self.ledger, summary, closures.given(bound.values(), inside, activation.func))
        own = _handed(f, bound, inside)
        calls.apply(self.ledger, f, activation.at, summary, names, own)
        calls.apply_returned(f, activation.at, summary, names)
        return names.value

    def on_store(self, f: Frame, store: Store) -> None:
        """The next call finds another key in the place."""
        if store.old is not None and store.kind in _OUTLIVE:
            uses.carried(f, store.old)

    def on_call(self, f: Frame, called: Called) -> None:
        """A call hands a library the keys of its streams, or one to draw from."""
        libraries.sampled(self.ledger, f, called)
        lanes.called(f, called)
        pos = called.args.pos
        if "rngs" in called.args.kw or (pos and type(pos[0]) is Map):
            func = called.node.func
            if type(func) is ir.Attr and type(called.callee) is not Method:
                at = called.node.at
                written = paths.path_key(func) or at  # a module that a call makes is like no other
                libraries.linen_method(self.ledger, f, at, func.name, called.args, False, written)

    def hears_of(self, dotted: str) -> bool:
        """Functions of `jax.random`, and what is called with a key."""
        if dotted.endswith(".__call__") and dotted.startswith(INITIALISERS):
            return True
        known = dotted.startswith((RANDOM, libraries.LAYERS, libraries.LINEN))
        return known or copies.makes(dotted) or constants.hears_of(dotted)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A library draws from a key, or makes one."""
        dotted, owner = library.dotted, library.owner
        if owner is None:
            if dotted.startswith(RANDOM) and self.m.catalogue.function(dotted) is not None:
                unstable.check(self.m, f, library.at, dotted)
                return uses.random_call(self.ledger, f, library.at, dotted, library.args, library.result)
            if copies.makes(dotted):
                return copies.made(self.ledger, f, library.at, dotted, library.args, library.result)
            if dotted.startswith(libraries.LAYERS) and type(library.result) is ExtInst:
                libraries.constructed(self.ledger, f, library.at, dotted, library.args)
        elif constants.hears_of(dotted):
            constants.drawn(self.ledger, f, library)
        elif type(owner) is Inst:
            name = dotted.rpartition(".")[2]
            libraries.linen_method(self.ledger, f, library.at, name, library.args, True, id(owner))
        elif type(owner) is ExtInst and dotted.endswith(".__call__"):
            libraries.called(self.ledger, f, library.at, owner, library.args)
        return None

    def on_repeat(self, inner: Frame, repeat: Repeat) -> None:
        """Keys that are not others in every run are the same in all of them."""
        found = frozenset([key for key in keys.inside(repeat.own) if not copies.is_copy(key)])
        around = MANY.of(inner)
        seeds = bool(found) and all(keys.keys_of(value) for value in repeat.own)
        if repeat.batch and around is not None and not seeds:
            # The lanes of an axis of nothing but keys are repetitions of one experiment: all of its parts share theirs.
            own = found | around.own if around.seeds else found & around.own
        else:
            own = found
        MANY.put(inner, Runs(own, repeat.batch, repeat.devices, seeds, repeat.lanes))

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A module may be mapped together with its key."""
        lanes.mapped(self.ledger, f, transformed)

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A loop has gone through something."""
        passes.gone_through(self.m, f, node, value)
        members.gathered(self.m, f, node)

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        """A loop hands a key on from turn to turn."""
        uses.check_carry(self.ledger, inner, turn.given, turn.returned, turn.paired)

    def finish(self) -> None:
        """Fields whose default is a key, and keys that a module is made with."""
        defaults.check(self.m)
        stored.check(self.ledger)


def _called(inner: Frame) -> Func | None:
    """The function that an activation runs, if it closes over variables of another."""
    around = inner.scope.parent
    if inner.fn is None or around is None or around.fn is None:
        return None
    return Func(inner.fn, around, {})


def _handed(f: Frame, bound: dict[str, Value], given: list[Key]) -> list[Key]:
    """The keys that a call hands over: what a compiled function finds in an object, it has compiled in."""
    if given and f.world.here & S and f.scope.level < f.world.level:
        return keys.without_constants(bound.values())
    return given
