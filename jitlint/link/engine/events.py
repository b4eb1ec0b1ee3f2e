"""Decides whether an operation hurts a value and records the event (layer: ``link``, room ``engine``).

The mode matrix is measured: truth, ``__index__``, ``int``, ``.item``, masks and data-dependent shapes fail on
staged and batched tracers; ``float``, ``complex``, ``.tolist``, ``math``, NumPy conversion and format
specifications fail on linear ones too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import ApiMisuse, Convert, Truth
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import parts, seq_element
from jitlint.infer.values import STR, Arr, B, L, Py, S, Seq, Tree, Tup, Union, Value, alternatives
from jitlint.infer.values import Map as MapValue
from jitlint.infer.values import Seq as SeqValue
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

STAGED_OR_BATCHED = S | B
ANY_TRACER = S | B | L

TRACED_TEXT: Final = Py("str")
"""A text into which a tracer was formatted."""

NUMERIC_ONLY = {"int": S | B, "index": S | B, "range": S | B, "item": S | B, "round": 0, "hash": S | B | L}


def hurt(value: Value, modes: int, container: bool = False) -> Arr | Tree | None:
    """The alternative that is a tracer in one of these modes, or None.

    A pytree of unknown structure counts unless its uses say that it is a container; ``container`` asks for
    those as well.
    """
    if type(value) is Union:
        for alt in value.alts:
            found = hurt(alt, modes, container)
            if found is not None:
                return found
        return None
    if type(value) is Arr:
        return value if value.modes & modes and not value.host else None
    if type(value) is not Tree or not value.modes & modes:
        return None
    return value if container or value.evidence in ("", "array", "flag") else None


def confidence_of(value: Value) -> Confidence | None:
    """Lower confidence when only some alternatives are traced; None when nothing lowers it."""
    if type(value) is not Union:
        return None
    if any(type(a) is Py and a.kind in ("none", "bool") for a in value.alts):
        return Confidence.POSSIBLE
    traced = [a for a in value.alts if (type(a) is Arr or type(a) is Tree) and a.modes]
    return None if len(traced) == len(value.alts) else Confidence.LIKELY


def emit_truth(m: Machine, f: Frame, at: int, value: Value, form: str) -> bool:
    """Record that ``bool()`` is asked of a tracer. Answers whether it is one.

    A pytree of unknown structure may be a container, whose truth is static: it needs evidence.
    """
    found = hurt(value, STAGED_OR_BATCHED)
    if found is None or (type(found) is Tree and found.evidence == ""):
        return False
    m.emit(f, Truth, at, found, confidence_of(value), form=form)
    return True


def emit_convert(m: Machine, f: Frame, at: int, value: Value, to: str, what: str = "") -> bool:
    """Record that a tracer is forced into a Python value. Answers whether it is one."""
    found = hurt(value, NUMERIC_ONLY.get(to, ANY_TRACER))
    if found is None:
        return False
    m.emit(f, Convert, at, found, confidence_of(value), to=to, what=what)
    return True


def emit_format(m: Machine, f: Frame, at: int, value: Value, what: str) -> bool:
    """Record that a tracer meets a format specification."""
    return emit_convert(m, f, at, value, "format", what)


def emit_numpy(m: Machine, f: Frame, at: int, value: Value, what: str) -> bool:
    """Record that NumPy converts a tracer, also one inside a list or tuple."""
    found = tracer_inside(value)
    if found is None:
        return False
    m.emit(f, Convert, at, found, confidence_of(value), to="numpy", what=what)
    return True


def text_of(values: Iterable[Value]) -> Py:
    """A text that shows some values; one that could not be made shows none."""
    return TRACED_TEXT if any(v is TRACED_TEXT or _is_shown(tracer_inside(v)) for v in values) else STR


def _is_shown(tracer: Value | None) -> bool:
    return tracer is not None and not (isinstance(tracer, (Arr, Tree)) and tracer.weak)


def tracer_inside(value: Value, depth: int = 2) -> Value | None:
    """A tracer that is the value or an element of it."""
    found = hurt(value, ANY_TRACER)
    if found is not None or depth == 0:
        return found
    a: Any
    for a in alternatives(value):
        inside: Value | None = None
        if type(a) is Tup:
            for item in a.items:
                inside = tracer_inside(item, depth - 1)
                if inside is not None:
                    return inside
        elif type(a) is SeqValue:
            element = seq_element(a)
            inside = tracer_inside(element, depth - 1) if element is not None else None
        elif type(a) is MapValue:
            continue
        if inside is not None:
            return inside
    return None


def here_why(f: Frame, name: str) -> str:
    """Why a fresh array is a tracer."""
    return f"`{name}` makes a tracer inside a traced function" if f.world.here else ""


def emit_static(
    m: Machine, f: Frame, at: int, api: str, parameter: str, value: Value, exception: str = "", case: str = ""
) -> bool:
    """Record a tracer where a library needs a static value. Answers whether it is one."""
    found = static_tracer(value)
    if found is None or (type(found) is Tree and parameter.endswith("treedef")):
        return False  # what crossed the boundary in a structure that is not known was its static part
    m.emit(
        f,
        ApiMisuse,
        at,
        found,
        confidence_of(value),
        api=api,
        problem="static-argument",
        parameter=parameter,
        exception=exception,
        detail=case,
        cure="",
    )
    return True


def static_tracer(value: Value, depth: int = 4) -> Arr | Tree | None:
    found = hurt(value, STAGED_OR_BATCHED)
    if found is not None:
        return found if type(found) is not Tree or found.evidence == "array" or not found.weak else None
    if depth:
        for alt in alternatives(value):
            inner: list[Value] = []
            if type(alt) is Tup:
                inner = list(alt.items)
            elif type(alt) is Seq:
                element = seq_element(alt)
                inner = [element] if element is not None else []
            for part in inner:
                found = static_tracer(part, depth - 1)
                if found is not None:
                    return found
    return None


_ARITHMETIC: Final = ("+", "-", "*", "/", "//", "**", "%", "@")
_NEVER_REPEATS: Final = ("-", "/", "//", "**", "%")


def number_with_pair(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> bool:
    """Record that a number meets a tuple with JAX arrays in it, such as that of `jax.value_and_grad`: whoever wrote that
    took the tuple for an array. What an annotation alone calls a tuple may be an array."""
    for number, pair in ((left, right), (right, left)):
        if type(pair) is not Tup or pair.cls is not None or type(number) is not Py:
            continue
        refused = number.kind == "float" or (number.kind == "int" and op in _NEVER_REPEATS)
        if refused and any(type(part) is Arr and not part.host and part.kind is SEEN for part in pair.items):
            m.emit(f, ApiMisuse, at, None, api=op, problem="list-argument", exception="TypeError")
            return True
    return _with_container(m, f, at, op, left, right)


def _with_container(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> bool:
    """Record that a number, an array or a dict meets a dict of arrays, or a float a list of them: whoever wrote that took
    parameters, or their gradients, for one array. What a parameter holds may be more than one thing at a time."""
    if op not in _ARITHMETIC or f.confidence is not Confidence.CERTAIN:
        return False
    name = _named_tuple_among(op, left, right)
    if name:
        detail = f"a `{name}`"
        m.emit(f, ApiMisuse, at, None, api=op, problem="list-argument", detail=detail, exception="TypeError")
        return True
    for one, box in ((left, right), (right, left)):
        if not _never_meet(one, box) or _is_given(f, box):
            continue
        inside = parts(box)
        if inside and all(_holds_array(part) for part in inside):
            detail = "a dict" if type(box) is MapValue else ""
            m.emit(
                f, ApiMisuse, at, None, api=op, problem="list-argument", detail=detail, exception="TypeError"
            )  # fmt: skip
            return True
    return False


def _named_tuple_among(op: str, left: Value, right: Value) -> str:
    """The class of a named tuple of arrays that certainly has no such operator with the other operand, or ""."""
    for box, other in ((left, right), (right, left)):
        cls = box.cls if type(box) is Tup else None
        if cls is not None and not cls.extern and _holds_array(box) and _refuses_tuple(op, other):
            return cls.name
    return ""


def _refuses_tuple(op: str, other: Value) -> bool:
    """Whether no operator takes this and a tuple. A whole number repeats it, and another tuple is put behind it."""
    if type(other) is Tup:
        return op != "+" and (other.cls is None or not other.cls.extern)
    if type(other) is Arr:
        return _holds_array(other) and (op != "*" or other.dtype == "float")
    return type(other) is Py and (other.kind == "float" or (other.kind == "int" and op != "*"))


def _never_meet(one: Value, box: Value) -> bool:
    """Whether no arithmetic is done with a number, an array of JAX or a dict, and a container of that kind."""
    kind = one.kind if type(one) is Py else ""
    if type(box) is Seq:
        return box.kind == "list" and box.items is not None and box.rest is None and kind == "float"
    if type(box) is not MapValue:
        return False
    is_array = type(one) is Arr and not one.host and not one.weak and one.kind is SEEN
    return is_array or type(one) is MapValue or kind in ("int", "float", "complex")


def _is_given(f: Frame, box: Value) -> bool:
    """Whether a parameter of the function holds something."""
    params = f.fn.node.params if f.fn is not None else ()
    held = [f.scope.vars.get(param.name) for param in params]
    return any(alt is box for value in held if value is not None for alt in alternatives(value))


def _holds_array(value: Value, depth: int = 3) -> bool:
    """Whether something is an array of JAX, or a container of such."""
    if type(value) is Arr:
        return not value.host and not value.weak and value.kind is SEEN
    inside = parts(value) if depth and type(value) in (Tup, Seq, MapValue) else ()
    return bool(inside) and all(_holds_array(part, depth - 1) for part in inside)


def sequence_operand(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> bool:
    """Record that a JAX array meets a Python list or tuple, which no operator of it accepts."""
    for array, other in ((left, right), (right, left)):
        if type(array) is not Arr or array.host or array.weak:
            continue
        if array.dtype is None and array.rank is None:
            continue
        if (type(other) is Seq and other.kind == "list") or (type(other) is Tup and other.cls is None):
            m.emit(f, ApiMisuse, at, None, api=op, problem="list-argument", exception="TypeError")
            return True
    return _with_container(m, f, at, op, left, right)
