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
from jitlint.link.tables import bound_once
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
    """A derivative that is added up over axes. place: where it stands in what the call gives, None if it is all of that. mean: where
    what it is taken of is averaged over the part of a device."""

    axes: frozenset[str]
    place: int | None
    mean: Step


SUMS: Final = Slot[Mapping[int, Sum]]()
"""The derivatives of this sort that a function has taken, by their origins."""


def note(m: Machine, f: Frame, transformed: Transformed, result: Value) -> None:
    """A function was differentiated whose result differs from device to device."""
    x = transformed.x
    if x.spec.result not in derivatives.DERIVED:
        return
    number = _differentiated(transformed)
    if number is None:
        return
    aux = x.options.get("has_aux")
    paired = type(aux) is Py and aux.const is True
    items = iteration.known_items(result) if paired else None
    differs = spreading.possible(traced_modes(items[0] if items else result, _DEPTH))
    differs -= spreading.possible(traced_modes(transformed.arrived.pos[number], _DEPTH))
    target = signature(x.target)
    place = sums.gives_mean(m, target.func) if differs and target is not None else None
    if place is not None:
        axes = frozenset(spreading.named(differs, f.world.spread))
        gradients = 1 if x.spec.result == derivatives.VALUED else 0 if paired else None
        found = Sum(axes, gradients, Step(*place, "they are taken of this mean"))
        SUMS.put(f, {**(SUMS.of(f) or {}), transformed.at: found})


def _differentiated(transformed: Transformed) -> int | None:
    """The position of the argument that a derivative is taken by, if that is one."""
    by = transformed.x.options.get("argnums")
    number = 0 if by is None else by.const if type(by) is Py else None
    return number if type(number) is int and 0 <= number < len(transformed.arrived.pos) else None


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
    over = {paths.constant(m, f, part) for part in sums.parts_of(named)} if named is not None else set()
    return not found.axes.isdisjoint(over) or found.axes.issuperset(f.world.spread)


def _held(f: Frame, known: Mapping[int, Sum]) -> Iterator[tuple[str, int]]:
    """The variables that hold gradients of known derivatives, and nothing else before they are averaged."""
    for part in f.fn.parts if f.fn is not None else ():
        if type(part) is not ir.Assign or type(part.value) is not ir.Call or part.value.at not in known:
            continue
        name = _name_at(part.targets[0], known[part.value.at].place)
        if name and all(one is part or _names_itself(one, name) for one in bound_once.bindings(f.fn, name)):
            yield name, part.value.at


def _name_at(target: ir.Expr, place: int | None) -> str:
    """The variable that is set, or the one in a place of several; "" if that is something else."""
    if type(target) is ir.Tuple and place is not None and place < len(target.elts):
        target = target.elts[place]
    return target.id if type(target) is ir.Name else ""


def _names_itself(node: ir.Assign, name: str) -> bool:
    """Whether a variable is only set to what a call makes of it: ``grads = pmean(grads)``."""
    if type(node.value) is not ir.Call:
        return False
    given = [part for arg in node.value.args for part in sums.parts_of(arg.value)]
    return any(type(part) is ir.Name and part.id == name for part in given)


def _averages(m: Machine, f: Frame, call: ir.Call, depth: int = _CALLS) -> list[ir.Expr]:
    """What a call averages: by itself, by what it maps over a tree, or by a function of the project that does only this."""
    dotted, given = paths.dotted(m, f, call.func), [arg.value for arg in call.args]
    if dotted == ratios.MEAN and given:
        return sums.parts_of(given[0])
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
    return [part for name, node in given if name in names for part in sums.parts_of(node)]


def _is_average(m: Machine, f: Frame, node: ir.Expr) -> bool:
    """Whether a function of one leaf averages it: ``lambda g: jax.lax.pmean(g, axis)``."""
    func = f.module.functions[node.function] if type(node) is ir.Lambda else None
    made = only_returned(func.parts) if func is not None else node
    if type(made) is not ir.Call:
        return False
    by_partial = func is None and bool(made.args) and last_name(made.func) == "partial"
    return paths.dotted(m, f, made.args[0].value if by_partial else made.func) == ratios.MEAN
