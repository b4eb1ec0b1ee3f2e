"""Arrays and numbers that a class keeps beside its children, in what JAX compares from call to call (layer: ``link``, room ``domains``).

What a flatten function gives beside the children belongs to the type of an object. An array there is compared with that of
the next object, and has no truth to give; with the same object nothing is compared. A number there that each turn
of a loop counts on makes JAX compile in each. What it does: looks at objects that come to a compiled function, and come back, or
get another number between two calls. What it does not: speak of arrays in fields that are declared as static, see `static_fields`, or
of NumPy's, which often are the same for all objects.
Source: https://docs.jax.dev/en/latest/pytrees.html#custom-pytrees-and-initialization
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse, VaryingArgument
from jitlint.infer.grounds import SEEN
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import NONE, Arr, Inst, S, Tup, Value, alternatives, const_of
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names, last_name, path_text
from jitlint.link.values import flattening
from jitlint.link.values.questions.registering import is_in_type
from jitlint.syntax import ir
from jitlint.syntax.children import below


def check(m: Machine, f: Frame, transformed: Transformed, told: set[tuple[int, str]]) -> None:
    """Record the first array of each object that is a part of its type. told: class and field of those that were recorded."""
    spec = transformed.x.spec
    if not spec.modes & S or not spec.strict or f.module.is_test:
        return
    static = {spec.static_nums, spec.static_names} & transformed.x.options.keys()
    for value in () if static else transformed.args.pos:
        for cls, name in _arrays_of_type(value):
            told.add((cls.id, name))
            m.emit(
                f, TransformMisuse, transformed.at, None, Confidence.LIKELY,
                transform=spec.name, problem="array-metadata", parameter=name, detail=cls.name,
            )  # fmt: skip
            return


def _arrays_of_type(value: Value) -> Iterator[tuple[ClassInfo, str]]:
    """Class and attribute of arrays with several elements that are certainly no children."""
    for alt in alternatives(value):
        if type(alt) is not Inst or alt.cls.role or flattening.data_names(alt.cls) is None:
            continue
        for name in sorted(flattening.static_names(alt)):
            part = alt.attrs.get(name)
            if (
                type(part) is Arr
                and not part.host
                and _has_no_truth(part)
                and not flattening.is_kept(alt.cls, name)
            ):
                yield alt.cls, name


def _has_no_truth(array: Arr) -> bool:
    dims = array.dims or ()
    several = bool(dims) and all(size is None or size > 1 for size in dims[:1])
    return array.kind is SEEN and not array.weak and not array.modes and bool(array.rank) and several


def changed(m: Machine, f: Frame, transformed: Transformed, result: Value) -> None:
    """Record a number in the type of an object that a compiled function gives back changed, for the next turn of a loop."""
    spec = transformed.x.spec
    if not f.loops or f.world.level or not spec.strict or not spec.modes & S:
        return
    results = result.items if type(result) is Tup else (result,)
    found = ((old, _counted(old, new)) for old in _taken_over(f, transformed) for new in results)
    for cls, name in (*((old.cls.name, name) for old, name in found), *_replaced(m, f, transformed)):
        if name:
            m.emit(
                f, VaryingArgument, transformed.at, None, Confidence.LIKELY,
                problem="metadata", parameter=name, how=cls,
            )  # fmt: skip
            return


def _replaced(m: Machine, f: Frame, transformed: Transformed) -> Iterator[tuple[str, str]]:
    """Class and static field of the objects among the arguments of a call that the loop around gives a new value of that field
    at every turn: ``state = state.replace(epoch=state.epoch + 1)``."""
    call = m.texts.table(f).calls.get(transformed.at)
    for variable, value in _objects(call, transformed) if call is not None else ():
        static = flattening.static_names(value)
        for field in _renewed(f, variable) if static else ():
            if field in static:
                yield value.cls.name, field


def _renewed(f: Frame, variable: str) -> Iterator[str]:
    """The fields of an object that the loop around computes from what they were, or from its own variable."""
    turned = {name for loop in f.loops if type(loop) is ir.For for name in _names([loop.target])}
    for node in below(f.loops[0]):
        for field, given in _new_fields(node, variable):
            read = {path_text(part) for part in below(given)}
            if f"{variable}.{field}" in read or turned & read:
                yield field


def _new_fields(node: ir.Node, variable: str) -> Iterator[tuple[str, ir.Node]]:
    """The fields of an object for which a statement sets its variable to one with other values, and those."""
    made = node.value if type(node) is ir.Assign and _names(node.targets) == {variable} else None
    if type(made) is not ir.Call or last_name(made.func) != "replace":
        return
    first = made.args[0].value if made.args and not made.args[0].name else None
    owner = made.func.obj if type(made.func) is ir.Attr else None
    if variable in (path_text(first), path_text(owner)):
        yield from ((arg.name, arg.value) for arg in made.args if arg.name)


def _names(targets: Sequence[ir.Node]) -> set[str]:
    return {name.id for name in bound_names(targets)}


def _taken_over(f: Frame, transformed: Transformed) -> list[Inst]:
    """The objects among the arguments of a call whose variables are set to what it gives."""
    node = surroundings.statement(f)
    if type(node) is not ir.Assign or type(node.value) is not ir.Call:
        return []
    bound = _names(node.targets)
    return [value for name, value in _objects(node.value, transformed) if name in bound]


def _objects(call: ir.Call, transformed: Transformed) -> Iterator[tuple[str, Inst]]:
    """The variables among the arguments of a call that hold objects, and those."""
    for arg, value in zip(call.args, transformed.args.pos):
        if type(arg.value) is ir.Name and type(value) is Inst:
            yield arg.value.id, value


def _counted(old: Inst, new: Value) -> str:
    """The attribute beside the children of an object that another one of its class has with another number, "" if none is known."""
    if type(new) is not Inst or old.cls is not new.cls or not old.cls.pytree:
        return ""
    for name in sorted(flattening.static_names(old)):
        one, other = (const_of(each) for each in (old.attrs.get(name, NONE), new.attrs.get(name, NONE)))
        if type(one) is int and type(other) is int and one != other and is_in_type(old, name):
            return name
    return ""
