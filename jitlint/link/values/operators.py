"""Operators on abstract values: arithmetic, comparison, membership, hashing (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jitlint.infer.events import Convert, Truth
from jitlint.infer.grounds import GUESSED, SEEN, Ground
from jitlint.infer.lattice import join, traced_modes
from jitlint.infer.values import (
    BOOL,
    FALSE,
    NO_CONST,
    NONE,
    SETS,
    STATIC,
    STR,
    TRUE,
    UNKNOWN,
    Arr,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import (
    ANY_TRACER,
    STAGED_OR_BATCHED,
    confidence_of,
    emit_convert,
    hurt,
    sequence_operand,
)
from jitlint.link.engine.frame import Args, Frame, settle
from jitlint.link.engine.machine import Machine
from jitlint.link.values import text_format
from jitlint.link.values.arithmetic import FOLD, NUMBER_KINDS, fold, result_kind
from jitlint.link.values.concatenation import combine_containers
from jitlint.link.values.kinds import find_method

DUNDER: Final = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "//": "floordiv",
    "%": "mod",
    "**": "pow",
    "@": "matmul",
    "&": "and",
    "|": "or",
    "^": "xor",
    "<<": "lshift",
    ">>": "rshift",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
    "==": "eq",
    "!=": "ne",
}


def binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    """``left op right``, and ``left op= right`` for immutable values."""
    tl, tr = type(left), type(right)
    if type(left) is Py and type(right) is Py:
        return fold(op, left, right)
    if op == "%" and type(left) is Py and left.kind == "str":
        return text_format.percent(m, f, at, left, right)
    if tl is Union or tr is Union:
        return _each(left, right, lambda a, b: UNKNOWN if _refused(a, b) else binary(m, f, at, op, a, b))
    if tl is Inst or tr is Inst or ((tl is Tup or tr is Tup) and _has_operator(op, left, right)):
        return _overloaded(m, f, at, op, left, right)
    if tl in (Arr, Tree) or tr in (Arr, Tree):
        return _array_binary(m, f, at, op, left, right)
    if tl in (Seq, Tup, Map):
        return combine_containers(op, left, right)
    if tr in (Seq, Tup) and op == "*" and tl is Py:
        return combine_containers(op, right, left)
    return UNKNOWN


def _refused(left: Value, right: Value) -> bool:
    """Whether no operator takes an array and a list: one of several possible pairs, so perhaps never met."""
    pairs = ((left, right), (right, left))
    return any(type(a) is Arr and not a.host and type(b) in (Seq, Tup) for a, b in pairs)


def _each(left: Value, right: Value, one: Callable[[Value, Value], Value]) -> Value:
    out: Value | None = None
    for a in alternatives(left):
        for b in alternatives(right):
            value = one(a, b)
            out = value if out is None else join(out, value)
    return out if out is not None else UNKNOWN


def _dtype_of(value: Any) -> str | None:
    if type(value) is Arr:
        return value.dtype
    if type(value) is Py and value.kind in NUMBER_KINDS:
        return str(value.kind)
    return None


def _rank_of(value: Any) -> int | None:
    if type(value) is Arr:
        return value.rank
    return 0 if type(value) is Py and value.kind in NUMBER_KINDS else None


def _array_binary(m: Machine, f: Frame, at: int, op: str, left: Any, right: Any) -> Value:
    tl, tr = type(left), type(right)
    if tl is Py and left.kind == "str" and op == "*":
        emit_convert(m, f, at, right, "index", "str repetition")
        return STR
    if sequence_operand(m, f, at, op, left, right):
        return UNKNOWN
    if any(type(v) is Tree and _may_be_sequence(v, w) for v, w in ((left, right), (right, left))):
        return UNKNOWN
    if tl is Map or tr is Map:
        return combine_containers(op, left, right) if tl is Map else UNKNOWN
    if (tl is Py and left.kind in ("str", "none")) or (tr is Py and right.kind in ("str", "none")):
        return UNKNOWN
    a, b = _dtype_of(left), _dtype_of(right)
    dtype = None
    if a is not None and b is not None:
        dtype = None if "key" in (a, b) else result_kind(op, a, b)
        if a == b == "bool" and op in ("+", "*"):
            dtype = "bool"
        elif "bool" in (a, b) and dtype == "int":
            dtype = "number" if type(left) is Py or type(right) is Py else "int"
    elif op == "/" and "complex" not in (a, b):
        dtype = "float" if "key" not in (a, b) else None
    elif "float" in (a, b) and op in ("+", "-", "*", "**"):
        dtype = "float" if op != "@" else None
    elif op in ("&", "|") and "bool" in (a, b):
        dtype = "bool"
    return _combine(f, op, left, right, dtype, _result_rank(op, left, right))


def _may_be_sequence(tree: Tree, other: Any) -> bool:
    """Whether an operand of unknown structure may be a tuple or list that is put together with another."""
    return tree.evidence in ("seq", "map") or (
        not tree.modes and tree.evidence != "array" and type(other) in (Tree, Tup, Seq)
    )


def _result_rank(op: str, left: Any, right: Any) -> int | None:
    a, b = _rank_of(left), _rank_of(right)
    if a is None or b is None:
        return None
    if op == "@":
        return max(a + b - 2, 0) if a <= 2 and b <= 2 else max(a, b)
    return max(a, b)


def _combine(f: Frame, op: str, left: Any, right: Any, dtype: str | None, rank: int | None) -> Value:
    """The array that an operator gives: traced when an operand is, staged when a JAX array takes part.

    A NumPy array with something unknown may give either kind of array.
    """
    opaque = [type(v) not in (Arr, Tree, Py, Seq, Tup) for v in (left, right)]
    sure = [type(v) is Arr and (v.host or v.modes or v.kind is SEEN) for v in (left, right)]
    jax = [s and not v.host for s, v in zip(sure, (left, right))]
    if not any(v.modes for v in (left, right) if type(v) is Tree) and not any(jax if any(opaque) else sure):
        return UNKNOWN
    modes = 0
    why = ""
    ground = GUESSED
    host = True
    level = 0
    for value in (left, right):
        t = type(value)
        if t is Arr or t is Tree:
            if value.modes:
                why = why or value.why
                ground = min(ground, value.traced)
                level = max(level, value.level)
            modes |= value.modes
            if t is Arr and not value.host:
                host = False
                if not value.modes and f.world.here:
                    modes |= f.world.here
                    ground = min(ground, value.kind)  # staged if it is a JAX array, not one of NumPy
            elif t is Tree and value.modes:
                host = False
        elif t not in (Py, Seq, Tup):
            host = False
    if not modes:
        ground = SEEN
    out = Arr(modes, dtype, rank, why, max(level, f.world.base), ground, host and not modes)
    out.kind = _kind_of_result(op, left, right) if modes else _jax_ground(left, right)
    return settle(f, out)


def _jax_ground(left: Any, right: Any) -> Ground:
    """On what ground one of the operands is a JAX array, so that the result is one as well."""
    grounds = [v.kind for v in (left, right) if type(v) is Arr and not v.host]
    return min(grounds) if grounds else SEEN


_NEVER_OF_CONTAINERS: Final = frozenset({"-", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "<<", ">>"})
"""Operators that no pytree of Python's own has: who applies one means numbers or arrays."""


