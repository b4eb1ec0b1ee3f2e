"""Layers of `flax.linen` that need what only ``apply`` can give: a collection to write to, a stream of keys (layer: ``link``, room ``domains``).

What it does: notes what a layer needs where it is called, hands that on from callee to caller, and compares it with what the
``apply`` around gives. What it does not: speak of layers whose mode is not known, or of an ``apply`` whose options are not.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import weaken
from jitlint.infer.places import Step
from jitlint.infer.values import FALSE, NO_CONST, NONE, ExtInst, Map, Py, Seq, Tup, Value, const_of
from jitlint.link.domains.contracts import idle, initialisers, naming, scopes, seeds, variables
from jitlint.link.domains.contracts.needs import Need
from jitlint.link.engine.domain import Activation, Library, Store
from jitlint.link.engine.events import emit_static
from jitlint.link.engine.frame import BY_CHOICE, Args, Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import iteration

LINEN: Final = "flax.linen."
_APPLY: Final = "flax.linen.Module.apply"
_BATCH_NORM: Final = "flax.linen.BatchNorm"
_DROPOUT: Final = "flax.linen.Dropout"
_SWITCHES: Final = {_BATCH_NORM: "use_running_average", _DROPOUT: "deterministic"}
_LAYERS: Final = tuple(_SWITCHES)
_OFF: Final = "$off"
_UNTOLD: Final = "$untold"
_STREAM: Final = "$stream"
_MOST: Final = 16


Needs = tuple[Need, ...]
NEEDS: Final = Slot[Needs]()
_APPLIED: Final = Slot[dict[int, Args]]()
_STARTED: Final = Slot[dict[int, Args]]()
"""Where modules are initialised, and with what."""
_PARAM: Final = "flax.linen.Module.param"
_VARIABLE: Final = "flax.linen.Module.variable"
_MAKE_KEY: Final = "flax.linen.Module.make_rng"
_HAS_KEY: Final = "has_rng"
_PARAMS: Final = "params"
_COLLECTION: Final = "collection"
_RUN: Final = Slot[frozenset[int]]()
"""Where modules are applied, or initialised."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made or called, or a module is applied."""
    dotted, args, owner = library.dotted, library.args, library.owner
    if dotted in lexicon().contracts.running:
        variables.heard(m, f, library)
        seeds.heard(m, f, library)
        _RUN.put(f, (_RUN.of(f) or frozenset()) | {library.at})
        if dotted == _APPLY:
            _APPLIED.put(f, {**(_APPLIED.of(f) or {}), library.at: args})
        else:
            _STARTED.put(f, {**(_STARTED.of(f) or {}), library.at: args})
    elif dotted == _PARAM:
        initialisers.initialised(m, f, library.at, args, 1)
        naming.initialised(m, f, library.at, args)
        _note_parameters(f, library.at, dotted)
    elif dotted == _VARIABLE:
        initialisers.initialised(m, f, library.at, args, 2)
    elif dotted == _MAKE_KEY:
        _note(f, idle.drawn(f, library.at, dotted))
        _note(f, _stream(m, f, library.at, args))
    elif owner is None and type(library.result) is ExtInst:
        initialisers.given(m, f, library)
        naming.made(m, f, library)
        if dotted in lexicon().contracts.compact_layers and args.kw_more is None:
            _note(f, scopes.made(f, library.at, dotted, frozenset(args.kw)))
        if dotted in _LAYERS:
            _remember(library.result, dotted, args)
    elif type(owner) is ExtInst:
        _used(m, f, library, owner)


def _used(m: Machine, f: Frame, library: Library, owner: ExtInst) -> None:
    """A layer is called, or applied by itself."""
    dotted, args = library.dotted, library.args
    if owner.dotted in lexicon().contracts.makes_parameters and dotted == f"{owner.dotted}.__call__":
        _note_parameters(f, library.at, owner.dotted)
    if dotted == f"{owner.dotted}.__call__" and owner.dotted in lexicon().contracts.may_drop:
        _note(f, idle.drawn(f, library.at, owner.dotted))
    if owner.dotted in _LAYERS:
        if dotted == f"{owner.dotted}.__call__":
            _note(f, _need(f, library.at, owner, args))
            _note(f, _read(f, library.at, owner))
            _check_switch(m, f, library.at, owner, _off(owner, args))
            whole = args.more is None and args.kw_more is None
            if whole and not f.sided:
                _check_told(m, f, library.at, owner, args)
            _note(f, idle.called(f, library.at, owner.dotted, _off(owner, args) if whole else None))
        elif dotted == f"{owner.dotted}.apply" and "method" not in args.kw:
            _applied(m, f, library.at, owner, args)


