"""Operators on abstract values: arithmetic, comparison, membership, hashing (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jitlint.catalogue import dtypes
from jitlint.infer.dims import Dims
from jitlint.infer.grounds import GUESSED, RULED, SEEN, USED, Ground
from jitlint.infer.lattice import join
from jitlint.infer.mappings import MAPPINGS
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
    emit_convert,
    number_with_pair,
    sequence_operand,
)
from jitlint.link.engine.frame import Args, Frame, settle
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks, fitting, flattening, hashing
from jitlint.link.values.arithmetic import FOLD, NUMBER_KINDS, fold, result_kind
from jitlint.link.values.concatenation import combine_containers
from jitlint.link.values.questions import about, counting, inverted, key_paths, text_format
from jitlint.link.values.questions.kinds import find_method
from jitlint.link.values.questions.membership import (
    answered,
    array_contains,
    compare_containers,
    contains_element,
    contains_key,
    contains_text,
    identity,
    known_parts,
)

DUNDER: Final = dict(
    zip(
        "+ - * / // % ** @ & | ^ << >> < <= > >= == !=".split(),
        "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift lt le gt ge eq ne".split(),
    )
)


def binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    """``left op right``, and ``left op= right`` for immutable values."""
    if fitting.check_binary(m, f, at, op, left, right):
        return UNKNOWN
    return _binary(m, f, at, op, left, right)


def _binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    tl, tr = type(left), type(right)
    if type(left) is Py and type(right) is Py:
        out = fold(op, left, right)
        return counting.follow(m, op, left, right, out) if left.counted or right.counted else out
    if op == "%" and type(left) is Py and left.kind == "str":
        return text_format.percent(m, f, at, left, right)
    if Union in (tl, tr):
        return _each(left, right, lambda a, b: UNKNOWN if _refused(a, b) else _binary(m, f, at, op, a, b))
    if _is_overloaded(op, left, right):
        return _overloaded(m, f, at, op, left, right)
    if tl in (Arr, Tree) or tr in (Arr, Tree):
        return _array_binary(m, f, at, op, left, right)
    return _container_binary(m, f, at, op, left, right)


def _container_binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    if number_with_pair(m, f, at, op, left, right):
        return UNKNOWN
    if type(left) in (Seq, Tup, Map):
        return combine_containers(op, left, right)
    if type(right) in (Seq, Tup) and op == "*" and type(left) is Py:
        return combine_containers(op, right, left)
    return UNKNOWN


def _is_overloaded(op: str, left: Value, right: Value) -> bool:
    """Whether a class of the project may say what the operator does."""
    tl, tr = type(left), type(right)
    return tl is Inst or tr is Inst or ((tl is Tup or tr is Tup) and _has_operator(op, left, right))


def _refused(left: Value, right: Value) -> bool:
    """Whether no operator takes an array and a list, or hardly one a number and a tuple: one of several possible pairs, so
    perhaps never met."""
    pairs = ((left, right), (right, left))
    return any(
        (type(a) is Arr and not a.host and isinstance(b, (Seq, Tup))) or (type(a) is Py and type(b) is Tup)
        for a, b in pairs
    )


def _each(left: Value, right: Value, one: Callable[[Value, Value], Value]) -> Value:
    out: Value | None = None
    for a in alternatives(left):
        for b in alternatives(right):
            value = one(a, b)
            out = value if out is None else join(out, value)
    return out if out is not None else UNKNOWN


def _dtype_of(value: Value) -> str | None:
    if type(value) is Arr:
        return value.dtype
    if type(value) is Py and value.kind in NUMBER_KINDS:
        return str(value.kind)
    return None


def _rank_of(value: Value) -> int | None:
    if type(value) is Arr:
        return value.rank
    return 0 if type(value) is Py and value.kind in NUMBER_KINDS else None


def _array_binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    if type(left) is Py and left.kind == "str" and op == "*":
        emit_convert(m, f, at, right, "index", "str repetition")
        return STR
    if sequence_operand(m, f, at, op, left, right):
        return UNKNOWN
    if any(type(v) is Tree and _may_be_sequence(v, w) for v, w in ((left, right), (right, left))):
        return UNKNOWN
    if type(left) is Map:
        return combine_containers(op, left, right)
    if type(right) is Map or _is_text_or_none(left) or _is_text_or_none(right):
        return UNKNOWN
    out = _combine(m, f, op, left, right, _result_dtype(op, left, right), _result_rank(op, left, right))
    return _sized(m, op, out, left, right)


def _sized(m: Machine, op: str, out: Value, left: Value, right: Value) -> Value:
    """The array that an operator gives, with its sizes."""
    if type(out) is Arr:
        a, b = _dims_of(left), _dims_of(right)
        out.dims = fitting.known(fitting.product(a, b) if op == "@" else fitting.together((a, b)))
        followed = counting.about_operator(m, op, left, right, out.dtype)
        around = about.of_sum(op, left, right).around if out.host else 0
        out.about = followed._replace(around=around) if around else followed
    return out


def _dims_of(value: Value) -> Dims | None:
    """The sizes of an operand; a number has none, whichever it is, as it has no axes."""
    return () if _rank_of(value) == 0 and type(value) is Py else fitting.dims_of(value)


def _is_text_or_none(value: Value) -> bool:
    return type(value) is Py and value.kind in ("str", "none")


def _result_dtype(op: str, left: Value, right: Value) -> str | None:
    """The dtype of an arithmetic result, exact where those of the operands are."""
    a, b = operand_of(left), operand_of(right)
    kind = _result_kind(op, left, right)
    found = dtypes.promoted(a, b)
    if op == "/":
        found = dtypes.as_float(
            (None if None in (a[0], b[0]) else result_kind("+", str(a[0]), str(b[0])), found)
        )[1]
    return dtypes.dtype_of(kind, found)


def operand_of(value: Value) -> dtypes.Operand:
    """What promotion has to know of an operand."""
    if type(value) is Py:
        return (value.kind, dtypes.of_number(value.kind)) if value.kind in NUMBER_KINDS else (None, None)
    dtype = _dtype_of(value)
    return dtype, dtypes.exact_of(dtype)


def dtype_value(array: Arr | None) -> Py:
    """``x.dtype``."""
    dtype = array.dtype if array is not None and not array.host else None
    return Py(dtypes.OBJECT if dtype in (None, "key") else dtypes.told(str(dtype), dtypes.exact_of(dtype)))


def _result_kind(op: str, left: Value, right: Value) -> str | None:
    a, b = _dtype_of(left), _dtype_of(right)
    if a is None or b is None:
        return _dtype_with_unknown(op, a if b is None else b)
    if "key" in (a, b):
        return None
    if a == b == "bool" and op in ("+", "*"):
        return "bool"
    dtype = result_kind(op, a, b)
    if "bool" in (a, b) and dtype == "int":
        return "number" if type(left) is Py or type(right) is Py else "int"
    return dtype


def _dtype_with_unknown(op: str, known: str | None) -> str | None:
    """What an operator gives when one operand may have any dtype."""
    if op == "/" and known != "complex":
        return "float" if known != "key" else None
    if known == "float" and op in ("+", "-", "*", "**"):
        return "float"
    return "bool" if op in ("&", "|") and known == "bool" else None


def _may_be_sequence(tree: Tree, other: Value) -> bool:
    """Whether an operand of unknown structure may be a tuple or list that is put together with another."""
    return (
        tree.evidence == "seq"
        or tree.evidence in MAPPINGS
        or (not tree.modes and tree.evidence != "array" and isinstance(other, (Tree, Tup, Seq)))
    )


def _result_rank(op: str, left: Value, right: Value) -> int | None:
    a, b = _rank_of(left), _rank_of(right)
    if a is None or b is None:
        return None
    if op == "@":
        return max(a, b) - (1 if min(a, b) == 1 else 0)
    return max(a, b)


def _combine(
    m: Machine, f: Frame, op: str, left: Value, right: Value, dtype: str | None, rank: int | None
) -> Value:
    """The array that an operator gives: traced when an operand is, staged when a JAX array takes part.

    A NumPy array with something unknown may give either kind of array.
    """
    if not _gives_array(left, right):
        return UNKNOWN
    here = f.world.here
    modes = 0
    why = ""
    ground = GUESSED
    level = 0
    for value in (left, right):
        if type(value) is not Arr and type(value) is not Tree:
            continue
        if value.modes:
            modes |= value.modes
            why = why or value.why
            ground = min(ground, value.traced)
            level = max(level, value.level)
        elif here and type(value) is Arr and not value.host:
            modes |= here
            ground = min(ground, value.kind)  # staged if it is a JAX array, not one of NumPy
    if not modes:
        ground = SEEN
    host = not modes and _may_be_on_host(left) and _may_be_on_host(right)
    out = Arr(modes, dtype, rank, why, max(level, f.world.base), ground, host)
    out.kind = _kind_of_result(m, op, left, right) if modes else _jax_ground(left, right)
    return settle(f, out)


def _gives_array(left: Value, right: Value) -> bool:
    """Whether it is certain enough that an operator gives an array."""
    opaque = [type(v) not in _UNDERSTOOD for v in (left, right)]
    sure = [type(v) is Arr and (v.host or v.modes or v.kind is SEEN) for v in (left, right)]
    if any(opaque):
        sure = [s and type(v) is Arr and not v.host for s, v in zip(sure, (left, right))]
    return any(sure) or any(type(v) is Tree and v.modes for v in (left, right))


def _may_be_on_host(value: Value) -> bool:
    if type(value) is Arr:
        return value.host
    if type(value) is Tree:
        return not value.modes
    return isinstance(value, (Py, Seq, Tup))


def _jax_ground(left: Value, right: Value) -> Ground:
    """On what ground one of the operands is a JAX array, so that the result is one as well."""
    grounds = [v.kind for v in (left, right) if type(v) is Arr and not v.host]
    return min(grounds) if grounds else SEEN


_NEVER_OF_CONTAINERS: Final = frozenset({"-", "/", "//", "%", "**", "@", "<", "<=", ">", ">=", "<<", ">>"})
"""Operators that no pytree of Python's own has: who applies one means numbers or arrays."""


