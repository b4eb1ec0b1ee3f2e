"""What a call with a catalogue entry returns: its kind, dtype, rank and sizes (layer: ``link``, room ``models``).

What it does: turns a `Result`, a `Rank` and the arguments into a value. What it does not: judge the arguments, that is
`arrays`; know a library's names, that is the catalogue.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Optional

from jitlint.catalogue.dtypes import (
    Exact,
    Operand,
    combined,
    dtype_of,
    exact_of,
    is_weak,
    kind_of,
    named,
    of_told,
    without_star,
)
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.ranks import EVERY_AXIS, Argument
from jitlint.catalogue.schema import VAR_POSITIONAL, ApiFunction, Parameter, Result
from jitlint.infer.lattice import seq_element
from jitlint.infer.values import (
    NONE,
    SMOOTH,
    STATIC,
    UNKNOWN,
    Arr,
    Ext,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    alternatives,
)
from jitlint.link.engine.frame import Args
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import making
from jitlint.link.values import fitting, pytrees
from jitlint.link.values.operators import operand_of

Bound = list[tuple[Parameter, Value]]
"""The arguments of a call with the parameters that they fill."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call and the traces that its result belongs to.

    level: of the arrays; box_level: of a list of them. whole: no argument is hidden behind ``*`` or ``**``.
    """

    fn: ApiFunction
    result: Result
    bound: Bound
    receiver: Optional[Arr]
    modes: int
    why: str
    level: int
    box_level: int
    whole: bool


def bind(fn: ApiFunction, args: Args) -> Bound:
    """The arguments of a call by parameter; those that do not fit are left out."""
    params = fn.bind(len(args.pos), list(args.kw))
    values = [*args.pos, *args.kw.values()]
    return [(p, v) for p, v in zip(params, values) if p is not None]


def value_of(m: Machine, made: Made) -> Value:
    """The value that a call returns."""
    result = made.result
    kind = result.kind
    plain = _PLAIN.get(kind)
    if plain is not None:
        return plain
    if kind == "tree":
        return Tree(made.modes, made.why, made.level)
    if kind == "same":
        given = next((v for p, v in made.bound if p.name in result.arguments), made.receiver)
        return given if given is not None else UNKNOWN
    if made.fn.name in lexicon().arrays.selecting and made.whole:
        return Seq("list", _selected(made), None, made.box_level)
    if kind in ("list", "sequence", "tuple"):
        return _several(m, made, kind)
    return _array(m, made)


def _several(m: Machine, made: Made, kind: str) -> Value:
    """Several arrays, with as many axes as is known of each."""
    known = m.catalogue.parts(made.fn.name) if made.whole else ()
    given = described(made.bound, made.receiver) if known else {}
    ranks = [rank.of(given) for rank in known] or [None] * max(len(made.result.arguments), 1)
    items: list[Value] = [
        _PLAIN.get(k) or Arr(made.modes, _plain_dtype(k), rank, made.why, made.level)
        for k, rank in zip(made.result.arguments, ranks)
    ]
    if kind == "tuple":
        return Tup(tuple(items))
    element = items[0] if items else Arr(made.modes, None, ranks[0], made.why, made.level)
    return Seq("list" if kind == "list" else "tuple", None, element, made.box_level)


_PLAIN: dict[str, Value] = {"static": STATIC, "none": NONE, "opaque": UNKNOWN, "callable": UNKNOWN}


def _selected(made: Made) -> list[Value]:
    """The largest or smallest elements along an axis, and where they are: two arrays with the axes of the one."""
    by_name = {param.name: value for param, value in made.bound}
    array, count = by_name.get("operand"), by_name.get("k")
    known = array if type(array) is Arr else Arr()
    size = count.const if type(count) is Py and type(count.const) is int else None
    found: list[Value] = []
    for modes, dtype in ((made.modes, known.dtype), (made.modes & ~SMOOTH, dtype_of("int", "int32"))):
        one = Arr(modes, dtype, known.rank, made.why, made.level)
        if known.dims and by_name.keys() <= {"operand", "k"}:
            one.dims = fitting.known((*known.dims[:-1], size))
        found.append(one)
    return found


def _array(m: Machine, made: Made) -> Arr:
    fn, kind = made.fn, made.result.kind
    known = m.catalogue.rank(fn.name) if made.whole else None
    rank = known.of(described(made.bound, made.receiver)) if known is not None else None
    by_name = {p.name: v for p, v in made.bound}
    if kind in ("key", "keys"):
        out = Arr(made.modes, "key", 0 if kind == "key" else rank, made.why, made.level)
    else:
        modes = made.modes & ~SMOOTH if fn.name in lexicon().gradients.flat else made.modes
        out = Arr(modes, _dtype(m, made, by_name), rank, made.why, made.level)
    form = lexicon().arrays.sizes.get(fn.name)
    if form is not None and made.whole:
        dims = making.dims_of(form, by_name)
        out.rank = len(dims) if out.rank is None and dims is not None else out.rank
        out.dims = fitting.known(dims)
    return out


def _dtype(m: Machine, made: Made, by_name: dict[str, Value]) -> str | None:
    given = by_name.get("dtype")
    if given is not None and given is not NONE:
        return dtype_named(given)
    if not made.whole and made.fn.parameter("dtype") is not None:
        return None
    kind, exact = _kind(m, made), _exact(m, made)
    made_of = None if exact is None else kind_of(exact)
    unlike = made_of is not None and made_of != ("int" if kind == "number" else kind)
    return dtype_of(kind, None if unlike else exact)  # the real part of a complex number is of another kind


def _exact(m: Machine, made: Made) -> str | None:
    """The exact dtype that the arguments give the result."""
    exact = m.catalogue.exact_dtype(made.fn.name)
    if exact is None or not _is_told(made, exact):
        return None
    nested = lexicon().arrays.sizes.get(made.fn.name) == "nested"
    operands: dict[str, Operand] = {}
    named = [(p.name, value) for p, value in made.bound]
    for name, value in named if made.receiver is None else [("self", made.receiver), *named]:
        if name in exact.names:
            operand = _operand(value, nested)
            operands[name] = combined(operands[name], operand) if name in operands else operand
    given = {p.name for p, value in made.bound if value is not NONE and _may_matter(p, exact)}
    return exact.of(operands, given | (operands.keys() & {"self"}))


def _is_told(made: Made, exact: Exact) -> bool:
    """Whether no argument that has a say in the dtype is hidden behind ``*`` or ``**``."""
    if made.whole:
        return True
    told = {p.name for p, _ in made.bound if p.kind != VAR_POSITIONAL}
    return not any(
        _may_matter(p, exact) or p.name in exact.unless for p in made.fn.parameters if p.name not in told
    )


def _promotes(m: Machine, made: Made) -> bool:
    """Whether the dtype of a result is what the promotion of the arguments gives."""
    exact = m.catalogue.exact_dtype(made.fn.name) if made.whole else None
    return exact is not None and exact.how == "like"


def _may_matter(param: Parameter, exact: Exact) -> bool:
    """Whether a parameter can have a say in the dtype of a result; a PRNG key has none."""
    if param.role in ("key", "consumed-key"):
        return param.name in exact.names
    return not param.must_be_static or "type" in param.name or param.name in (*exact.names, *exact.unless)


def _operand(value: Value, nested: bool) -> Operand:
    """An argument as promotion sees it. nested: numbers in a list become an array that is not weak."""
    if not isinstance(value, (Tup, Seq)):
        return operand_of(value)
    items = value.items if value.items is not None else [element] if (element := seq_element(value)) else []
    found = [_operand(alt, nested) for item in items for alt in alternatives(item)]
    if not found or any(alt[1] is None or (is_weak(alt[1]) and not nested) for alt in found):
        return None, None
    kind, exact = functools.reduce(combined, found)
    return kind, without_star(exact) if exact is not None else None


def _kind(m: Machine, made: Made) -> str | None:
    if made.result.kind != "like":
        return _own_dtype(made)
    followed = made.result.arguments
    present = [value for p, value in made.bound if p.name in followed]  # several fill one like `*operands`
    if made.receiver is not None and "self" in followed:
        present.insert(0, made.receiver)
    kinds = {_dtype_of(value) for value in present if value is not NONE}
    found = _widest(kinds)
    if found is None:  # a float and something unknown give a float, complex numbers apart
        return "float" if "float" in kinds and _promotes(m, made) else None
    changed = m.catalogue.dtypes(made.fn.name)
    if found == "int" and all(type(value) is Py for value in present) and "python" not in changed:
        return "number"
    return changed.get(found, found)


def _is_complex(made: Made) -> bool:
    """Whether a function of floats gets complex numbers, and gives some."""
    if made.result.kind != "float" or made.fn.name in lexicon().arrays.real:
        return False
    values = [value for _, value in made.bound]
    return any(type(v) is Arr and v.dtype == "complex" for v in (made.receiver, *values))


def dtype_on_host(m: Machine, fn: ApiFunction, bound: Bound) -> str | None:
    """The dtype that the twin of a function in NumPy gives: of the same kind, but it never gives way to other types. It is exact
    for a number made of numbers of Python's and of such, where NumPy and JAX have the same defaults, and for arrays of one dtype
    that are put together."""
    made = Made(fn, fn.result, bound, None, 0, "", 0, 0, True)
    found = _kind(m, made)
    kind = "int" if found == "number" else found if found != "key" else None
    plain = all(type(v) is Py or (type(v) is Arr and v.host and v.rank == 0) for _, v in bound)
    exact = _exact(m, made) if (plain and kind == "float") or _only_moves(fn, bound) else None
    return dtype_of(kind, None if exact is None else without_star(exact))


def _only_moves(fn: ApiFunction, bound: Bound) -> bool:
    """Whether a function gives the numbers of its arguments as they are, which all have one dtype."""
    if fn.name.rpartition(".")[2] not in lexicon().arrays.keeps_numbers:
        return False
    found = [exact_of(array.dtype) for _, value in bound for array in _arrays(value)]
    return len(set(found)) == 1


def _arrays(value: Value, depth: int = 2) -> list[Arr]:
    """An array, or those in a list or tuple, and in lists in that."""
    if not isinstance(value, (Tup, Seq)):
        return [alt for alt in alternatives(value) if type(alt) is Arr]
    items = value.items if value.items is not None else [element] if (element := seq_element(value)) else []
    return [array for item in items for array in _arrays(item, depth - 1)] if depth else []


def dtype_of_method(m: Machine, fn: ApiFunction, bound: Bound, array: Arr, name: str) -> str | None:
    """The dtype that a method of an array of NumPy gives: of the same kind as that of JAX's. Sums of few bits are not made with few, and
    means of whole numbers are none."""
    asked = next((value for param, value in bound if param.name == "dtype"), NONE)
    if asked is not NONE:
        return dtype_named(asked)
    found = _kind(m, Made(fn, fn.result, bound, array, 0, "", 0, 0, True))
    kind = "int" if found == "number" else found if found != "key" else None
    same = (
        kind is not None
        and kind == array.dtype
        and (kind == "float" or name in lexicon().arrays.keeps_numbers)
    )
    return dtype_of(kind, exact_of(array.dtype) if same else None)


def dtype_kind(value: Value | None) -> str | None:
    """The dtype class that a ``dtype=`` argument names, or None."""
    return lexicon().arrays.dtypes.get(name_of(value))


def dtype_named(value: Value | None) -> str | None:
    """The dtype that a ``dtype=`` argument names, exact where its name is."""
    told = of_told(value.kind) if type(value) is Py else None
    if told is not None:
        return told
    name = name_of(value)
    return dtype_of(lexicon().arrays.dtypes.get(name), named(name))


def name_of(value: Value | None) -> str:
    """The name of a dtype, "" for what is none by name."""
    if type(value) is Ext:
        return value.dotted.rpartition(".")[2]
    return value.const if type(value) is Py and isinstance(value.const, str) else ""


def _plain_dtype(kind: str) -> str | None:
    return kind if kind in ("bool", "int", "float", "key") else None


def _own_dtype(made: Made) -> str | None:
    """The kind of numbers that a function gives whatever it gets, complex numbers apart."""
    always = made.fn.name in lexicon().arrays.complex
    return "complex" if always or _is_complex(made) else _plain_dtype(made.result.kind)


def _dtype_of(value: Value) -> str | None:
    """The dtype of an array made of a value or a nested list; numbers in a list are not weakly typed."""
    if type(value) is Arr:
        return value.dtype
    if type(value) is Py:
        return value.kind if value.kind in pytrees.NUMBERS else None
    if type(value) is Tup:
        return _widest({_dtype_of(item) for item in value.items})
    element = seq_element(value) if type(value) is Seq else None
    return None if element is None else _widest({_dtype_of(a) for a in alternatives(element)})


def _widest(kinds: set[str | None]) -> str | None:
    if None in kinds or not kinds:
        return None
    for kind in ("complex", "float", "int", "number", "bool", "key"):
        if kind in kinds:
            return kind
    return None


# Ranks


def described(bound: Bound, receiver: Value | None) -> dict[str, Argument]:
    """What the arguments say about the rank of the result, by parameter."""
    out = {} if receiver is None else {"self": argument(receiver)}
    count: dict[str, int] = {}
    for param, value in bound:
        out[param.name] = argument(value)
        if param.kind == VAR_POSITIONAL:
            count[param.name] = count.get(param.name, 0) + 1
            if count[param.name] > 1:
                out[param.name] = Argument(length=count[param.name])
    return out


def argument(value: Value) -> Argument:
    """One argument as `Rank` asks for it."""
    if type(value) is Arr:
        return Argument(value.rank)
    if type(value) is Py:
        if value.kind == "none":
            return Argument(axes=EVERY_AXIS, present=False)
        number = 0 if value.kind in pytrees.NUMBERS else None
        one = 1 if value.kind == "int" else None
        return Argument(number, one, one, value.const if type(value.const) is bool else None)
    if type(value) is Tup:
        return Argument(nested_rank(value), len(value.items), len(value.items))
    if type(value) is Seq:
        length = len(value.items) if value.items is not None else None
        return Argument(nested_rank(value), length, length)
    return Argument()


def nested_rank(value: Value) -> int | None:
    """The number of axes that an array made of numbers, arrays or nested lists has."""
    if type(value) is Py:
        return 0 if value.kind in pytrees.NUMBERS else None
    if type(value) is Arr:
        return value.rank
    if type(value) is not Tup and type(value) is not Seq:
        return None
    if value.items is None:
        element = seq_element(value)
        inner = None if element is None else nested_rank(element)
    else:  # those that go together have the same number of axes
        inner = next((rank for item in value.items if (rank := nested_rank(item)) is not None), None)
    # An empty list that was made for each turn of a loop has perhaps been filled since.
    return None if inner is None else inner + 1