def _stream(m: Machine, f: Frame, at: int, args: Args) -> Need | None:
    """The stream of keys that a module asks for by its name, unless it asks first whether there is one."""
    name = const_of(args.get(0, "name") or Py("str", _PARAMS))
    if m.guards or type(name) is not str:
        return None
    if any(last_name(part) == _HAS_KEY for fn in f.module.functions for part in fn.parts):
        return None
    level = weaken(f.confidence, 1) if f.sided else f.confidence
    return Need("rngs", name, _MAKE_KEY, f.module.name, at, f.qualname, level, sure=not f.sided)


def _remember(layer: ExtInst, dotted: str, args: Args) -> None:
    """How a layer is set: what switches it off, and from which stream it draws."""
    whole = args.more is None and args.kw_more is None
    off = args.get(0 if dotted == _BATCH_NORM else 2, _SWITCHES[dotted])
    if whole:
        layer.attrs[_UNTOLD if off is None else _OFF] = off or NONE
    stream, rate = args.get(3, "rng_collection"), args.get(0, "rate")
    if dotted == _DROPOUT and stream is None and whole and rate is not None and _may_drop(rate):
        layer.attrs[_STREAM] = rate


def _may_drop(rate: Value) -> bool:
    """Whether a rate may be another than zero; of one that is not known, nobody can tell."""
    const = const_of(rate)
    return const is NO_CONST or (type(const) is float and const > 0.0)


def _need(f: Frame, at: int, layer: ExtInst, args: Args) -> Need | None:
    """What a layer needs that is called with these arguments."""
    batch = layer.dotted == _BATCH_NORM
    if _off(layer, args) is not FALSE or args.more is not None or args.kw_more is not None:
        return None
    kind, wanted = ("mutable", "batch_stats") if batch else ("rngs", "dropout")
    if not batch and (_STREAM not in layer.attrs or "rng" in args.kw):
        return None
    sure = batch or const_of(layer.attrs[_STREAM]) is not NO_CONST
    level = f.confidence if sure else weaken(f.confidence, 1)
    return Need(kind, wanted, layer.dotted, f.module.name, at, f.qualname, level, sure=sure)


def _check_switch(m: Machine, f: Frame, at: int, layer: ExtInst, off: Value | None) -> None:
    """What switches a layer off is tested by it, with a Python ``if``, unless it drops nothing anyhow."""
    batch, rate = layer.dotted == _BATCH_NORM, layer.attrs.get(_STREAM)
    if off is None or not (batch or rate is not None):
        return
    name, before = _SWITCHES[layer.dotted], f.confidence
    if rate is not None and const_of(rate) is NO_CONST:
        f.confidence = weaken(before, 1)
    emit_static(m, f, at, layer.dotted, name, off, "TracerBoolConversionError")
    f.confidence = before


def _check_told(m: Machine, f: Frame, at: int, layer: ExtInst, args: Args) -> None:
    """A layer that is nowhere told whether it trains is refused."""
    if _UNTOLD in layer.attrs and _off(layer, args) is None:
        name = _SWITCHES[layer.dotted]
        m.emit(
            f,
            ApiMisuse,
            at,
            api=layer.dotted,
            problem="missing-switch",
            parameter=name,
            exception="ValueError",
        )


def _off(layer: ExtInst, args: Args) -> Value | None:
    """What switches a layer off that is called with these arguments, if it is told."""
    own = args.get(1, "use_running_average" if layer.dotted == _BATCH_NORM else "deterministic")
    return layer.attrs.get(_OFF) if own is None or own is NONE else own


def _read(f: Frame, at: int, layer: ExtInst) -> Need | None:
    """The collection that a layer reads or writes, whatever its mode."""
    if layer.dotted != _BATCH_NORM or f.sided:
        return None
    return Need(_COLLECTION, "batch_stats", layer.dotted, f.module.name, at, f.qualname, f.confidence)


def stored(m: Machine, f: Frame, store: Store) -> None:
    """A variable of a module may be written."""
    _note(f, variables.written(m, f, store))


def _note(f: Frame, need: Need | None) -> None:
    if need is not None:
        _keep(f, (need,))


def _keep(f: Frame, needs: Needs) -> None:
    """Needs are remembered, of those that say only whether a layer is on the first of a kind."""
    held = NEEDS.of(f) or ()
    kinds = {(old.kind, old.name) for old in held if old.kind in idle.KINDS}
    new = [need for need in needs if (need.kind, need.name) not in kinds]
    NEEDS.put(f, (*held, *new)[:_MOST])