_UNDERSTOOD: Final = (Arr, Tree, Py, Seq, Tup)
_TREEDEF: Final = "jax.tree_util.PyTreeDef"
"""Operands of which it is known what an operator does with them and an array."""


def _kind_of_result(m: Machine, op: str, left: Value, right: Value) -> Ground:
    """On what ground the result is an array: as soon as one operand is no container, the other is none.

    What is not understood may be of a class that takes arrays as operands and answers with its own kind; so may be a pytree
    of unknown structure, in a project that has such a class.
    """
    if _has_own_operator(m, op):
        arrays = [v.kind for v in (left, right) if isinstance(v, (Arr, Tree)) and _is_array(v)]
        if not arrays or min(arrays) > RULED:
            return min(arrays, default=GUESSED)
    if any(type(v) not in _UNDERSTOOD for v in (left, right)):
        return USED
    if op in _NEVER_OF_CONTAINERS:
        return SEEN
    grounds = [_kind_ground(value, op) for value in (left, right)]
    return min(grounds) if op != "==" and op != "!=" else max(grounds)


def _is_array(value: Arr | Tree) -> bool:
    return isinstance(value, Arr) or value.evidence == "array"


def _has_own_operator(m: Machine, op: str) -> bool:
    """Whether a pytree class of the project says what an operator does."""
    return any(map(flattening.is_pytree, m.special_methods.get(f"__{DUNDER.get(op)}__", ())))


