"""Errors that are cut before they are squared (layer: ``link``, room ``domains``).

``jnp.clip(error, -1, 1) ** 2`` has no slope where the error is large, so that what is furthest away is never corrected. The Huber loss,
which is meant, has a bounded slope there. What it does: speaks of differences that are cut at a number and its opposite. What it does
not: speak of bounds on either side that are others, as those of ratios and ranges are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ZeroGradient
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import L, Value, const_of
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_by, last_name, path_text
from jitlint.syntax import ir

CLIP: Final = "clip"
_BOUNDS: Final = ("min", "max")


def check(m: Machine, f: Frame, library: Library) -> None:
    """Record an error that a derivative is taken by, and that is squared when it has been cut."""
    call = m.texts.table(f).calls.get(library.at)
    given = [*([library.owner] if library.owner is not None else []), *library.args.pos]
    bounds = [*given[1:], *(library.args.kw[name] for name in _BOUNDS if name in library.args.kw)]
    if call is None or f.module.is_test or not given or not _are_opposite(bounds):
        return
    error = call.func.obj if type(call.func) is ir.Attr and library.owner is not None else call.args[0].value
    written = bound_once.written(f.fn, error)
    is_error = type(written) is ir.BinOp and written.op == "-" and bool(traced_modes(given[0]) & L)
    if is_error and _is_squared(f, call):
        m.emit(
            f, ZeroGradient, library.at, None, Confidence.LIKELY, parameter=path_text(error), cut=True
        )  # fmt: skip


def _are_opposite(bounds: Sequence[Value]) -> bool:
    numbers = [n for n in map(const_of, bounds) if isinstance(n, (int, float))]
    return len(bounds) == len(numbers) == 2 and numbers[0] == -numbers[1] != 0


def _is_squared(f: Frame, call: ir.Call) -> bool:
    """Whether the result of a call goes into a square."""
    parts = f.fn.parts if f.fn is not None else []
    bound = [
        name for part in parts if type(part) is ir.Assign and part.value is call for name in bound_by(part)
    ]
    squares = list(filter(None, map(_squared, parts)))
    return any(node is call or (type(node) is ir.Name and node.id in bound) for node in squares)


def _squared(node: ir.Node) -> ir.Node | None:
    """What an expression is the square of."""
    if type(node) is ir.BinOp and node.op == "**":
        return node.left if type(node.right) is ir.Const and node.right.value == 2 else None
    if type(node) is ir.Call and last_name(node.func) in lexicon().gradients.squaring and node.args:
        return node.args[0].value
    return None
