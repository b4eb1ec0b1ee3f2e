"""Straight-through estimators written the wrong way round (layer: ``link``, room ``domains``).

``x + stop_gradient(q - x)`` has the value of ``q`` and the slope of ``x``. Where the parts are confused, what cancels in the value does
so in the slope as well, and the sum is nothing but ``q``, or has no slope at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ZeroGradient
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.syntax import ir

_SIGNS: Final = {"+": 1, "-": -1}


class Term(NamedTuple):
    """A part of a sum. sign: 1 or -1. at: where the ``stop_gradient`` is that stands around it, 0 if none does."""

    node: ir.Expr
    sign: int
    at: int

    @property
    def held(self) -> bool:
        """Whether no derivative is taken through it."""
        return bool(self.at)


def check(m: Machine, f: Frame, at: int) -> None:
    """Record the sum in which a call of ``stop_gradient`` is a term, if its slope is not what such sums are written for."""
    if f.fn is None or f.module.is_test:
        return
    for node in _sums(f.fn):
        terms = list(_terms(node, 1, 0))
        if any(term.at == at for term in terms) and len(terms) > 2:
            _look(m, f, node, terms)


def _look(m: Machine, f: Frame, node: ir.BinOp | ir.Call, terms: list[Term]) -> None:
    """A term that is there twice, so that it cancels in the value, should be left in the slope."""
    for one, other in itertools.combinations(terms, 2):
        if one.sign != other.sign and ir_walk.same_text(one.node, other.node):
            left = _left(one, other, [term for term in terms if term is not one and term is not other])
            if left:
                m.emit(
                    f, ZeroGradient, node.at, None, Confidence.CERTAIN,
                    parameter=ir_walk.path_text(one.node), straight=left,
                )  # fmt: skip
                return


def _left(one: Term, other: Term, rest: list[Term]) -> str:
    """The slope of a sum in which two terms cancel, "" where it is one that somebody may want."""
    slope = sum(term.sign for term in (one, other) if not term.held)
    all_held = all(term.held for term in rest)
    if slope:  # `stop_gradient(target) - v` is how errors are written, `2 * stop_gradient(x) - x` what is turned round on purpose
        again = any(ir_walk.same_text(part, one.node) for term in rest for part in ir_walk.nodes(term.node))
        return "turned" if slope < 0 and not all_held and not again else ""
    return "none" if all_held else "rest" if one.held else ""


def _sums(fn: FuncInfo) -> Iterator[ir.BinOp | ir.Call]:
    """The sums of a function that are no terms of others, with the ``stop_gradient`` that stands around one of them."""
    sums = [node for node in fn.parts if type(node) is ir.BinOp and node.op in _SIGNS]
    held = [node for node in fn.parts if type(node) is ir.Call and len(node.args) == 1 and _is_held(node)]
    inner = {id(part) for node in sums for part in (node.left, node.right)}
    inner |= {id(node.args[0].value) for node in held}
    found: list[ir.BinOp | ir.Call] = [*sums, *held]
    return (node for node in found if id(node) not in inner)


def _terms(node: ir.Expr, sign: int, held: int) -> Iterator[Term]:
    """The terms of a sum. held: where a ``stop_gradient`` begins that stands around all of it."""
    if type(node) is ir.BinOp and node.op in _SIGNS:
        yield from _terms(node.left, sign, held)
        yield from _terms(node.right, sign * _SIGNS[node.op], held)
    elif type(node) is ir.Call and len(node.args) == 1 and _is_held(node):
        yield from _terms(node.args[0].value, sign, node.at)
    else:
        yield Term(node, sign, held)


def _is_held(node: ir.Call) -> bool:
    return ir_walk.last_name(node.func) in lexicon().gradients.holding