def _kind_ground(value: Value, op: str) -> Ground:
    if type(value) is Arr or type(value) is Tree:
        kind: Ground = value.kind
        return kind
    repeats = op == "*" and type(value) is Py and value.kind in ("int", "bool", "static")
    return SEEN if type(value) is Py and not repeats else GUESSED


def _has_operator(op: str, left: Value, right: Value) -> bool:
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
    return UNKNOWN if fitting.check_unary(m, f, at, op, value) else _unary(m, f, at, op, value)


def _unary(m: Machine, f: Frame, at: int, op: str, value: Value) -> Value:
    t = type(value)
    a: Any = value
    if t is Union:
        return _each(value, NONE, lambda x, _: _unary(m, f, at, op, x))
    if t is Py:
        if type(a.const) in (int, float, bool) and op in "+-":
            return py(-a.const if op == "-" else +a.const)
        inverted.check(m, f, at, op, a)
        return Py("int" if a.kind == "bool" else a.kind) if a.kind in NUMBER_KINDS else UNKNOWN
    if t is Arr or t is Tree:
        return _sized(
            m, op, _combine(m, f, op, value, value, _dtype_of(value), _rank_of(value)), value, value
        )
    if t is Inst or (t is Tup and a.cls is not None):
        method = find_method(a, {"-": "__neg__", "+": "__pos__", "~": "__invert__"}[op])
        return evaluator.call(m, f, at, method, Args([value])) if method is not None else UNKNOWN
    return UNKNOWN