def _note_parameters(f: Frame, at: int, api: str) -> None:
    """Parameters are made here, if that is a first run: one note is enough."""
    if not any(need.kind == _PARAMS for need in NEEDS.of(f) or ()):
        _note(f, Need(_PARAMS, _PARAMS, api, f.module.name, at, f.qualname, f.confidence))


def _applied(m: Machine, f: Frame, at: int, layer: ExtInst, args: Args) -> None:
    """A layer is applied by itself, and called with what comes after the variables."""
    need = _need(f, at, layer, Args(args.pos[1:], args.kw, args.more, args.kw_more))
    if need is not None and _lacks(args, need):
        _report(m, f, need, ())


def passed_on(m: Machine, f: Frame, activation: Activation, needs: Needs) -> None:
    """What a called function needs, its caller has to give: itself, if the call is an ``apply``."""
    if not needs:
        return
    at = activation.at
    needs = tuple([need for need in needs if not _is_settled(m, f, activation, need)])
    args = (_APPLIED.of(f) or {}).get(at)
    if args is None:
        _keep(f, needs)
        return
    if f.dispatched == BY_CHOICE:
        # Who chooses between modules has chosen what it gives them by the same conditions.
        needs = tuple([need._replace(confidence=weaken(need.confidence, 1)) for need in needs])
    if len(needs) < _MOST:
        idle.applied(m, f, at, args, needs)
    for need in needs:
        if need.kind in idle.KINDS:
            continue
        if args.more is None and args.kw_more is None and _lacks(args, need):
            if need.kind == _COLLECTION:
                _report_at_apply(m, f, at, need)
            else:
                words = f"`apply` is called without `{need.name}` in `{need.kind}` here"
                _report(m, f, need, (Step(f.module.name, at, words),))


def _is_settled(m: Machine, f: Frame, activation: Activation, need: Need) -> bool:
    """Whether that a module is made somewhere is settled here: a method around may make it, or what was left is run as a
    whole, and none did."""
    if need.kind == _PARAMS:
        return _starts(m, f, activation.at, need)
    if activation.at in (_STARTED.of(f) or {}) and need.kind in ("mutable", _COLLECTION):
        return True  # a first run makes all collections, and may write to them
    if need.kind != scopes.SCOPE:
        return False
    if scopes.meets(need, activation):
        return True
    run = activation.at in (_RUN.of(f) or ())
    if run:
        _report(m, f, need, ())
    return run


def _starts(m: Machine, f: Frame, at: int, need: Need) -> bool:
    """Whether a module is run here that makes parameters: to begin with, it has to get a key for them."""
    args = (_STARTED.of(f) or {}).get(at)
    given = args.get(0, "rngs") if args is not None and args.more is None and args.kw_more is None else None
    if type(given) is Map and not given.open and _PARAMS not in given.entries:
        step = Step(need.module, need.at, f"`{need.api}` makes parameters here")
        m.emit(
            f, ApiMisuse, at, confidence=need.confidence, api=need.api, problem="missing-params",
            parameter=_PARAMS, also=(step,),
        )  # fmt: skip
    return at in (_RUN.of(f) or ())


def _report(m: Machine, f: Frame, need: Need, also: tuple[Step, ...]) -> None:
    m.emit(
        f, ApiMisuse, need.at, confidence=need.confidence, where=(need.module, need.function),
        api=need.api, problem=f"missing-{need.kind}", parameter=need.name, also=also,
    )  # fmt: skip


def _report_at_apply(m: Machine, f: Frame, at: int, need: Need) -> None:
    """What is wrong is what ``apply`` gets, wherever it is read."""
    read = Step(need.module, need.at, f"`{need.api}` reads it here")
    m.emit(
        f, ApiMisuse, at, confidence=need.confidence, api=need.api, problem="missing-collection",
        parameter=need.name, also=(read,),
    )  # fmt: skip


def _lacks(args: Args, need: Need) -> bool:
    """Whether an ``apply`` certainly does not give what a layer needs."""
    if need.kind == _COLLECTION:
        return variables.lacks(args, need)
    given = args.kw.get(need.kind)
    if given is None or given is NONE or given is FALSE:
        return need.sure
    if need.kind == "rngs":  # where a stream is missing, that of the parameters takes its place
        named = given.entries.keys() if type(given) is Map and not given.open else {need.name}
        return not {need.name, "params"} & named and (need.sure or bool(named))
    return _misses(given, need.name)


def _misses(given: Value, name: str) -> bool:
    items = iteration.known_items(given) if isinstance(given, (Tup, Seq)) else [given]
    names = [item.const if type(item) is Py else None for item in items or ()]
    return items is not None and all(isinstance(n, str) for n in names) and name not in names
