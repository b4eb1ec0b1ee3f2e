"""What objects of libraries ask of those who call their methods (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Bound, Inst, Value
from jitlint.link.domains.contracts import (
    averaged,
    decaying,
    dropping,
    gradients,
    initialisers,
    labels,
    layers,
    linen,
    nnx,
    optimisers,
    schedules,
    scopes,
    sown,
    streams,
    unbound,
    usage,
)
from jitlint.link.domains.contracts.starts import Starts
from jitlint.link.engine.domain import Activation, Called, Domain, Library, Store, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


class Contracts(Domain[linen.Needs]):
    """Knows of an optimiser whether it needs the parameters, and of layers what an ``apply`` around must give them."""

    callees = frozenset({Bound, Inst})
    hears_names = True
    keeps = frozenset({linen.NEEDS})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.starts = Starts()
        self.turned = decaying.Turned()
        self.sown = sown.Sown()

    def on_call(self, f: Frame, called: Called) -> None:
        """A module may be one that is called by itself, or gradients may be applied."""
        gradients.applied(self.m, f, called)
        if type(called.callee) not in self.callees:
            return
        scopes.called_module(self.m, f, called)
        unbound.called_method(self.m, f, called)
        if type(called.callee) is Inst:
            unbound.called_attribute(self.m, f, called.node)

    def on_module(self, f: Frame) -> None:
        """What the body of a Python module calls surely runs."""
        unbound.began(f)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """What a module calls may get modules that are bound."""
        unbound.entered(f, inner)

    def on_store(self, f: Frame, store: Store) -> None:
        """A field of a module may get what it cannot hold."""
        if store.kind == "attribute" and type(store.owner) is Inst:
            nnx.stored(self.m, f, store)
        elif store.kind == "library":
            linen.stored(self.m, f, store)

    def hears_of(self, dotted: str) -> bool:
        """Optimisers and layers."""
        named = (
            optimisers.OPTAX,
            linen.LINEN,
            dropping.DROPOUT,
            nnx.OPTIMISER,
            nnx.SPLIT,
            *lexicon().captures.streams,
        )
        contracts = lexicon().contracts
        return dotted.startswith(named) or dotted in contracts.makes_with or dotted in contracts.draws_from

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """One is made, or called."""
        if library.dotted.startswith(tuple(lexicon().captures.streams)):
            return streams.heard(self.m, f, library)
        if library.dotted in lexicon().contracts.lifting:
            streams.lifted(self.m, f, library)
        elif library.dotted.startswith(optimisers.OPTAX):
            optimisers.heard(self.m, f, library, self.starts)
            labels.heard(self.m, f, library)
            decaying.made(self.m, f, library, self.turned)
            averaged.heard(self.m, f, library)
            schedules.made(self.m, f, library)
        elif library.dotted.startswith(dropping.DROPOUT):
            dropping.heard(self.m, f, library)
        elif library.dotted == nnx.SPLIT:
            nnx.split(self.m, f, library)
        elif library.dotted.startswith(nnx.OPTIMISER):
            nnx.heard(self.m, f, library)
        elif library.dotted in lexicon().contracts.draws_from:
            streams.given(self.m, f, library)
        elif library.dotted in lexicon().contracts.makes_with:
            layers.heard(self.m, f, library)
            initialisers.given(self.m, f, library)
            streams.given(self.m, f, library)
        else:
            if library.dotted == sown.SOW:
                self.sown.heard(f, library)
            linen.heard(self.m, f, library)
            unbound.heard(f, library)
            unbound.called_layer(self.m, f, library)
            scopes.called_layer(self.m, f, library)
        return None

    def finish(self) -> None:
        """What calls make mutable is known when everything has run."""
        self.sown.check(self.m)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A function has been differentiated."""
        usage.derived(self.m, f, transformed)

    def summarise(self, inner: Frame, activation: Activation) -> linen.Needs | None:
        """What layers in it need."""
        return linen.NEEDS.of(inner)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """Its caller has to give that, unless it is an ``apply``."""
        unbound.left(f)
        linen.passed_on(self.m, f, activation, linen.NEEDS.of(inner) or ())

    def replay(self, f: Frame, activation: Activation, summary: linen.Needs) -> None:
        """Layers need the same again."""
        unbound.left(f)
        linen.passed_on(self.m, f, activation, summary)
