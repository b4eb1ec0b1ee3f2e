"""What functions of the standard library do with abstract values (layer: ``link``, room ``models``).

Here: copies, collections, dataclasses, operators, `functools.reduce`, and modules that only ever give Python
values. `math` and `itertools` have their own modules. A function without a handler gives unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.changes import forget_length
from jitlint.infer.events import ArrayStore
from jitlint.infer.lattice import join, joined, or_unknown
from jitlint.infer.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    STATIC,
    STR,
    UNKNOWN,
    Arr,
    Class,
    Ext,
    ExtInst,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.budgets import UNROLLED
from jitlint.link.engine.events import emit_convert, tracer_inside
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python import command_lines, dispatch, json_calls, math_calls, named_tuples
from jitlint.link.models.python import python_sequences as sequences
from jitlint.link.models.python.any_attribute import with_any_attributes
from jitlint.link.models.python.builtin_calls import (
    BUILTIN_CALLS,
    Handler,
    descriptor,
    instance_of,
    returns,
    returns_first,
)
from jitlint.link.models.python.checksums import CHECKSUM_CALLS
from jitlint.link.models.python.itertools_calls import ITERTOOLS_CALLS
from jitlint.link.models.python.ordering import ORDERING_CALLS
from jitlint.link.models.python.pytree_methods import call_pytree_method
from jitlint.link.values import attributes, fields, hashing, operators, subscripts
from jitlint.link.values.boxes import (
    argument,
    collect,
    const_int,
    const_text,
    copy_box,
    each,
    make_map,
    make_seq,
    put,
    put_all,
    repeated,
    spread,
    with_attributes,
)
from jitlint.link.values.questions import truths

# functools and copy


def _reduce(m: Machine, f: Frame, at: int, args: Args) -> Value:
    callee = or_unknown(argument(args, 0))
    items, rest = spread(m, f, at, or_unknown(argument(args, 1)))
    first = args.get(2, "initial")
    if items is not None and len(items) <= UNROLLED:
        values = items if first is None else [first, *items]
        if not values:
            return UNKNOWN
        out = values[0]
        for item in values[1:]:
            out = evaluator.call(m, f, at, callee, Args([out, item]))
        return out
    element = or_unknown(rest if items is None else joined(items))
    start = element if first is None else first
    with repeated(f):
        once = evaluator.call(m, f, at, callee, Args([start, element]))
        return join(once, evaluator.call(m, f, at, callee, Args([once, element])))


def _copy(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return each(or_unknown(argument(args, 0)), lambda value: copied(f, value, 0))


def deepcopy(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A copy of an object and of what it holds."""
    return each(or_unknown(argument(args, 0)), lambda value: copied(f, value, 3))


def _itself(value: Value) -> Value:
    return value


def copied(f: Frame, value: Value, depth: int, leaf: Callable[[Value], Value] = _itself) -> Value:
    """A copy whose boxes are new down to a depth; deeper boxes are shared. leaf: what becomes of anything else."""

    def inside(part: Value) -> Value:
        return copied(f, part, depth - 1, leaf)

    if type(value) is Tup:
        return value.of([inside(item) for item in value.items]) if depth else value
    if type(value) is Inst:
        return with_attributes(f, value, _each(value.attrs, inside) if depth else {})
    if type(value) is not Seq and type(value) is not Map:
        return leaf(value)
    new = copy_box(f, value)
    if depth and type(new) is Map:
        new.entries = _each(new.entries, inside)
    elif depth and type(new) is Seq and new.items is not None:
        new.items = [inside(item) for item in new.items]
    return new


_Key = TypeVar("_Key")


def _each(table: Mapping[_Key, Value], change: Callable[[Value], Value]) -> dict[_Key, Value]:
    return {key: change(part) for key, part in table.items()}


# collections and dataclasses