def _kind_of_result(op: str, left: Any, right: Any) -> Ground:
    """On what ground the result is an array: as soon as one operand is no container, the other is none."""
    if op in _NEVER_OF_CONTAINERS:
        return SEEN
    grounds = [_kind_ground(value, op) for value in (left, right)]
    return min(grounds) if op != "==" and op != "!=" else max(grounds)


def _kind_ground(value: Any, op: str) -> Ground:
    if type(value) is Arr or type(value) is Tree:
        kind: Ground = value.kind
        return kind
    repeats = op == "*" and type(value) is Py and value.kind in ("int", "bool", "static")
    return SEEN if type(value) is Py and not repeats else GUESSED


def _has_operator(op: str, left: Any, right: Any) -> bool:
    """Whether the class of a named tuple among the operands defines the operator itself."""
    name = DUNDER.get(op)
    return name is not None and any(
        find_method(value, f"__{prefix}{name}__") is not None
        for value, prefix in ((left, ""), (right, "r"), (right, ""))
        if type(value) is Tup and value.cls is not None
    )


def _overloaded(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    for recv, prefix, other in ((left, "__", right), (right, "__r", left)):
        if (type(recv) is Inst or (type(recv) is Tup and recv.cls is not None)) and op in DUNDER:
            method = find_method(recv, f"{prefix}{DUNDER[op]}__")
            if method is not None:
                return evaluator.call(m, f, at, method, Args([recv, other]))
    return UNKNOWN


def unary(m: Machine, f: Frame, at: int, op: str, value: Value) -> Value:
    """``-x``, ``+x``, ``~x``."""
    t = type(value)
    a: Any = value
    if t is Union:
        return _each(value, NONE, lambda x, _: unary(m, f, at, op, x))
    if t is Py:
        if type(a.const) in (int, float, bool) and op in "+-":
            return py(-a.const if op == "-" else +a.const)
        return Py("int" if a.kind == "bool" else a.kind) if a.kind in NUMBER_KINDS else UNKNOWN
    if t is Arr or t is Tree:
        return _combine(f, op, value, value, _dtype_of(value), _rank_of(value))
    if t is Inst or (t is Tup and a.cls is not None):
        method = find_method(a, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op])
        return evaluator.call(m, f, at, method, Args([value])) if method is not None else UNKNOWN
    return UNKNOWN


