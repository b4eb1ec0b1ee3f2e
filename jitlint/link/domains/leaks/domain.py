"""Tracers that get out of their trace (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.infer.values import Func, Inst, Map, Seq, Value
from jitlint.link.domains.leaks import stores
from jitlint.link.engine.domain import Domain, Store, Transformed
from jitlint.link.engine.machine import Frame


class Leaks(Domain[None]):
    """Asks of every store inside a trace whether the place outlives what is put there."""

    def on_store(self, f: Frame, store: Store) -> None:
        """A box, a scope or a cache gets a value."""
        owner, value = store.owner, store.value
        if not f.world.level or value is None:
            return
        kind = store.kind
        if kind in ("attribute", "element", "append"):
            if isinstance(owner, (Inst, Seq, Map)):
                what = str(store.key or "") if kind == "attribute" else store.form
                stores.stored(self.m, f, store.at, owner, value, kind, what)
        elif kind in ("global", "nonlocal"):
            stores.stored_in_scope(self.m, f, owner, store.key, value, kind)
        elif kind in ("module", "class"):
            scope = owner if kind == "module" else owner.scope
            stores.stored_in_scope(self.m, f, scope, store.key, value, "attribute")
        elif kind in ("lru_cache", "cached_property") and type(store.key) is Func:
            level = owner.level if kind == "cached_property" else store.key.scope.level
            stores.cached(self.m, f, store.key, level, value, kind)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """Static fields of a result keep what was put into them."""
        stores.returned(self.m, transformed.inner, transformed.x.target, result)
