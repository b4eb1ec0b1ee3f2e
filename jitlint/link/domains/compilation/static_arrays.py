"""Objects with an array of NumPy in a static field, a new one for each call (layer: ``link``, room ``domains``).

JAX compares the static fields of an argument with those that it has compiled for, and an array of several elements has no truth to
give; the same array is not compared. What it does: finds such objects among the arguments of compiled functions, and asks whether the
function that makes them, and an array with each, runs again. What it does not: speak of arrays that whoever makes the object is given, as
each may be given the same, or of compiled functions that are made anew themselves.
Source: measured, for `equinox.Module`, `flax.struct.dataclass`, registered dataclasses and ``tree_flatten``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Inst, S, Value
from jitlint.link.domains.compilation import runs
from jitlint.link.domains.compilation.log import CompilationLog
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values import flattening
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir

_DEPTH: Final = 3
_CALLERS: Final = 6


class Maker(NamedTuple):
    """Where an object is made. again: in a loop."""

    value: Inst
    frame: Frame
    at: int
    again: bool


class Compared(NamedTuple):
    """A compiled function gets an object with an array in a static field."""

    frame: Frame
    at: int
    api: str
    field: str
    maker: Maker


def made(log: CompilationLog, f: Frame, at: int, value: Inst) -> None:
    """An object is made, and will be filled."""
    if not f.module.is_test and flattening.is_pytree(value.cls) and flattening.static_names(value):
        log.makers[id(value)] = Maker(value, f, at, bool(f.loops))


def arrived(log: CompilationLog, f: Frame, transformed: Transformed) -> None:
    """A function gets its arguments."""
    x, spec = transformed.x, transformed.x.spec
    if not log.makers or f.world.level or not spec.modes & S or x.site in log.made:
        return
    static = {spec.static_nums, spec.static_names} & x.options.keys()
    for value in () if static else transformed.args.pos:
        for held, name in _held(value, _DEPTH):
            maker = log.makers.get(id(held))
            if maker is not None and maker.value is held and _makes_array(log, maker, name):
                log.compared.setdefault(
                    (f.module.name, transformed.at), Compared(f, transformed.at, spec.name, name, maker)
                )


def finish(log: CompilationLog) -> None:
    """Record those that are made again."""
    for one in log.compared.values():
        step = _again(log, one.maker)
        if step is not None:
            log.m.emit(
                one.frame, TransformMisuse, one.at, None, Confidence.LIKELY,
                transform=one.api, problem="compared-array", parameter=one.field, detail=one.maker.value.cls.name, also=step,
            )  # fmt: skip


def _held(value: Value, depth: int) -> Iterator[tuple[Inst, str]]:
    """The objects that an argument consists of, with the static fields in which they hold arrays."""
    if type(value) is not Inst or not depth:
        return
    for name in sorted(flattening.static_names(value)):
        part = value.attrs.get(name)
        if type(part) is Arr and part.host and part.kind is SEEN and not part.modes and _has_several(part):
            yield value, name
    for part in value.attrs.values():
        yield from _held(part, depth - 1)


def _has_several(array: Arr) -> bool:
    dims = array.dims or ()
    return bool(dims) and all(size is None or size > 1 for size in dims)


def _makes_array(log: CompilationLog, maker: Maker, name: str) -> bool:
    """Whether the array in a field of an object is made together with it."""
    info, call = maker.value.cls, log.m.texts.table(maker.frame).calls.get(maker.at)
    if call is None or any(arg.star for arg in call.args):
        return False
    init = function_of(member(info, "__init__"))
    if init is not None:
        return any(_sets(init, part, name) for part in init.parts)
    fields = list(info.fields)
    given = {arg.name or (fields[i] if i < len(fields) else ""): arg.value for i, arg in enumerate(call.args)}
    node = given.get(name)
    written = bound_once.written(maker.frame.fn, node) if maker.frame.fn is not None else node
    return isinstance(written, (ir.Call, ir.BinOp))


def _sets(init: FuncInfo, part: ir.Node, name: str) -> bool:
    if type(part) is not ir.Assign or f"{init.first}.{name}" not in map(path_text, part.targets):
        return False
    value = bound_once.written(init, part.value)
    return type(value) is ir.BinOp or (type(value) is ir.Call and last_name(value.func) != "asarray")


def _again(log: CompilationLog, maker: Maker) -> tuple[Step, ...] | None:
    """How it is known that objects are made again, None if it is not."""
    place = Step(
        maker.frame.module.name,
        maker.at,
        f"each `{maker.value.cls.name}` that is made here has an array of its own",
    )
    if maker.again:
        return (place,)
    call = _runs_again(log, maker.frame.fn, _CALLERS)
    return None if call is None else (call, place)


def _runs_again(log: CompilationLog, fn: FuncInfo | None, depth: int) -> Step | None:
    """A call that runs a function again, or something that calls it: in a loop, or the second one of one function."""
    if fn is None or not depth:
        return None
    sites = [
        site
        for site in log.sites.get(fn.id, {}).values()
        if site.frame.fn is not fn and not site.frame.module.is_test
    ]
    callers = [site.frame.fn for site in sites]
    site = next((site for site in sites if site.loops), None)
    site = next(iter(runs.of_one_caller(log, sites)), None) if site is None else site
    if site is not None:
        return Step(site.frame.module.name, site.node.at, f"`{fn.qualname}` is called again and again here")
    found = (_runs_again(log, caller, depth - 1) for caller in callers)
    return next((step for step in found if step is not None), None)
