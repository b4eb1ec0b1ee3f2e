"""Modules of Equinox that get another Python number at every turn (layer: ``link``, room ``domains``).

`equinox.filter_jit` takes each leaf of an argument that is not an array as static, a number of Python's in a module among them.
What it does: reads what the innermost loop around a call makes of the module, by `equinox.tree_at` or by its constructor. What it
does not: speak of fields that make an array of what they are given.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Class
from jitlint.link.domains.compilation.bindings import calls_for
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.tables.ir_walk import by_parameter
from jitlint.link.tables.storing import kept_as_given
from jitlint.link.values.questions.kinds import converts, function_of, member, mro
from jitlint.syntax import ir

_TREE_AT: Final = "equinox.tree_at"
_ROLE: Final = "eqx"


def rebuilt(variation: Variation, node: ir.Expr) -> str:
    """How a number in a module changes from turn to turn; "" when none does, as far as known."""
    made: ir.Node | None = node
    if type(node) is ir.Name and variation.loops:
        calls = [call for call in calls_for(variation, node.id) if _is_made(variation, call)]
        made = calls[0] if len(calls) == 1 else None
    if type(made) is not ir.Call or not variation.loops:
        return ""
    return next((how for part in _numbers(variation, made) if (how := variation.scalar(part))), "")


def _is_made(variation: Variation, call: ir.Call) -> bool:
    return variation.dotted(call.func) == _TREE_AT or _class(variation, call) is not None


def _class(variation: Variation, call: ir.Call) -> ClassInfo | None:
    value = variation.static(call.func)
    return value.info if type(value) is Class and value.info.role == _ROLE else None


def _numbers(variation: Variation, call: ir.Call) -> Iterator[ir.Expr]:
    """What a call puts into a module as it is."""
    info = _class(variation, call)
    if info is None:
        yield from (arg.value for arg in call.args[2:] if not arg.star and arg.name in (None, "replace"))
        return
    init = function_of(member(info, "__init__"))
    if init is not None:
        kept = {given.id for _, given in kept_as_given(init.node.params, init.parts)}
        yield from (value for name, value in by_parameter(call, init.node.params[1:]) if name in kept)
    else:
        yield from _of_fields(info, call)


def _of_fields(info: ClassInfo, call: ir.Call) -> Iterator[ir.Expr]:
    """What a constructor that is made of fields puts into those that make nothing of it."""
    converted = {name for cls in mro(info) for name, (_, default) in cls.fields.items() if converts(default)}
    places = list(info.fields) if len(mro(info)) == 1 else []
    for i, arg in enumerate(call.args):
        name = arg.name or "".join(places[i : i + 1])
        if name and not arg.star and name not in converted:
            yield arg.value
