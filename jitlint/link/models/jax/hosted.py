"""What callbacks are told of the results of their functions (layer: ``link``, room ``models``).

What it does: says where numbers stand for the description of a result, as those of a shape do, and where what a function
certainly gives has another shape than is said of it. What it does not: count the axes that a map adds to both.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NO_CONST, Arr, B, ExtInst, Py, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import closed_over
from jitlint.link.values import fitting, iteration, pytrees
from jitlint.link.values.questions.signatures import describe

_DESCRIBED: Final = "result_shape_dtypes"


def check(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """Record a description with a number in it: of each leaf, JAX asks the shape and the dtype (measured). And what the callback reads
    that it does not get."""
    closed_over.check_callback(m, f, at, spec, named)
    told = named.get(_DESCRIBED) if _DESCRIBED in spec.params else None
    items = told.items if type(told) is Tup and told.cls is None else (told,)
    if any(type(item) is Py and item.kind in pytrees.NUMBERS for item in items) and not m.guards:
        m.emit(
            f, ApiMisuse, at, api=spec.name, problem="wrong-call", parameter=_DESCRIBED, detail="shape",
            exception="AttributeError",
        )  # fmt: skip


def check_result(
    m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value], result: Value
) -> None:
    """The function has run. Record a result whose shape is not the described one: JAX compares them when it comes back."""
    method = named.get("vmap_method")
    each = type(method) is Py and method.const == "sequential"
    if _DESCRIBED not in spec.params or m.guards or f.world.looks or (f.world.modes & B and not each):
        return  # what is mapped arrives with more axes, or one after the other, as the callback asks for
    told = named.get(_DESCRIBED)
    pairs = [(told, result)]
    if type(told) is Tup and type(result) is Tup and len(told.items) == len(result.items):
        pairs = list(zip(told.items, result.items))
    for description, given in pairs:
        wanted, found = _described(description), _shape_of(given)
        if wanted is not None and found is not None and not fitting.may_be_equal(wanted, found):
            m.emit(
                f, ApiMisuse, at, api=spec.name, problem="wrong-call", parameter=describe(named[spec.params[0]]),
                detail=f"described {shape_text(wanted)} as {shape_text(found)}", exception="jax.errors.JaxRuntimeError",
            )  # fmt: skip
            return


def _described(value: Value | None) -> Dims | None:
    """The sizes that the description of an array tells."""
    if type(value) is not ExtInst or value.dotted != pytrees.ABSTRACT_ARRAY:
        return None
    items = iteration.known_items(value.attrs["shape"])
    if items is None:
        return None
    return tuple(map(fitting.int_of, items))


def _shape_of(value: Value) -> Dims | None:
    """The sizes of what code on the host certainly gave."""
    if type(value) is Arr and value.kind is SEEN and not value.weak and value.dtype != "key":
        return fitting.shape_of(value)
    return () if type(value) is Py and value.kind in pytrees.NUMBERS and value.const is not NO_CONST else None