def compare(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    """One comparison; identity and membership included."""
    if op in ("is", "is not"):
        return _identity(op == "is", left, right)
    if op in ("in", "not in"):
        return _membership(m, f, at, op == "in", left, right)
    tl, tr = type(left), type(right)
    if any(type(v) is ExtInst and v.dotted == "jax.tree_util.PyTreeDef" for v in (left, right)):
        return BOOL
    if tl is Py and tr is Py:
        return _compare_python(op, left, right)
    if tl is Union or tr is Union:
        return _undecided_with_tracer(_each(left, right, lambda a, b: compare(m, f, at, op, a, b)))
    if tl is Inst or tr is Inst or ((tl is Tup or tr is Tup) and _has_operator(op, left, right)):
        return _compare_instances(m, f, at, op, left, right)
    if tl in (Arr, Tree) or tr in (Arr, Tree):
        return _compare_arrays(m, f, at, op, left, right)
    if tl in (Tup, Seq, Map) and tr in (Tup, Seq, Map) and op in ("==", "!="):
        return _compare_containers(m, f, at, op, left, right)
    return BOOL if tl is not type(UNKNOWN) and tr is not type(UNKNOWN) else UNKNOWN


def _undecided_with_tracer(value: Value) -> Value:
    """A comparison of what is a tracer on some paths only: not a flag that was meant to be static."""
    if type(value) is not Union or not any(type(a) is Arr and a.modes for a in value.alts):
        return value
    return _each(value, NONE, lambda a, _: STATIC if type(a) is Py else a)


def _identity(positive: bool, left: Value, right: Value) -> Value:
    answers = {_same_object(a, b) for a in alternatives(left) for b in alternatives(right)}
    if len(answers) == 1:
        answer = answers.pop()
        if answer is not None:
            return py(answer is positive)
    return BOOL


def _same_object(a: Value, b: Value) -> bool | None:
    x: Any = a
    y: Any = b
    if type(a) is Py and type(b) is Py:
        if "static" in (x.kind, y.kind):
            return None
        if x.kind == "none" or y.kind == "none":
            return bool(x.kind == y.kind)
        if x.const is NO_CONST or y.const is NO_CONST or x.kind != y.kind:
            return None
        return x.const == y.const if x.kind in ("bool", "ellipsis") else None
    if type(a) is Func and type(b) is Func:
        return True if a is b else (False if x.fn is not y.fn else None)
    if type(a) is Ext and type(b) is Ext:
        builtin = x.dotted.startswith("builtins.") or y.dotted.startswith("builtins.")
        return True if x.dotted == y.dotted else (False if builtin else None)
    if type(a) is Class and type(b) is Class:
        return x.info is y.info
    none, other = (a, b) if type(a) is Py else (b, a)
    if type(none) is Py and none.kind in ("none", "bool"):
        return False if type(other) in (Arr, Tup, Seq, Map, Inst, Func, Class) else None
    return True if a is b and type(a) in (Seq, Map, Inst) else None


def _compare_python(op: str, left: Any, right: Any) -> Value:
    a, b = left.const, right.const
    if left.kind == "none" or right.kind == "none":
        if "static" in (left.kind, right.kind) or op not in ("==", "!="):
            return BOOL
        return py((left.kind == right.kind) is (op == "=="))
    if a is NO_CONST or b is NO_CONST:
        return BOOL
    try:
        return py(bool(FOLD[op](a, b)))
    except TypeError:
        return BOOL


def _compare_arrays(m: Machine, f: Frame, at: int, op: str, left: Any, right: Any) -> Value:
    if sequence_operand(m, f, at, op, left, right):
        return UNKNOWN
    for a, b in ((left, right), (right, left)):
        if type(b) is Py and b.kind in ("none", "str") and op in ("==", "!="):
            if type(a) is Arr:
                return FALSE if op == "==" else TRUE
            return BOOL
        if type(b) in (Tup, Map, Func, Class):
            return BOOL if type(b) is not Tup else Arr(0, "bool", None, "", 0, SEEN, True)
    return _combine(f, op, left, right, "bool", _result_rank(op, left, right))


def _compare_instances(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    result = _overloaded(m, f, at, op, left, right)
    return BOOL if result is UNKNOWN and op in ("==", "!=") else result


def _compare_containers(m: Machine, f: Frame, at: int, op: str, left: Any, right: Any) -> Value:
    if type(left) is not type(right):
        return BOOL
    a, b = _parts(left), _parts(right)
    if type(left) is Tup and len(a) != len(b):
        return FALSE if op == "==" else TRUE
    for x, y in zip(a, b):
        found = hurt(x, STAGED_OR_BATCHED) or hurt(y, STAGED_OR_BATCHED)
        if found is not None and x is not y and not _never_equal(x, y):
            m.emit(f, Truth, at, found, form="equality")
            return BOOL
    return BOOL


def _never_equal(x: Value, y: Value) -> bool:
    return any(type(v) is Py and v.kind in ("none", "str") for v in (x, y))


def _parts(value: Any) -> list[Value]:
    if type(value) is Tup:
        return list(value.items)
    if type(value) is Map:
        return list(value.entries.values())
    return list(value.items or ())


def _membership(m: Machine, f: Frame, at: int, positive: bool, left: Value, right: Value) -> Value:
    answers: set[bool | None] = set()
    for container in alternatives(right):
        answers.add(_contains(m, f, at, left, container))
    answer = answers.pop() if len(answers) == 1 else None
    return BOOL if answer is None else py(answer is positive)


def _contains(m: Machine, f: Frame, at: int, item: Value, container: Value) -> bool | None:
    t = type(container)
    c: Any = container
    if t is Map or (t is Seq and c.kind in SETS):
        if hashed(m, f, at, item, "membership"):
            return None
        if t is Map and type(item) is Py and item.const is not NO_CONST:
            if item.const in c.entries:
                return True
            return None if c.rest is not None else False
        return None
    if t is Tup or t is Seq:
        elements = (
            _parts(container) if t is Tup or c.items is not None else [c.rest] if c.rest is not None else []
        )
        return _contains_element(m, f, at, item, elements, exact=t is Tup or c.items is not None)
    if t is Arr and type(item) is Py and item.kind == "str":
        return False
    if t is Arr or t is Tree:
        found = hurt(container, STAGED_OR_BATCHED)
        numeric = type(item) is Arr or (type(item) is Py and item.kind in NUMBER_KINDS)
        if found is not None and numeric and (t is Arr or c.evidence == "array"):
            m.emit(f, Truth, at, found, form="in")
        elif t is Arr and hurt(item, STAGED_OR_BATCHED):
            m.emit(f, Truth, at, hurt(item, STAGED_OR_BATCHED), form="in")
        return None
    if t is Inst:
        method = find_method(c, "__contains__")
        if method is not None:
            evaluator.call(m, f, at, method, Args([container, item]))
    return None


def _contains_element(
    m: Machine, f: Frame, at: int, item: Value, elements: list[Value], exact: bool
) -> bool | None:
    if any(e is item for e in elements[:1]):
        return True
    for element in elements:
        if _never_equal(item, element):
            continue
        found = hurt(item, STAGED_OR_BATCHED) or hurt(element, STAGED_OR_BATCHED)
        if found is not None:
            m.emit(f, Truth, at, found, confidence_of(item), form="in")
            return None
        if element is item:
            break
    if exact and type(item) is Py and item.const is not NO_CONST:
        consts = [e.const for e in elements if type(e) is Py and e.const is not NO_CONST]
        if item.const in consts:
            return True
        return False if len(consts) == len(elements) else None
    return None


def hashed(m: Machine, f: Frame, at: int, value: Value, what: str) -> bool:
    """Record that a tracer is hashed. Answers whether one is."""
    waiting, seen, tracer = [value], set[int](), False
    while waiting:
        part = waiting.pop()
        if id(part) in seen:  # tuples that share their parts may have very many
            continue
        seen.add(id(part))
        if type(part) is Tup:
            waiting.extend(reversed(part.items))
            continue
        found = hurt(part, ANY_TRACER)
        if found is not None and traced_modes(found):
            m.emit(f, Convert, at, found, confidence_of(part), to="hash", what=what)
            tracer = True
    return tracer
