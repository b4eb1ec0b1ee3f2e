"""Layers of `flax.linen` with one name for several, and with initialisers for other shapes (layer: ``link``, room ``domains``).

What it does: looks at the names that layers get where one method makes them, and at the initialisers of what has one axis. What
it does not: speak of names that are put together, of what only some paths make, or of loops whose length nobody knows.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import ExtInst, Seq, Tup, Value, const_of
from jitlint.link.domains.contracts.scopes import is_compact
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import iteration, paths
from jitlint.syntax import ir

_NAMED: Final = Slot[dict[str, int]]()
"""The names that layers got in this activation, and where."""
_BIAS: Final = "bias_init"


def made(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made: under which name, and how its bias begins."""
    init = library.args.kw.get(_BIAS)
    if _wants_matrix(init):
        _report(m, f, library.at, init, "the shape of a bias")
    name = library.args.kw.get("name")
    text = const_of(name) if name is not None else None
    if not isinstance(text, str) or f.fn is None or f.sided or not is_compact(f.fn):
        return
    before = _NAMED.of(f) or {}
    if before.get(text, library.at) != library.at or _repeats(m, f):
        m.emit(f, ApiMisuse, library.at, api=library.dotted, problem="name-in-use", parameter=text)
    _NAMED.put(f, {**before, text: library.at})


def initialised(m: Machine, f: Frame, at: int, args: Args) -> None:
    """``self.param(name, init, shape)`` in a module."""
    init, shape = args.get(1, "init_fn"), args.get(2, "shape")
    items = iteration.known_items(shape) if isinstance(shape, (Tup, Seq)) else None
    if _wants_matrix(init) and items is not None and len(items) < 2:
        _report(m, f, at, init, "a shape with one axis" if items else "a shape without axes")


def _wants_matrix(init: Value | None) -> bool:
    return type(init) is ExtInst and init.dotted in lexicon().contracts.of_matrices


def _report(m: Machine, f: Frame, at: int, init: Value | None, detail: str) -> None:
    api = init.dotted if type(init) is ExtInst else ""
    m.emit(f, ApiMisuse, at, api=api, problem="wrong-call", detail="few-axes", parameter=detail)


def _repeats(m: Machine, f: Frame) -> bool:
    """Whether the loop around certainly turns more than once."""
    loop = f.loops[-1] if f.loops else None
    if type(loop) is not ir.For or len(f.loops) > 1:
        return False
    source = loop.iter
    if type(source) is ir.Call and last_name(source.func) == "range" and len(source.args) == 1:
        bound = source.args[0].value
        value = paths.peek(m, f, bound)
        number = bound.value if type(bound) is ir.Const else const_of(value) if value is not None else None
        return type(number) is int and number > 1
    value = paths.peek(m, f, source)
    items = iteration.known_items(value) if isinstance(value, (Tup, Seq)) else None
    return items is not None and len(items) > 1
