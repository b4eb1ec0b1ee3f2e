"""Streams of keys that a layer draws from (layer: ``link``, room ``domains``).

What it does: remembers which streams an `nnx.Rngs` was made with, and compares what draws from it. What it does not: speak of
one that has a default, which stands in for every other stream, or that is made of what is not written out.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse, KeyReuse
from jitlint.infer.objects import NOTE, SEEDED
from jitlint.infer.values import FALSE, TRUE, Class, ExtInst, Map, Py, S, Tup, Value
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values.library_objects import SEVERAL
from jitlint.link.values.questions.kinds import methods
from jitlint.syntax import ir

_STREAMS: Final = f"{NOTE}streams"
_DEFAULT: Final = "default"
_PARAMS: Final = "params"
_DROPOUT: Final = "dropout"
_DROPS: Final = "Dropout"
_SCAN: Final = ".scan"


def heard(m: Machine, f: Frame, library: Library) -> Value | None:
    """An object with streams is made, which may give another value, or one of its methods is called."""
    if library.owner is None:
        return _made(f, library)
    _drawn(m, f, library)
    return None


def _made(f: Frame, library: Library) -> Value | None:
    """The object, with the streams that it has; None if that is not known, or it has all."""
    args, result = library.args, library.result
    if type(result) is not ExtInst:
        return None
    if args.more is not None or args.kw_more is not None:
        return ExtInst(result.dotted, {**result.attrs, SEVERAL: TRUE})
    notes: dict[str, Value] = {}
    if f.world.here & S and all(map(_is_number, (*args.pos, *args.kw.values()))):
        notes[SEEDED] = TRUE
    if not args.pos and _DEFAULT not in args.kw:
        notes[_STREAMS] = Tup(tuple(Py("str", name) for name in args.kw))
    return ExtInst(result.dotted, {**result.attrs, **notes}) if notes else None


def _is_number(value: Value) -> bool:
    return type(value) is Py and type(value.const) is int


def _drawn(m: Machine, f: Frame, library: Library) -> None:
    """A stream is asked for by its name: ``rngs.noise()``, or ``rngs()`` for the default."""
    method = library.dotted.rpartition(".")[2]
    call = m.texts.table(f).calls.get(library.at)
    if method == "__call__":
        _check(m, f, library.at, library.owner, _DEFAULT, "")
    elif method not in lexicon().contracts.stream_methods:
        _check(m, f, library.at if call is None else call.func.at, library.owner, method, "")


def given(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made, and draws from what it is given: its first parameters, if nothing else is known of it."""
    contracts = lexicon().contracts
    name = contracts.draws_from.get(library.dotted, _PARAMS)
    since = contracts.asks_since.get(library.dotted)
    early = since is not None and m.catalogue.view.has_flax(*since) is False
    if not early and not any(chosen in library.args.kw for chosen in contracts.chooses_stream):
        _check(m, f, library.at, library.args.kw.get("rngs"), name, library.dotted)


def lifted(m: Machine, f: Frame, library: Library) -> None:
    """A module is mapped, or repeated, so that each has parameters of its own: they are to begin with other numbers."""
    axes, split = library.args.kw.get("variable_axes"), library.args.kw.get("split_rngs")
    if type(axes) is not Map or type(split) is not Map:
        return
    own = axes.entries.get(_PARAMS)
    if type(own) is not Py or type(own.const) is not int:
        return
    how = "lifted" if split.entries.get(_PARAMS) is FALSE else ""
    if not how and split.entries.get(_DROPOUT) is FALSE and library.dotted.endswith(_SCAN):
        how = "masks" if library.args.pos and _drops(library.args.pos[0]) else ""
    if how:
        m.emit(f, KeyReuse, library.at, None, Confidence.LIKELY, api=library.dotted, how=how)


def _drops(layer: Value) -> bool:
    """Whether the methods of a layer drop some of its numbers by chance."""
    code = [part for fn in methods(layer.info) for part in fn.parts] if type(layer) is Class else []
    return any(type(part) is ir.Call and last_name(part.func) == _DROPS for part in code)


def _check(m: Machine, f: Frame, at: int, rngs: Value | None, name: str, api: str) -> None:
    """api: the layer that draws, "" if the program does."""
    streams = rngs.attrs.get(_STREAMS) if type(rngs) is ExtInst else None
    if type(streams) is not Tup or m.guards:
        return
    names = [item.const for item in streams.items if type(item) is Py]
    if name not in names:
        has = ", ".join(f"`{one}`" for one in names)
        m.emit(f, ApiMisuse, at, api=api, problem="missing-stream", parameter=name, detail=has)