def compare(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    """One comparison; identity and membership included."""
    key_paths.check(m, f, at, op, left, right)
    return _compared(m, f, at, op, left, right)


def _compared(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    if op in ("is", "is not"):
        return identity(op == "is", left, right)
    if op in ("in", "not in"):
        return _membership(m, f, at, op == "in", left, right)
    tl, tr = type(left), type(right)
    if ExtInst in (tl, tr) and any(getattr(side, "dotted", "") == _TREEDEF for side in (left, right)):
        return BOOL
    counting.compare(m, op, left, right)
    if type(left) is Py and type(right) is Py:
        return _compare_python(op, left, right)
    if Union in (tl, tr):
        return _undecided_with_tracer(
            _each(left, right, lambda a, b: BOOL if _refused(a, b) else _compared(m, f, at, op, a, b))
        )
    if _is_overloaded(op, left, right):
        return _compare_instances(m, f, at, op, left, right)
    if tl in (Arr, Tree) or tr in (Arr, Tree):
        return _compare_arrays(m, f, at, op, left, right)
    return _compare_others(m, f, at, op, left, right)


def _compare_others(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    tl, tr = type(left), type(right)
    if tl in (Tup, Seq, Map) and tr in (Tup, Seq, Map) and op in ("==", "!="):
        return compare_containers(m, f, at, op, left, right)
    fitting.check_places(m, f, at, op, (left, right))
    # What a library gave that nobody has described may be an array.
    return UNKNOWN if type(UNKNOWN) in (tl, tr) or ExtInst in (tl, tr) else BOOL


def _undecided_with_tracer(value: Value) -> Value:
    """A comparison of what is a tracer on some paths only: not a flag that was meant to be static."""
    if type(value) is not Union or not any(type(a) is Arr and a.modes for a in value.alts):
        return value
    return _each(value, NONE, lambda a, _: STATIC if type(a) is Py else a)


def _compare_python(op: str, left: Py, right: Py) -> Value:
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


def _compare_arrays(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    if sequence_operand(m, f, at, op, left, right):
        return UNKNOWN
    if fitting.check_places(m, f, at, op, (left, right)):
        return BOOL
    if op not in ("==", "!=") and fitting.check_keys(m, f, at, op, (left, right)):
        return UNKNOWN
    for a, b in ((left, right), (right, left)):
        if type(b) is Py and b.kind in ("none", "str") and op in ("==", "!="):
            if type(a) is Arr:
                return FALSE if op == "==" else TRUE
            return BOOL
        if isinstance(b, (Tup, Map, Func, Class)):
            return BOOL if type(b) is not Tup else Arr(0, "bool", None, "", 0, SEEN, True)
    if fitting.is_sure(left) and fitting.is_sure(right):
        fitting.check_sizes(m, f, at, op, (left, right))
    return _sized(m, op, _combine(m, f, op, left, right, "bool", _result_rank(op, left, right)), left, right)


def _compare_instances(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> Value:
    result = _overloaded(m, f, at, op, left, right)
    return BOOL if result is UNKNOWN and op in ("==", "!=") else result


def _membership(m: Machine, f: Frame, at: int, positive: bool, left: Value, right: Value) -> Value:
    answers: set[bool | None] = set()
    for container in alternatives(right):
        answers.add(_contains(m, f, at, left, container))
    answer = answers.pop() if len(answers) == 1 else None
    return BOOL if answer is None else py(answer is positive)


def _contains(m: Machine, f: Frame, at: int, item: Value, container: Value) -> bool | None:
    if type(container) is Py:
        return contains_text(container, item)
    if type(container) is Map:
        return None if hashing.hashed(m, f, at, item, "membership") else contains_key(container, item)
    if type(container) is Seq and container.kind in SETS:
        hashing.hashed(m, f, at, item, "membership")
        return None
    if isinstance(container, (Tup, Seq)):
        exact = type(container) is Tup or container.items is not None
        rest = container.rest if type(container) is Seq else None
        callbacks.run_implied(m, f, at, item, ("__eq__",), UNKNOWN)
        elements = known_parts(container) if exact else [rest] if rest is not None else []
        return contains_element(m, f, at, item, elements, exact)
    if isinstance(container, (Arr, Tree)):
        return array_contains(m, f, at, item, container)
    if type(container) is Inst:
        method = find_method(container, "__contains__")
        if method is not None:
            answered(m, f, at, evaluator.call(m, f, at, method, Args([container, item])))
    return None
