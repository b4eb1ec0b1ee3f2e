"""What library objects do with the PRNG keys they are given (layer: ``link``, room ``domains``).

Only what is clear: layers of Equinox draw from their ``key``; initialisers draw from their first argument; a module of
Flax Linen folds names into the keys of ``init`` and ``apply``, so that only the same kind of call with the same key
repeats itself. Everything else is taken to leave keys alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Key, Use
from jitlint.infer.values import (
    NONE,
    Bound,
    Class,
    ExtInst,
    Func,
    Map,
    Partial,
    Py,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.domains.keys import uses
from jitlint.link.domains.keys.ledger import LOG, Draws, Ledger
from jitlint.link.domains.keys.meant import DRAW
from jitlint.link.engine.domain import Called
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.tables import naming
from jitlint.link.values.keys import keys_of
from jitlint.link.values.library_objects import INITIALISERS
from jitlint.syntax import ir

LAYERS: Final = "equinox.nn."
LINEN: Final = "flax.linen.Module."


def constructed(k: Ledger, f: Frame, at: int, dotted: str, args: Args) -> None:
    """A layer is made: ``eqx.nn.Linear(2, 3, key=key)``."""
    if dotted.startswith(LAYERS):
        _draw(k, f, at, args.kw.get("key"), dotted)


def called(k: Ledger, f: Frame, at: int, obj: ExtInst, args: Args) -> None:
    """A layer or an initialiser is called: ``dropout(x, key=key)``, ``init(key, (2, 3))``."""
    if obj.dotted.startswith(LAYERS):
        _draw(k, f, at, args.kw.get("key"), obj.dotted)
    elif (
        obj.dotted.startswith(INITIALISERS)
        and obj.dotted[len(INITIALISERS) :] not in lexicon().keys.constant_initialisers
    ):
        _draw(k, f, at, args.get(0, "key"), obj.dotted)


def linen_method(k: Ledger, f: Frame, at: int, name: str, args: Args, known: bool, module: object) -> None:
    """``module.init(key, x)`` and ``module.apply(variables, x, rngs={"dropout": key})``.

    What is drawn depends on the places inside a module: another module, or another method, draws others, or none at all.
    module: by what it is told apart. known: the object is a module. Of any other, only keys by the name of a stream say what they are for; where the call
    was followed into a function of the project, that may have consumed them already.
    """
    if name not in lexicon().keys.streamed:
        return
    if name == "apply" and is_silent(args.kw):
        return
    first, given = args.kw.get("rngs"), _first_keys(name, args, known)
    if first is None and given is None:
        return
    api = f"flax.linen.Module.{name}"
    _shared_by_streams(k, f, at, given if first is None else first, api)
    given = given if known else None
    who = f"apply {module} {_method(args, at)}" if name == "apply" else "init"
    site = (f.module.name, at)
    consumed = set() if known else _consumed(f, site)
    for value in (given, first if first is not given else None):
        for stream, key in _by_stream(value, known):
            if key not in consumed:
                uses.use(k, f, at, key, f"linen {who} {stream}", api)


def _consumed(f: Frame, site: tuple[str, int]) -> set[Key]:
    """The keys that a call was seen to consume, where it was followed."""
    return {u.key for u in LOG.of(f) or () if u.site == site and u.stream not in uses.OF_RUNS}


def _first_keys(name: str, args: Args, known: bool) -> Value | None:
    """The keys that a method gets first; of what is not known to be a module, only those that say so by themselves."""
    given = args.get(0, "rngs") if name in lexicon().keys.initialising else None
    return given if known or _starts_streams(given) else None


_FOLLOWED: Final = frozenset({Bound, Class, Func, Partial, Xform})
"""Callees that say themselves what they do with a key."""


def sampled(k: Ledger, f: Frame, called: Called) -> None:
    """``distribution.sample(seed=key)``, of an object that nobody knows: the name says that it draws."""
    func = called.node.func
    if type(func) is not ir.Attr or type(called.callee) in _FOLLOWED:
        return
    if not naming.begins_with(func.name, lexicon().keys.drawing):
        return
    if any(type(alt) in _FOLLOWED for alt in alternatives(called.callee)):
        return
    for value in (*called.args.pos, *called.args.kw.values()):
        _draw(k, f, called.node.at, value, "")


PARAMETERS: Final = "params"
"""The stream from which a module's parameters are drawn."""


def _starts_streams(value: Value | None) -> bool:
    """Whether a dict says by itself that it holds keys by stream."""
    return type(value) is Map and PARAMETERS in value.entries


def _shared_by_streams(k: Ledger, f: Frame, at: int, value: Value | None, api: str) -> None:
    """``{"params": key, "dropout": key}``: streams are told apart by their keys alone. Nothing is drawn for a shape."""
    w = f.world
    if LOG.of(f) is None or w.excused:
        return
    words = lexicon().keys
    unseen = words.output_streams if api.rpartition(".")[2] in words.only_variables else frozenset()
    seen: dict[Key, str] = {}
    for stream, key in _by_stream(value, False):
        if stream in unseen:
            continue
        if key in seen and seen[key] != stream:
            if w.looks:
                if f.fn is not None:
                    k.looked.add(f.fn.id)
                return
            when = (Draws(k, f.fn),) if f.fn is not None and not w.level else ()
            this = Use(key, DRAW, f.module.name, at, f.qualname, api, (f.module.name, at))
            uses.report(k, f, this, this, "streams", when)
            return
        seen[key] = stream


def _method(args: Args, at: int) -> str:
    """Which method is applied; one that is not known is like no other."""
    value = args.kw.get("method")
    if type(value) is Bound:
        value = value.func
    if value is None or value is NONE:
        return "__call__"
    if type(value) is Py and isinstance(value.const, str):
        return value.const
    return str(value.fn.qualname.rpartition(".")[2]) if type(value) is Func else f"at {at}"


def _draw(k: Ledger, f: Frame, at: int, value: Value | None, api: str) -> None:
    for key in keys_of(value):
        uses.use(k, f, at, key, DRAW, api)


def _by_stream(value: Value | None, known: bool) -> Iterator[tuple[str, Key]]:
    """The keys of a dict by their streams; of anything else, if it is ``known`` to be keys, those of no stream."""
    if type(value) is Map:
        for stream, part in value.entries.items():
            yield from ((stream, key) for key in keys_of(part))
    elif known:
        yield from (("", key) for key in keys_of(value))


def is_silent(given: dict[str, Value]) -> bool:
    """Whether a call says that nothing is to be drawn."""
    words = lexicon().keys
    flags = [
        (name in words.enabling, v) for name, v in given.items() if name in words.silencing | words.enabling
    ]
    return any(
        type(value) is Py and value.const is not enabling for enabling, value in flags if _is_flag(value)
    )


def _is_flag(value: Value) -> bool:
    return type(value) is Py and type(value.const) is bool
