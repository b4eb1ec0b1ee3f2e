"""Gradients that are averaged although they are a sum already (layer: ``link``, room ``domains``).

Inside of `jax.shard_map` that checks what differs, the derivative by what is the same on all devices is added up over them when it is
transposed, so that `jax.lax.pmean` of it changes nothing. What it does: notes which derivatives of a mean are such sums, and finds what
averages them afterwards. What it does not: speak where the function divides them, or asks how many devices there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer import spreading
from jitlint.infer.lattice import traced_modes
from jitlint.infer.places import Step
from jitlint.infer.values import Func, Py, Value
from jitlint.link.domains.devices import ratios, sums
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import by_parameter, last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import iteration, paths
from jitlint.link.values.questions import derivatives
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir

_DEPTH: Final = 8
_CALLS: Final = 2
"""So many helpers in each other are read."""


class Sum(NamedTuple):
    """A derivative that is added up over axes. mean: where what it is taken of is averaged over the part of a device."""

    axes: frozenset[str]
    mean: Step


SUMS: Final = Slot[Mapping[int, Sum]]()
"""The derivatives of this sort that a function has taken, by their origins."""


def note(m: Machine, f: Frame, transformed: Transformed, result: Value) -> None:
    """A function was differentiated whose result differs from device to device."""
    x = transformed.x
    if x.spec.result not in derivatives.DERIVED:
        return
    by = x.options.get("argnums")
    number = 0 if by is None else by.const if type(by) is Py else None
    if type(number) is not int or not 0 <= number < len(transformed.arrived.pos):
        return
    items = iteration.known_items(result) if "has_aux" in x.options else None
    differs = spreading.possible(traced_modes(items[0] if items else result, _DEPTH))
    differs -= spreading.possible(traced_modes(transformed.arrived.pos[number], _DEPTH))
    target = signature(x.target)
    place = sums.gives_mean(m, target.func) if differs and target is not None else None
    if place is not None:
        axes = frozenset(f.world.spread[i] for i in differs)
        found = Sum(axes, Step(*place, "they are taken of this mean"))
        SUMS.put(f, {**(SUMS.of(f) or {}), transformed.at: found})


def averaged(m: Machine, f: Frame, known: Mapping[int, Sum]) -> Iterator[tuple[int, Sum]]:
    """Where a function averages such gradients, which it holds in a variable or takes on the spot."""
    if f.fn is None or not known:
        return
    held = {name: known[at] for name, at in _held(f, known)}
    for call in f.fn.parts:
        if type(call) is not ir.Call:
            continue
        for node in _averages(m, f, call):
            found = held.get(node.id) if type(node) is ir.Name else None
            found = known.get(node.at) if type(node) is ir.Call else found
            if found is not None and _is_over(m, f, call, found) and not sums.is_divided(f, f.fn, call):
                yield call.at, found


def _is_over(m: Machine, f: Frame, call: ir.Call, found: Sum) -> bool:
    """Whether a call averages over axes that the gradients are a sum over: it names one, or there is no other."""
    named = derivatives.argument(call, 1, "axis_name")
    values = [paths.peek(m, f, part) or part for part in _parts(named)] if named is not None else []
    texts = {getattr(value, "value", getattr(value, "const", None)) for value in values}
    return not found.axes.isdisjoint(texts) or found.axes.issuperset(f.world.spread)


def _held(f: Frame, known: Mapping[int, Sum]) -> Iterator[tuple[str, int]]:
    """The variables that hold gradients of known derivatives, and nothing else before they are averaged."""
    for part in f.fn.parts if f.fn is not None else ():
        if type(part) is not ir.Assign or type(part.value) is not ir.Call or part.value.at not in known:
            continue
        target = part.targets[0]
        if type(target) is ir.Tuple and target.elts:
            target = target.elts[-1] if _gives_value(f, part.value) else target.elts[0]
        others = derivatives.bindings(f.fn, target.id) if type(target) is ir.Name else []
        if type(target) is ir.Name and all(one is part or _names_itself(one, target.id) for one in others):
            yield target.id, part.value.at


def _gives_value(f: Frame, call: ir.Call) -> bool:
    made = derivatives.written(f.fn, call.func)
    return last_name(made.func if type(made) is ir.Call else call.func).endswith(derivatives.VALUED)


def _names_itself(node: ir.Assign, name: str) -> bool:
    """Whether a variable is only set to what a call makes of it: ``grads = pmean(grads)``."""
    if type(node.value) is not ir.Call:
        return False
    given = [part for arg in node.value.args for part in _parts(arg.value)]
    return any(type(part) is ir.Name and part.id == name for part in given)


def _parts(node: ir.Expr) -> list[ir.Expr]:
    return list(node.elts) if isinstance(node, (ir.Tuple, ir.List)) else [node]


def _averages(m: Machine, f: Frame, call: ir.Call, depth: int = _CALLS) -> list[ir.Expr]:
    """What a call averages: by itself, by what it maps over a tree, or by a function of the project that does only this."""
    dotted, given = paths.dotted(m, f, call.func), [arg.value for arg in call.args]
    if dotted == ratios.MEAN and given:
        return _parts(given[0])
    if dotted in lexicon().arrays.pure_maps and len(given) > 1:
        return given[1:] if _is_average(m, f, given[0]) else []
    return [] if dotted or not depth else _averaged_by_helper(m, f, call, depth)


def _averaged_by_helper(m: Machine, f: Frame, call: ir.Call, depth: int) -> list[ir.Expr]:
    """What a call hands to parameters that a function of the project only averages, and returns."""
    helper = paths.peek(m, f, call.func)
    returned = only_returned(helper.fn.parts) if type(helper) is Func else None
    if type(helper) is not Func or type(returned) is not ir.Call:
        return []
    inside = Frame(helper.fn.module, helper.scope, HOST, fn=helper.fn)
    names = {part.id for part in _averages(m, inside, returned, depth - 1) if type(part) is ir.Name}
    given = by_parameter(call, helper.fn.node.params)
    return [part for name, node in given if name in names for part in _parts(node)]


def _is_average(m: Machine, f: Frame, node: ir.Expr) -> bool:
    """Whether a function of one leaf averages it: ``lambda g: jax.lax.pmean(g, axis)``."""
    func = f.module.functions[node.function] if type(node) is ir.Lambda else None
    made = only_returned(func.parts) if func is not None else node
    if type(made) is not ir.Call:
        return False
    by_partial = func is None and bool(made.args) and last_name(made.func) == "partial"
    return paths.dotted(m, f, made.args[0].value if by_partial else made.func) == ratios.MEAN
