"""Code that nothing in the project traces, though what it is says that somebody will (layer: ``link``, room ``roots``).

Four grounds: functions and methods of the project that take a state whose class is traced elsewhere in the project;
methods of which the project traces another implementation; constructors of classes whose instances are commonly
built inside a trace; and functions beside traced ones, see `beside`. All run last, in a trace that nobody wrote
down, and keep less than a real run: code that converts its argument on purpose, with `float(x)` or NumPy, belongs to
the host, so nothing is said about it. What it does not: functions of arrays in general; `roots.run_possible` does that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import AnyEvent, ApiMisuse, ArrayStore, BadIndex, Convert, Truth, UnrolledLoop
from jitlint.infer.grounds import RULED
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import (
    UNKNOWN,
    Arr,
    Class,
    Descr,
    Func,
    Inst,
    Py,
    S,
    Tree,
    Tup,
    Value,
    alternatives,
)
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found, Key
from jitlint.link.roots import beside, grounding
from jitlint.link.roots import run as roots
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import classes, flattening, parameters, pytrees
from jitlint.link.values.questions.kinds import is_enumeration, mro
from jitlint.syntax import ir

ON_PURPOSE = frozenset({"numpy", "tolist", "pickle", "format", "float", "complex", "int", "item", "string"})
"""Conversions that somebody who writes for the host asks for."""

NUMBERS = frozenset({"int", "float", "item", "round", "math"})
"""Conversions that give a number."""


def run_likely(m: Machine) -> None:
    """Run these kinds of code and keep what is telling about them."""
    _run_overrides(m)
    for info in list(m.classes):
        if info.id in m.traced_classes:
            _run_members(m, info)
        role = m.class_roles.get(info.id)
        if role is not None and role.built_in_trace and not info.module.is_test:
            _run_constructor(m, info)
    due = m.schedule.due(m.functions)
    for fn in due:
        if _is_free(m, fn):
            _run_sibling(m, fn.values[0])
    beside.run_beside(m, [fn for fn in due if _is_free(m, fn)])


def _run_overrides(m: Machine) -> None:
    """Methods that known code does not trace, though it traces another implementation of the same interface."""
    chosen: list[tuple[Func, list[Func]]] = []
    for group in _interfaces(m):
        traced = [func for func in group if _is_traced(m, func.fn)]
        if traced:
            chosen += [(func, traced) for func in group if _is_override(m, func)]
    for func, traced in chosen:
        _run_override(m, func, traced)


def _interfaces(m: Machine) -> Iterable[list[Func]]:
    """The methods of each name that one class of the project asks for, or has first."""
    groups: dict[tuple[int, str], list[Func]] = {}
    for info in m.classes:
        called = info.id not in m.class_roles  # of others, a convention says what calling them means
        for name, value in info.namespace.items():
            private = name.startswith("__") and not (called and name == "__call__")
            if type(value) is Func and value.owner is info and not private:
                root = next(cls for cls in reversed(mro(info)) if name in cls.namespace)
                groups.setdefault((root.id, name), []).append(value)
    return groups.values()


def _is_traced(m: Machine, fn: FuncInfo) -> bool:
    """Whether code of the project is known to trace a function; a convention, or a guess, is not enough."""
    return m.surely_traced.get(fn.id, False)


def _is_override(m: Machine, func: Func) -> bool:
    params = func.fn.node.params
    if not params or params[0].name != "self" or func.fn.node.decorators or func.fn.is_stub or func.fn.hosted:
        return False
    return _is_own(func.fn) and not _is_traced(m, func.fn)


def _run_override(m: Machine, func: Func, traced: list[Func]) -> None:
    """Run a method with the kinds of arguments that the other implementations get."""
    if func.owner is None:
        return
    given: list[Value] = [classes.cold_instance(m, func.owner)]
    found = False
    for i, param in enumerate(func.fn.node.params[1:], 1):
        value = _certain(m, func, param, any_class=True)
        if value is UNKNOWN and param.annotation is None and _gets_array(m, traced, i):
            value = Arr(0)
        if value is UNKNOWN or param.default is not None:
            given.append(UNKNOWN)
            continue
        lifted = pytrees.lift(value, S, 1, f"parameter `{param.name}` of `{func.fn.qualname}`")
        given.append(grounding.on_ground(lifted, RULED))  # as for a state: that it is traced is what is said
        found = True
    if found:
        other = traced[0].fn.qualname
        message = f"`{func.fn.qualname}` does what `{other}` does, which other code of the project traces"
        _run(m, func, message, given, stores=True)


def _gets_array(m: Machine, traced: list[Func], index: int) -> bool:
    """Whether another implementation is seen to get a traced array at this position."""
    for func in traced:
        params = func.fn.node.params
        if index < len(params) and (func.fn.id, params[index].name) in m.array_parameters:
            return True
    return False


def _is_candidate(m: Machine, fn: FuncInfo) -> bool:
    """Whether a function is code of the project that no trace is known to reach."""
    return _is_own(fn) and fn.id not in m.surely_traced


def _is_free(m: Machine, fn: FuncInfo) -> bool:
    """Whether it is one that belongs to no class, and not to the host."""
    return _is_candidate(m, fn) and not fn.hosted and fn.values[0].owner is None


def _is_own(fn: FuncInfo) -> bool:
    """Whether a function is one of the project itself, at the top of a module or in a class there."""
    if fn.module.is_test or not fn.values or fn.values[0].scope.level or fn.node.is_lambda:
        return False
    return "<locals>" not in fn.qualname


def _run_sibling(m: Machine, func: Func) -> None:
    given: list[Value] = []
    state = ""
    for param in func.fn.node.params:
        value = _certain(m, func, param)
        cls = _class_of(m, func, param)
        if cls is not None and not state:
            state = cls.name
        if value is not UNKNOWN and param.default is None:
            lifted = pytrees.lift(value, S, 1, f"parameter `{param.name}` of `{func.fn.qualname}`")
            given.append(grounding.on_ground(lifted, RULED))  # what is only said is that it is traced at all
        else:
            given.append(UNKNOWN)
    if state:
        message = f"`{func.fn.qualname}` takes a `{state}`, which other code of the project traces"
        _run(m, func, message, given)


def _class_of(m: Machine, func: Func, param: ir.Param) -> ClassInfo | None:
    found = parameters.resolve(m, func.scope, param.annotation)
    return found.info if type(found) is Class and found.info.id in m.traced_classes else None


def _certain(m: Machine, func: Func, param: ir.Param, any_class: bool = False) -> Value:
    """A stand-in for a parameter that is an array or such a state by its annotation, else unknown.

    any_class: any registered pytree of the project counts as a state.
    """
    if param.annotation is None or param.kind in ("var", "kwvar"):
        return UNKNOWN
    value = parameters.value_of(m, func.scope, param.annotation)
    if _class_of(m, func, param) is not None or (any_class and _is_state(value)):
        return value if value is not None else UNKNOWN
    array = type(value) is Arr or (type(value) is Tree and value.evidence == "array")
    certain = array and not parameters.may_be_python(m, func.scope, param.annotation)
    return value if certain and value is not None else UNKNOWN


def _is_state(value: Value | None) -> bool:
    if type(value) is Inst:
        return flattening.is_pytree(value.cls)
    return type(value) is Tup and value.cls is not None


def _run_members(m: Machine, info: ClassInfo) -> None:
    """Methods and properties of a state."""
    receiver = parameters.instance_of(m, info)
    if receiver is None or _is_refused(receiver):
        return
    for name, value in list(info.namespace.items()):
        func: Value | None = value
        if type(value) is Descr:
            func = value.func if value.kind == "property" else None
        if type(func) is not Func or name.startswith("__") or not _is_candidate(m, func.fn):
            continue
        params = func.fn.node.params
        if not params or params[0].name != "self":
            continue
        lifted = pytrees.lift(receiver, S, 1, f"`self` of `{func.fn.qualname}`")
        given = [grounding.on_ground(lifted, RULED), *[UNKNOWN] * (len(params) - 1)]
        message = f"`{func.fn.qualname}` belongs to `{info.name}`, which other code of the project traces"
        _run(m, func, message, given)


def _is_refused(state: Value) -> bool:
    """Whether JAX refuses to trace a state of this class, since a field holds a text or a member of an enumeration: what is
    traced is made of it, and annotated alike."""
    if type(state) is not Inst or state.cls.role or flattening.is_opaque(state.cls):
        return False
    static = flattening.static_names(state)
    return any(_is_no_leaf(part) for name, part in state.attrs.items() if name not in static)


def _is_no_leaf(part: Value) -> bool:
    if type(part) is Inst:
        return any(map(is_enumeration, mro(part.cls)))
    return type(part) is Py and part.kind in ("str", "bytes")


def _run_constructor(m: Machine, info: ClassInfo) -> None:
    """What a constructor computes with `jax.numpy` is traced when the object is built in a trace."""
    func = info.namespace.get("__init__")
    if type(func) is not Func or not func.fn.node.params or func.scope.level:
        return
    message = (
        f"`{info.name}` is a module of a library that often builds them inside a trace, as `eval_shape` does"
    )
    given = [Inst(info, {}, 1, None, True), *[UNKNOWN] * (len(func.fn.node.params) - 1)]
    _run(m, func, message, given, constructs=True)


def _fetches(fn: FuncInfo) -> bool:
    """Whether a function waits for arrays, or fetches them: it is written for the host."""
    words = lexicon().timing.fetching
    return any(type(part) is ir.Call and last_name(part.func) in words for part in fn.parts)


def _run(
    m: Machine,
    func: Func,
    message: str,
    given: list[Value],
    constructs: bool = False,
    stores: bool = False,
) -> None:
    """Run a function and keep its events, unless they show that it is written for the host.

    What draws, prints, checks or answers a question belongs there as well: whatever gives no arrays, or is called by a
    script. Of a constructor only numbers count that `jax.numpy` makes of static ones, since there the cure is free.
    """
    meant = _Meant(constructs, stores)
    with m.sink.trial(meant):
        result = roots.run_meant(m, func, "catalogue", Confidence.LIKELY, message, given)
        arrays = all(traced_modes(part) for part in alternatives(result))
        meant.arrays = arrays and not func.fn.hosted and not _fetches(func.fn)


class _Meant:
    """Whether a function is written to be traced, as all that was found in it shows. arrays: its result is of arrays.
    stores: what is stored into the elements of an array counts, too, and loops that are unrolled."""

    def __init__(self, constructs: bool, stores: bool) -> None:
        self.constructs = constructs
        self.stores = stores
        self.arrays = False

    def keeps(self, found: Found) -> Iterator[tuple[Key, AnyEvent]]:
        """What is telling, if nothing speaks for the host."""
        if any(_for_the_host(event) for event in found.values()) or not (self.arrays or self.constructs):
            return
        for key, event in found.items():
            telling = _is_telling(event) or (self.stores and isinstance(event, (ArrayStore, UnrolledLoop)))
            if telling and (not self.constructs or _is_static_number(event)):
                yield key, event


def _of_argument(event: AnyEvent) -> bool:
    """Whether an argument makes the value a tracer, not the mere use of `jax.numpy` inside a trace."""
    return event.why.startswith(("parameter `", "`self` of "))


def _for_the_host(event: AnyEvent) -> bool:
    if type(event) is Truth:
        return event.form == "bool"
    return type(event) is Convert and _of_argument(event) and event.to in ON_PURPOSE


def _is_static_number(event: AnyEvent) -> bool:
    return type(event) is Convert and not _of_argument(event) and event.to in NUMBERS


def _is_telling(event: AnyEvent) -> bool:
    if type(event) is ApiMisuse:
        return event.problem in ("static-argument", "data-dependent-shape")
    return isinstance(event, (Truth, Convert, BadIndex))
