"""Weights that an optimiser adds where they are to be taken away (layer: ``link``, room ``domains``).

``optax.add_decayed_weights`` adds a part of the weights to what it gets. That makes them smaller only where a negative factor
follows. What it does: looks for a positive part behind the factor that turns gradients into updates. What it does not: speak of
parts that are not known, of chains with something unknown behind them, or of those that become a part of another that turns them.
Source: https://optax.readthedocs.io/en/latest/api/transformations.html#optax.add_decayed_weights
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OddOptimiser
from jitlint.infer.values import TRUE, ExtInst, Func, Map, Py, Value, const_of, py
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.tables import bound_once
from jitlint.link.tables.results import only_returned
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

_DECAY: Final = "optax.add_decayed_weights"
_CHAIN: Final = "optax.chain"
_MASKED: Final = "optax.masked"
_SCALE: Final = "optax.scale"
_RATE: Final = "optax.scale_by_learning_rate"
_SCHEDULE: Final = "optax.scale_by_schedule"
_ADDED: Final = "$adds weights"
"""The attribute in which a transformation remembers which part of the weights it adds."""
_SIGN: Final = "$sign"
"""Where one remembers the sign of what it multiplies with."""
_SITES: Final = "$adds weights at"
"""Of what adds them behind a negative factor, or has chains inside that do: where, in one text."""


class Turned:
    """Chains that become a part of others, in which something may turn what they give."""

    def __init__(self) -> None:
        self.sites: set[str] = set()


def made(m: Machine, f: Frame, library: Library, turned: Turned) -> None:
    """A transformation of gradients is made."""
    dotted, args, out = library.dotted, library.args, library.result
    if library.owner is not None or type(out) is not ExtInst or args.more is not None:
        return
    sites = {site for part in args.pos for site in _sites(part)}
    if dotted == _CHAIN:
        _note_turned(args.pos, turned)
        sites |= _check(m, f, library.at, args.pos, turned)
    elif dotted in (_DECAY, _MASKED):
        part = _number(args.get(0, "weight_decay")) if dotted == _DECAY else _added(args.get(0, "inner"))
        out.attrs |= {_ADDED: py(part)} if part > 0 else {}
    sign = _sign(m, f, library.at, dotted, args)
    out.attrs |= {_SIGN: py(sign)} if sign else {}
    out.attrs |= {_SITES: py("\n".join(sorted(sites)))} if sites else {}


def _check(m: Machine, f: Frame, at: int, parts: Sequence[Value], turned: Turned) -> set[str]:
    """Record the weights that a chain adds behind a negative factor, and give where that is."""
    sign = 1
    for place, part in enumerate(parts):
        if sign < 0 and _added(part) and all(map(_keeps, parts[place + 1 :])) and not f.module.is_test:
            where = _written(m, f, at, place)
            site = f"{f.module.name} {where}"
            m.emit(
                f, OddOptimiser, where, None, Confidence.LIKELY, when=(_GoesNowhere(turned, site),),
                problem="grows", name=_DECAY, detail=f"{_added(part):g}",
            )  # fmt: skip
            return {site}
        sign *= _sign_of(part) or 1
    return set()


def _note_turned(parts: Sequence[Value], turned: Turned) -> None:
    for place, part in enumerate(parts):
        if not all(map(_keeps, parts[place + 1 :])):
            turned.sites |= _sites(part)


def _sites(part: Value) -> set[str]:
    """Where what a transformation is made of adds weights behind a negative factor."""
    if type(part) is Map:
        return {site for one in part.entries.values() for site in _sites(one)}
    sites = part.attrs.get(_SITES) if type(part) is ExtInst else None
    return set(str(sites.const).split("\n")) if type(sites) is Py else set()


def _written(m: Machine, f: Frame, at: int, place: int) -> int:
    """Where an argument of a chain is written, the chain itself if that is not in it."""
    call = m.texts.table(f).calls.get(at)
    args = call.args if call is not None and not any(arg.star for arg in call.args) else []
    return args[place].value.at if place < len(args) else at


def _keeps(part: Value) -> bool:
    """Whether what a transformation gives certainly has the sign of what it gets."""
    if type(part) is not ExtInst:
        return False
    scales = part.dotted == _SCALE and _sign_of(part) > 0
    return scales or part.dotted in lexicon().contracts.clipping or _added(part) > 0


def _sign(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> int:
    """The sign of what a transformation multiplies with, 0 if it is not known."""
    words = lexicon().contracts
    if dotted == _CHAIN:
        return math.prod(_sign_of(part) or 1 for part in args.pos)
    if dotted in words.composing:
        return _sign_inside(args.get(0, "inner"))
    if dotted == _SCALE:
        number, call = _number(args.get(0, "step_size")), m.texts.table(f).calls.get(at)
        node = bound_once.written(f.fn, derivatives.argument(call, 0, "step_size"))
        return (number > 0) - (number < 0) or -_is_minus(node)
    if dotted == _SCHEDULE:
        return -_gives_minus(args.get(0, "step_size_fn"))
    if dotted in words.complete or (dotted == _RATE and args.kw.get("flip_sign", TRUE) is TRUE):
        return 1 if _number(args.get(0, "learning_rate")) < 0 else -1
    return 0


def _sign_inside(inner: Value | None) -> int:
    """The sign of a transformation that another has inside, or that all of several have."""
    several = list(inner.entries.values()) if type(inner) is Map else [inner]
    signs = {_sign_of(part) for part in several}
    return signs.pop() if len(signs) == 1 else 0


def _sign_of(part: Value | None) -> int:
    sign = part.attrs.get(_SIGN) if type(part) is ExtInst else None
    return -1 if type(sign) is Py and sign.const == -1 else int(type(sign) is Py)


def _added(part: Value | None) -> float:
    """Which part of the weights a transformation adds, 0 if it adds none, or that is not known."""
    return _number(part.attrs.get(_ADDED)) if type(part) is ExtInst else 0


def _number(value: Value | None) -> float:
    """A number that is known, else 0."""
    const = const_of(value) if value is not None else None
    return float(const) if isinstance(const, (int, float)) else 0


def _is_minus(node: ir.Node | None) -> bool:
    """Whether an expression is written with a minus: ``-rate``, ``-1 * rate``."""
    if type(node) is ir.BinOp and node.op in ("*", "/"):
        return _is_minus(node.left) != _is_minus(node.right)
    return type(node) is ir.UnaryOp and node.op == "-"


def _gives_minus(schedule: Value | None) -> bool:
    return type(schedule) is Func and _is_minus(only_returned(schedule.fn.parts))


class _GoesNowhere:
    """A chain is no part of another that may turn what it gives."""

    def __init__(self, turned: Turned, site: str) -> None:
        self._turned = turned
        self._site = site

    def holds(self, found: Found) -> bool:
        """Whether that is so in the whole program."""
        return self._site not in self._turned.sites
