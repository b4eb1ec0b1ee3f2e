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
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

CLIP: Final = "clip"
_BOUNDS: Final = ("min", "max")


def check(m: Machine, f: Frame, library: Library) -> None:
    """Record an error that a derivative is taken by, and that is squared when it has been cut."""
    given = [*([library.owner] if library.owner is not None else []), *library.args.pos]
    if f.fn is None or f.module.is_test or not given or not traced_modes(given[0]) & L:
        return
    named = [library.args.kw[name] for name in _BOUNDS if name in library.args.kw]
    call = m.texts.table(f).calls.get(library.at)
    if call is None or not call.args or not _are_opposite([*given[1:], *named]):
        return
    own = library.owner is not None and type(call.func) is ir.Attr
    error = call.func.obj if own and type(call.func) is ir.Attr else call.args[0].value
    written = derivatives.written(f.fn, error)
    if type(written) is ir.BinOp and written.op == "-" and _is_squared(f, call):
        m.emit(
            f, ZeroGradient, library.at, None, Confidence.LIKELY, parameter=path_text(error), straight="cut"
        )  # fmt: skip


def _are_opposite(bounds: Sequence[Value]) -> bool:
    numbers = [n for n in map(const_of, bounds) if isinstance(n, (int, float))]
    return len(bounds) == len(numbers) == 2 and numbers[0] == -numbers[1] != 0


def _is_squared(f: Frame, call: ir.Call) -> bool:
    """Whether the result of a call goes nowhere but into a square."""
    parts = f.fn.parts if f.fn is not None else []
    names = [part.targets for part in parts if type(part) is ir.Assign and part.value is call]
    target = names[0][0] if names and len(names[0]) == 1 else None
    name = target.id if type(target) is ir.Name else ""
    for part in parts:
        inside: ir.Node | None = None
        if type(part) is ir.BinOp and part.op == "**":
            inside = part.left if type(part.right) is ir.Const and part.right.value == 2 else None
        elif type(part) is ir.Call and last_name(part.func) in lexicon().gradients.squaring and part.args:
            inside = part.args[0].value
        if inside is call or (name and type(inside) is ir.Name and inside.id == name):
            return True
    return False
