"""Tracers that get out of their trace (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import ExtInst, Func, Inst, Map, Seq, Tree, Value
from jitlint.link.domains.leaks import layers, pending, stores
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Activation, Change, Domain, Library, Store, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions import measuring

Left = tuple[pending.Kept, layers.Writes]
"""What a call leaves in places that are older than it, and what it writes to variables of modules."""


class Leaks(Domain[Left]):
    """Asks of every store inside a trace whether the place outlives what is put there, and at its end what has stayed."""

    keeps = frozenset({layers.WRITES, pending.KEPT})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.leaked: pending.Leaked = {}
        self._modes = measuring.Modes()
        self._homes = stores.Homes()

    def on_store(self, f: Frame, store: Store) -> None:
        """A box, a scope or a cache gets a value."""
        owner, value = store.owner, store.value
        if not f.world.level or value is None:
            return
        kind = store.kind
        if kind in ("attribute", "element", "append"):
            if isinstance(owner, (Inst, Seq, Map)):
                self._stored(f, store, owner, value)
        elif kind in ("global", "nonlocal"):
            stores.stored_in_scope(self.m, f, owner, store.key, value, kind)
        elif kind in ("module", "class"):
            scope = owner if kind == "module" else owner.scope
            stores.stored_in_scope(self.m, f, scope, store.key, value, "attribute")
        elif kind in ("lru_cache", "cached_property") and type(store.key) is Func:
            stores.cached(self.m, f, store.key, owner, value, kind)
        elif kind == "library":
            layers.stored(f, store)
        if type(owner) in (ExtInst, Tree):
            stores.changed(self.m, f, store)

    def _stored(self, f: Frame, store: Store, owner: Inst | Seq | Map, value: Value) -> None:
        """A value goes into a box, or into what a box took in that is older than the trace."""
        what = str(store.key or "") if store.kind == "attribute" else store.form
        where = self._homes.where(owner)
        if store.kind == "attribute":
            self._homes.let_go(pending.place(owner, what))
        stores.take_in(f, owner, value, where or pending.place(owner, what), self._homes)
        stores.stored(self.m, f, store.at, owner, value, store.kind, what, where)

    def hears_of(self, dotted: str) -> bool:
        """Methods of modules, and of streams of keys, and layers that keep statistics."""
        words = lexicon().captures
        return (
            dotted.startswith((layers.MODULE, *words.streams))
            or dotted.removesuffix(".__call__") in words.measuring
            or dotted.removesuffix(".__call__") in lexicon().contracts.makes_parameters
        )

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A module writes to one of its variables, draws a key, or is applied."""
        layers.heard(f, library)
        if f.world.level and type(library.owner) is ExtInst:
            stores.drawn(self.m, f, library)
            if measuring.measures(library, library.owner) and not self._modes.are_set(self.m):
                stores.measured(self.m, f, library, library.owner)
        return None

    def on_change(self, f: Frame, change: Change) -> None:
        """Something is taken out of a container."""
        box = change.box
        if not f.world.level or change.how not in lexicon().containers.taking or surroundings.makes_room(f):
            return
        if isinstance(box, (Seq, Map)):
            stores.taken_out(self.m, f, box)
            self._homes.let_go(pending.place(box, ""))

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """A method that is transformed calls others."""
        given = stores.GIVEN.of(f)
        if given is not None:
            stores.GIVEN.put(inner, given)

    def summarise(self, inner: Frame, activation: Activation) -> Left | None:
        """What a call leaves in older places, it leaves there each time."""
        kept, writes = pending.KEPT.of(inner) or {}, layers.WRITES.of(inner) or ()
        return (kept, writes) if kept or writes else None

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """The caller takes over what the call has stored into older places; outside of the trace that has leaked."""
        left = self.summarise(inner, activation)
        if left is not None:
            self.replay(f, activation, left)

    def replay(self, f: Frame, activation: Activation, summary: Left) -> None:
        """A remembered call stores the same again."""
        kept, writes = summary
        if kept:
            pending.leave(self.leaked, f, kept)
        layers.passed_on(self.m, f, activation.at, writes)

    def finish(self) -> None:
        """Whether somebody reads what has leaked is known when everything has run."""
        pending.record(self.m, self.leaked)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A transformed function may be given objects as they are."""
        layers.transformed(transformed)
        stores.handed(self.m, f, transformed)
        found = stores.given(transformed)
        if transformed.inner.world.level == f.world.level:
            found += stores.GIVEN.of(f) or ()
        stores.GIVEN.put(transformed.inner, found)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """Static fields of a result keep what was put into them."""
        stores.returned(self.m, transformed.inner, transformed.x.target, result)
