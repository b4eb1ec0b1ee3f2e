"""Derivatives that are zero, as nothing smooth leads from the arguments to the result (layer: ``link``, room ``models``).

Rounding, comparing and picking the largest have slope zero: what is computed with nothing else has no gradient. What it does: looks
at results that no longer depend on the arguments as far as derivatives go, of functions that only call JAX and each other. What
it does not: speak of what layers and optimisers compute, or of results in which another argument is left.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import Arr, Ext, Func, L, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import inner_functions, last_name
from jitlint.link.values import paths
from jitlint.syntax import ir

_DEEP: Final = 3
"""So many functions that call each other are looked through."""


def is_flat(m: Machine, target: Value, result: Value) -> bool:
    """Whether a function certainly gives a float that does not change with what it is differentiated by, for a reason that it shows."""
    if type(target) is not Func or type(result) is not Arr or result.modes & L or result.kind is not SEEN:
        return False
    if result.dtype != "float" or target.owner is not None:
        return False
    reasons: set[str] = set()
    return _is_plain(m, target, reasons, _DEEP) and bool(reasons)


def _is_plain(m: Machine, func: Func, reasons: set[str], depth: int) -> bool:
    """Whether a function calls nothing but what is known; reasons: gets what it calls that has no slope."""
    fn = func.fn
    if not depth or fn.node.decorators or fn.node.is_generator:
        return False
    if any(not inner.node.is_lambda for inner in inner_functions(fn.module, fn.body)):
        return False
    inside = Frame(fn.module, func.scope, HOST)
    for node in fn.parts:
        if type(node) is ir.Compare:
            reasons.add("compare")
        if type(node) is ir.Call and not _is_known(m, inside, node, reasons, depth):
            return False
    return True


def _is_known(m: Machine, inside: Frame, node: ir.Call, reasons: set[str], depth: int) -> bool:
    name = last_name(node.func)
    callee = paths.peek(m, inside, node.func) if isinstance(node.func, (ir.Name, ir.Attr)) else None
    if type(callee) is Func:
        return callee.owner is None and _is_plain(m, callee, reasons, depth - 1)
    is_method = type(node.func) is ir.Attr and type(callee) is not Ext
    known = m.catalogue.array_method(name) is not None if is_method else False
    if type(callee) is Ext:
        known = callee.dotted.startswith(lexicon().gradients.computing)
    if known and name in lexicon().gradients.without_slope:
        reasons.add(name)
    return known