def _defaultdict(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Each missing key gets what the factory makes; one widened box stands for all of them."""
    factory = args.get(0, "default_factory")
    rest: Value | None = None
    if factory is not None and factory is not NONE:
        with repeated(f):
            rest = evaluator.call(m, f, at, factory, Args([]))
        if type(rest) is Py:
            rest = Py(rest.kind)
    out = make_map(f, {}, rest)
    if len(args.pos) > 1:
        put_all(m, f, at, out, args.pos[1])
    for key, value in args.kw.items():
        if key != "default_factory":
            put(m, f, at, out, py(key), value)
    return out


def _deque(m: Machine, f: Frame, at: int, args: Args) -> Value:
    source = argument(args, 0, "iterable")
    limit = args.get(1, "maxlen")
    out = make_seq(f, "deque", []) if source is None else collect(m, f, at, source, "deque")
    if limit is not None and limit is not NONE and type(out) is Seq:
        forget_length(out)
    return out


def _counter(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if args.pos and type(args.pos[0]) is not Map:
        items, rest = spread(m, f, at, args.pos[0])
        element = joined(items) if items is not None else rest
        hashing.hashed(m, f, at, or_unknown(element), "dict key")
    return make_map(f, {}, INT)


def _replace(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``dataclasses.replace(instance, **changes)``."""

    def one(value: Value) -> Value:
        if type(value) is Inst:
            return with_any_attributes(f, value, args.kw, args.kw_more)
        if type(value) is Tree:
            return or_unknown(call_pytree_method(f, value, "replace", args))
        return UNKNOWN

    return each(or_unknown(argument(args, 0, "obj")), one)


def _fields(m: Machine, f: Frame, at: int, args: Args) -> Value:
    of = argument(args, 0)
    info = of.info if type(of) is Class else of.cls if type(of) is Inst else None
    return UNKNOWN if info is None else Tup(tuple(fields.descriptions(info).entries.values()))


def _field_values(inst: Inst) -> dict[str, Value]:
    return {name: inst.attrs[name] for name in inst.cls.fields if name in inst.attrs} or dict(inst.attrs)


def _asdict(m: Machine, f: Frame, at: int, args: Args) -> Value:
    def one(value: Value) -> Value:
        if type(value) is Inst:
            return make_map(f, _field_values(value), UNKNOWN if value.open else None)
        return value if type(value) is Tree else UNKNOWN

    return each(or_unknown(argument(args, 0)), one)


def _astuple(m: Machine, f: Frame, at: int, args: Args) -> Value:
    def one(value: Value) -> Value:
        return Tup(tuple(_field_values(value).values())) if type(value) is Inst else UNKNOWN

    return each(or_unknown(argument(args, 0)), one)


# operator

_BINARY: Final = {
    "add": "+",
    "and_": "&",
    "concat": "+",
    "floordiv": "//",
    "lshift": "<<",
    "matmul": "@",
    "mod": "%",
    "mul": "*",
    "or_": "|",
    "pow": "**",
    "rshift": ">>",
    "sub": "-",
    "truediv": "/",
    "xor": "^",
}
_COMPARED: Final = {
    "eq": "==",
    "ge": ">=",
    "gt": ">",
    "is_": "is",
    "is_not": "is not",
    "le": "<=",
    "lt": "<",
    "ne": "!=",
}
_UNARY: Final = {"inv": "~", "invert": "~", "neg": "-", "pos": "+"}


def _binary(op: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        left, right = argument(args, 0), argument(args, 1)
        return UNKNOWN if left is None or right is None else operators.binary(m, f, at, op, left, right)

    return handler


def _compared(op: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        left, right = argument(args, 0), argument(args, 1)
        return UNKNOWN if left is None or right is None else operators.compare(m, f, at, op, left, right)

    return handler


def _unary(op: str) -> Handler:
    return lambda m, f, at, args: operators.unary(m, f, at, op, or_unknown(argument(args, 0)))


def _truth(positive: bool) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        value = or_unknown(argument(args, 0))
        outcome = truths.truth(m, f, at, value, "bool" if positive else "not")
        return BOOL if outcome is None else py(outcome is positive)

    return handler


def _contains(m: Machine, f: Frame, at: int, args: Args) -> Value:
    container, item = or_unknown(argument(args, 0)), or_unknown(argument(args, 1))
    return operators.compare(m, f, at, "in", item, container)


def _getitem(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return subscripts.get(m, f, at, or_unknown(argument(args, 0)), or_unknown(argument(args, 1)))


def _setitem(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if len(args.pos) == 3:
        subscripts.store(m, f, at, args.pos[0], args.pos[1], args.pos[2], "setitem")
    return NONE


def _index(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    emit_convert(m, f, at, or_unknown(value), "index", "operator.index")
    number = const_int(value)
    return INT if number is None else py(number)


GETTER_SUFFIX: Final = ".__call__"
"""``operator.itemgetter(k)`` is a partial of a handler that takes the key first, filed under this suffix."""


def _getter(name: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        if len(args.pos) != 1 or args.more is not None:
            return UNKNOWN
        return Partial(Ext(f"operator.{name}{GETTER_SUFFIX}"), [args.pos[0]], {})

    return handler


def _apply_itemgetter(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return _getitem(m, f, at, Args(args.pos[1::-1]))


def _apply_attrgetter(m: Machine, f: Frame, at: int, args: Args) -> Value:
    path = const_text(argument(args, 0))
    value = or_unknown(argument(args, 1))
    for name in path.split(".") if path else [""]:
        value = attributes.get(m, f, at, value, name) if name else UNKNOWN
    return value


def _call(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if not args.pos:
        return UNKNOWN
    return evaluator.call(m, f, at, args.pos[0], Args(args.pos[1:], args.kw, args.more, args.kw_more))


_OPERATOR: Final[dict[str, Handler]] = {
    **{name: _binary(op) for name, op in _BINARY.items()},
    **{f"i{name.rstrip('_')}": _binary(op) for name, op in _BINARY.items()},
    **{name: _compared(op) for name, op in _COMPARED.items()},
    **{name: _unary(op) for name, op in _UNARY.items()},
    "attrgetter": _getter("attrgetter"),
    f"attrgetter{GETTER_SUFFIX}": _apply_attrgetter,
    "call": _call,
    "contains": _contains,
    "getitem": _getitem,
    "index": _index,
    "itemgetter": _getter("itemgetter"),
    f"itemgetter{GETTER_SUFFIX}": _apply_itemgetter,
    "not_": _truth(False),
    "setitem": _setitem,
    "truth": _truth(True),
}

# random


def _uniform(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Arithmetic on the arguments and a Python random number."""
    out: Value = FLOAT
    for value in args.pos:
        out = operators.binary(m, f, at, "*", out, value)
    return out


def _choice(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    return or_unknown(rest if items is None else joined(items))


def _choices(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return make_seq(f, "list", None, _choice(m, f, at, args))


def _shuffle(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    if type(value) is Seq and value.items is not None:
        value.items = [or_unknown(joined(value.items))] * len(value.items)
    elif type(value) is Arr and not value.host and not value.weak:
        m.emit(f, ArrayStore, at, value, op="method", what="random.shuffle")
    return NONE


def _pickled(m: Machine, f: Frame, at: int, args: Args) -> Value:
    found = tracer_inside(or_unknown(argument(args, 0)))
    if found is not None:
        emit_convert(m, f, at, found, "pickle")
    return Py("bytes")


def _cast(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return or_unknown(argument(args, 1, "val"))


def _texts(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return make_seq(f, "list", None, STR)


def _clock(value: Value) -> Handler:
    """Reads a clock, or calls what it is given between two readings; `timing` looks at the function afterwards."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        if not f.world.level:
            m.host_calls.clocks[f.module.name, f.fn] = None
        return value

    return handler


_FIXED: Final[dict[str, Value]] = {
    "str": STR,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "static": STATIC,
    "none": NONE,
    "texts": Tup((STR, STR)),
}


def handler_of(dotted: str) -> Handler | None:
    """The model of a function of the standard library; None when there is none."""
    found = STDLIB_CALLS.get(dotted) or math_calls.conversion(dotted)
    if found is not None:
        return found
    kind = lexicon().python.results.get(dotted)
    if kind is not None:
        return returns(_FIXED[kind])
    if dotted in lexicon().timing.clocks:
        owner, _, name = dotted.rpartition(".")
        whole = ExtInst(owner) if owner == "datetime.datetime" else INT if name.endswith("_ns") else FLOAT
        return _clock(whole)
    return returns_first if dotted in lexicon().python.identities else None


STDLIB_CALLS: Final[dict[str, Handler]] = {
    **{f"operator.{name}": handler for name, handler in _OPERATOR.items()},
    **ITERTOOLS_CALLS,
    **ORDERING_CALLS,
    **CHECKSUM_CALLS,
    dispatch.DISPATCH: dispatch.make,
    dispatch.REGISTER: dispatch.register,
    "timeit.timeit": _clock(FLOAT),
    "timeit.repeat": _clock(Seq("list", None, FLOAT)),
    "timeit.Timer": _clock(ExtInst("timeit.Timer")),
    command_lines.PARSER: command_lines.make,
    "abc.abstractproperty": descriptor("property"),
    "collections.Counter": _counter,
    "collections.OrderedDict": sequences.make_dict,
    "collections.OrderedDict.fromkeys": sequences.dict_fromkeys,
    "collections.defaultdict": _defaultdict,
    "collections.deque": _deque,
    "collections.namedtuple": named_tuples.make,
    "contextlib.suppress": instance_of("contextlib.suppress"),
    "copy.copy": _copy,
    "copy.deepcopy": deepcopy,
    "dataclasses.asdict": _asdict,
    "dataclasses.astuple": _astuple,
    "dataclasses.fields": _fields,
    "dataclasses.replace": _replace,
    "functools.cached_property": descriptor("cached_property"),
    "functools.reduce": _reduce,
    "json.loads": json_calls.loads,
    "operator.abs": BUILTIN_CALLS["builtins.abs"],
    "os.listdir": _texts,
    "pickle.dump": _pickled,
    "pickle.dumps": _pickled,
    "random.choice": _choice,
    "random.choices": _choices,
    "random.gauss": _uniform,
    "random.normalvariate": _uniform,
    "random.sample": _choices,
    "random.shuffle": _shuffle,
    "random.uniform": _uniform,
    "typing.NamedTuple": named_tuples.make_typed,
    "typing.cast": _cast,
    "typing_extensions.cast": _cast,
}
"""Dotted name to handler."""
