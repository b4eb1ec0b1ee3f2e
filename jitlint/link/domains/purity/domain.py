"""What traced code does besides computing (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Bound, ExtInst, Inst, Map, Py, Seq, Tree, Value, Xform
from jitlint.link.domains.purity import (
    copies,
    counters,
    handlers,
    held,
    merged,
    mutations,
    shared,
    side_effects,
    tied,
    unthrown,
)
from jitlint.link.domains.purity.copies import Copies
from jitlint.link.domains.purity.environment import SETS, Environment
from jitlint.link.domains.purity.reused import Reused
from jitlint.link.engine.domain import Activation, Called, Change, Domain, Library, Store, Transformed
from jitlint.link.engine.frame import Args, Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import BOTH
from jitlint.link.values.questions import measuring
from jitlint.syntax import ir

_COPIES: Final = Slot[bool]()
"""Whether a transformed function gets copies of the objects that a library looks after."""
_GIVES_BACK: Final = Slot[bool]()
"""Whether a transformed function hands the modules among its arguments back as it leaves them."""
_ADVANCES: Final = ("next", "iteration")


class Purity(Domain[None]):
    """Listens inside of traces, as a rule. What fails, or leaks, in the same statement has been said before it is asked."""

    callees = frozenset({Bound, Xform})
    nodes = frozenset({ir.Try})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.copies = Copies()
        self.filled = mutations.Filled()
        modes = measuring.Modes()
        self.held = held.Held(modes)
        self.merged = merged.Merged(modes)
        self.reused = Reused(modes)
        self.counters = counters.Counters()
        self.shared = shared.Shared()
        self.environment = Environment()

    def hears_of(self, dotted: str) -> bool:
        """The catalogue knows which calls have an effect, and which change an object that they are given."""
        words = lexicon().captures
        return (
            self.m.catalogue.effect(dotted) is not None
            or dotted in words.updating
            or dotted in words.reporting
            or dotted.removesuffix(".__call__") in words.measuring
            or dotted == held.DROPOUT
            or dotted.startswith((*words.streams, merged.NNX))
        )

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """Output, input, hidden state of the host; which variables of the environment the program sets."""
        if shared.trains(library.dotted):
            self.shared.trains = True
            self.shared.given(f, library.args.pos)
        if self.m.catalogue.effect(library.dotted) == SETS:
            self.environment.is_set(library.args)
        if f.world.modes & BOTH and library.dotted in lexicon().captures.reporting:
            side_effects.chosen(self.m, f, library)
        if f.world.floor and type(library.owner) is ExtInst:
            self.held.used(self.m, self.copies, f, library)
        if f.world.floor and library.dotted in lexicon().captures.updating:
            mutations.updated(self.m, self.copies, f, library)
        elif f.world.floor:
            side_effects.called(self.m, f, library, self.environment)
        if not library.dotted.startswith(merged.NNX) or (
            f.world.level and self.reused.heard(self.m, f, library)
        ):
            return None
        return self.merged.heard(self.m, f, library)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """The outermost traced function gets copies of the dicts that are its arguments."""
        world = inner.world
        if world.floor and inner.fn is not None and f.scope.level < world.floor == world.level:
            copied = _COPIES.of(f) or False
            mutations.entered(self.copies, inner.fn, inner.scope.vars, copied)
            if copied:
                self.held.entered(inner.fn, inner.scope.vars)
            if _GIVES_BACK.of(f):
                self.counters.entered(inner.scope.vars.values())

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """What a compiled function got as a copy is none in another."""
        if self.held.parts and inner.fn is not None and _COPIES.of(f):
            self.held.left(inner.fn)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """Transforms of JAX itself do not hand back what becomes of an object."""
        if transformed.x.spec.name in lexicon().captures.copying:
            _COPIES.put(transformed.inner, True)
        elif transformed.x.spec.name == counters.JIT:
            self.shared.given(f, (*transformed.args.pos, *transformed.args.kw.values()))
            _GIVES_BACK.put(transformed.inner, True)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """What a transformed function returns gets out."""
        self.merged.lost([result])
        unthrown.called(self.m, f, transformed)

    def on_unknown(self, f: Frame, args: Args) -> None:
        """Nobody knows what becomes of the arguments."""
        self.merged.lost([*args.pos, *args.kw.values()])

    def on_store(self, f: Frame, store: Store) -> None:
        """An older object, or a copy that nobody will see, gets another part."""
        world = f.world
        if not world.floor or store.value is None:
            return
        kind, owner = store.kind, store.owner
        self.filled.put(f, store)
        self.merged.lost([store.value])
        self.held.stored(self.copies, f, store)
        self.counters.stored(self.m, f, store)
        if kind in ("attribute", "element"):
            if isinstance(owner, (Inst, Seq, Map)):
                what = str(store.key or "") if kind == "attribute" else ""
                mutations.stored(self.m, self.copies, f, store.at, owner, store.value, kind, what)
            elif type(owner) is Tree and type(store.key) is Py and store.key.kind == "str":
                mutations.lost(self.m, self.copies, f, store.at, owner)
        elif kind in ("global", "nonlocal"):
            if owner.level < world.floor:
                mutations.rebound(self.m, f, f.at, store.key, kind)
        elif kind in ("module", "class"):
            scope = owner if kind == "module" else owner.scope
            if scope.level < world.floor:
                mutations.rebound(self.m, f, f.at, store.key, "attribute")

    def on_change(self, f: Frame, change: Change) -> None:
        """An older object changes itself, or an iterator of the host moves on."""
        if not f.world.floor:
            return
        if change.how in _ADVANCES:
            side_effects.advanced(self.m, f, change.at, change.box, change.how)
        elif change.how == "del":
            mutations.deleted(self.m, f, change.at, change.box, change.part)
        elif isinstance(change.box, (Seq, Map)):
            mutations.called(self.m, self.copies, self.filled, f, change.at, change.box, change.how)

    def on_call(self, f: Frame, called: Called) -> None:
        """Host code hands something to a compiled function."""
        if not f.world.level and type(called.callee) in (Bound, Xform):
            copies.handed(self.copies, f, called.node, called.callee)

    def finish(self) -> None:
        """Whether a caller goes on with what it handed over is known when everything has run."""
        copies.finish(self.m, self.copies)
        self.merged.finish(self.m)
        self.shared.check(self.m)
        tied.check(self.m)

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """The body of a ``try`` has run."""
        if type(node) is ir.Try and f.world.floor:
            handlers.check(self.m, f, node)
        elif type(node) is ir.Try:
            handlers.check_outside(self.m, f, node)
