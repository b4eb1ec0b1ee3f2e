"""What the builtin functions and types do with abstract values (layer: ``link``, room ``models``).

Conversions, numbers, introspection and text are here; whatever walks an iterable is in `python_sequences`.
Handlers are found by dotted name in `BUILTIN_CALLS`; a builtin without one gives unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jitlint.infer.counted import LARGEST_INDEX
from jitlint.infer.lattice import join, or_unknown
from jitlint.infer.objects import forget_notes
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    BOOL,
    FLOAT,
    INT,
    NO_CONST,
    NONE,
    SETS,
    STATIC,
    STR,
    UNKNOWN,
    Arr,
    Class,
    Descr,
    Ext,
    ExtInst,
    Inst,
    Map,
    Py,
    Seq,
    SliceVal,
    Tup,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.domain import Store
from jitlint.link.engine.events import emit_convert, emit_format, text_of
from jitlint.link.engine.frame import Args, Frame, here_array
from jitlint.link.engine.machine import Machine
from jitlint.link.models.python import python_sequences as sequences
from jitlint.link.models.python.any_attribute import set_anywhere
from jitlint.link.tables.builtin_names import EXCEPTIONS
from jitlint.link.values import attributes, callbacks, classes, hashing, iteration, operators
from jitlint.link.values.boxes import (
    argument,
    const_int,
    const_text,
    each,
    is_array,
    make_map,
    make_seq,
)
from jitlint.link.values.library_objects import made
from jitlint.link.values.questions import largest, truths
from jitlint.link.values.questions.kinds import find_method, has_attribute, is_callable, isinstance_of

Handler = Callable[[Machine, Frame, int, Args], Value]

LARGEST: Final = 1 << 40
"""Integers beyond this are not kept exactly."""


def returns(value: Value) -> Handler:
    """A handler that always gives the same value."""
    return lambda m, f, at, args: value


def returns_first(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A function that gives its first argument back, as many decorators do."""
    return or_unknown(argument(args, 0))


def _convert_int(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    if value is None:
        return py(0)
    emit_convert(m, f, at, value, "int")
    const = value.const if type(value) is Py else NO_CONST
    if isinstance(const, (int, float)) and abs(const) < LARGEST:
        return py(int(const))
    return Py("int", counted=LARGEST_INDEX) if type(value) is Arr and largest.is_taken(m, f, at) else INT


def _convert_float(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    if value is None:
        return py(0.0)
    emit_convert(m, f, at, value, "float")
    const = value.const if type(value) is Py else NO_CONST
    return py(float(const)) if isinstance(const, (int, float)) and abs(const) < LARGEST else FLOAT


def _convert_complex(m: Machine, f: Frame, at: int, args: Args) -> Value:
    for value in args.pos:
        if emit_convert(m, f, at, value, "complex"):
            break
    return Py("complex")


def _convert_bool(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    if value is None:
        return py(False)
    outcome = truths.truth(m, f, at, value, "bool")
    return BOOL if outcome is None else py(outcome)


def _abs(m: Machine, f: Frame, at: int, args: Args) -> Value:
    def one(value: Value) -> Value:
        if type(value) is Py and isinstance(value.const, (int, float)):
            return py(abs(value.const))
        if type(value) is Inst:
            method = find_method(value, "__abs__")
            return UNKNOWN if method is None else evaluator.call(m, f, at, method, Args([value]))
        if type(value) is Py and value.kind == "complex":
            return FLOAT
        return operators.unary(m, f, at, "+", value)

    return each(or_unknown(argument(args, 0)), one)


def _round(m: Machine, f: Frame, at: int, args: Args) -> Value:
    digits = args.get(1, "ndigits")
    whole = digits is None or digits is NONE

    def one(value: Value) -> Value:
        if is_array(value):
            a: Any = operators.unary(m, f, at, "+", value)
            return (
                here_array(f, a.modes, "int", a.rank, a.why, a.traced, a.level) if whole and not a.host else a
            )
        if type(value) is Py:
            if whole:
                const = value.const
                if isinstance(const, (int, float)) and abs(const) < LARGEST:
                    return py(round(const))
                return INT
            return Py(value.kind)
        return UNKNOWN

    return each(or_unknown(argument(args, 0)), one)


def _pow(m: Machine, f: Frame, at: int, args: Args) -> Value:
    base, exponent = argument(args, 0, "base"), argument(args, 1, "exp")
    if base is None or exponent is None:
        return UNKNOWN
    return INT if len(args.pos) > 2 else operators.binary(m, f, at, "**", base, exponent)


def _divmod(m: Machine, f: Frame, at: int, args: Args) -> Value:
    a, b = argument(args, 0), argument(args, 1)
    if a is None or b is None:
        return UNKNOWN
    return Tup((operators.binary(m, f, at, "//", a, b), operators.binary(m, f, at, "%", a, b)))


def _answer(outcome: bool | None) -> Value:
    return BOOL if outcome is None else py(outcome)


def _agreed(outcomes: set[bool | None]) -> Value:
    return _answer(outcomes.pop() if len(outcomes) == 1 else None)


def _isinstance(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if len(args.pos) != 2:
        return BOOL
    callbacks.run_instance_check(m, f, at, args.pos[0], args.pos[1])
    return _answer(isinstance_of(m, args.pos[0], args.pos[1]))


def _callable(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return _agreed({is_callable(alt) for alt in alternatives(or_unknown(argument(args, 0)))})


def _hasattr(m: Machine, f: Frame, at: int, args: Args) -> Value:
    name = const_text(argument(args, 1))
    if name is None:
        return BOOL
    return _agreed({has_attribute(m, alt, name) for alt in alternatives(or_unknown(argument(args, 0)))})


def _getattr(m: Machine, f: Frame, at: int, args: Args) -> Value:
    obj, name, default = argument(args, 0), const_text(argument(args, 1)), args.get(2, "")
    if obj is None or name is None:
        return UNKNOWN
    if default is None:
        return attributes.get(m, f, at, obj, name)

    def one(alt: Value) -> Value:
        present = has_attribute(m, alt, name)
        if present is False:
            return default
        if is_array(alt) and not present:
            found = or_unknown(attributes.peek(m, f, alt, name))
        else:
            m.guards += 1  # the code is prepared for a name that is missing
            found = attributes.get(m, f, at, alt, name)
            m.guards -= 1
        return found if present else join(found, default)

    return each(obj, one)


def _setattr(m: Machine, f: Frame, at: int, args: Args) -> Value:
    obj, name, value = argument(args, 0), const_text(argument(args, 1)), argument(args, 2)
    if obj is None or value is None:
        return NONE
    if name is not None:
        attributes.store(m, f, at, obj, name, value)
        return NONE
    several = "" if type(obj) is Inst else "one of several"
    for alt in alternatives(obj):
        if type(alt) is Inst:
            m.domains.on_store(f, Store(at, "attribute", alt, None, value, None, several))
            set_anywhere(alt, value)
    return NONE


def _set_anyway(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``object.__setattr__(obj, "name", value)``: past what the class says of its attributes, if it says so by fields alone."""
    obj, name, value = argument(args, 0), const_text(argument(args, 1)), argument(args, 2)
    plain = type(obj) is Inst and find_method(obj, "__setattr__") is None
    if type(obj) is Inst and plain and name is not None and value is not None:
        attributes.store_in_instance(m, f, at, obj, name, value, "anyway")
    elif obj is not None:
        forget_notes(obj)
        if type(obj) is Inst and name is None:
            set_anywhere(obj, or_unknown(value))
    return NONE


_TYPE_NAMES: Final = frozenset({"int", "float", "bool", "complex", "str", "bytes", "slice"})


def _made_class(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``type(name, bases, members)``, if it is known what is in the class, and what it is derived from."""
    name, bases, members = args.pos
    derived = iteration.known_items(bases)
    if type(members) is not Map or members.rest is not None or not derived:
        return UNKNOWN
    first = derived[0]
    if type(first) is not Class or any(type(base) is not Class for base in derived):
        return UNKNOWN
    own = {key: value for key, value in members.entries.items() if isinstance(key, str)}
    called = const_text(name) or first.info.name
    qualname = called if f.fn is None else f"{f.qualname}.<locals>.{called}"
    info = ClassInfo(len(m.classes) + 1, f.module, called, qualname, at, derived, own, {}, f.scope)
    m.classes.append(info)
    classes.inherit(m, info)
    info.extern = True  # what else the program does with it is not written down
    classes.init_subclass(m, f, at, info, {})
    return Class(info)


def _type(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if len(args.pos) == 3:
        return _made_class(m, f, at, args)
    if len(args.pos) != 1:
        return UNKNOWN

    def one(value: Value) -> Value:
        if type(value) is Inst:
            return Class(value.cls)
        if type(value) is Tup:
            return Class(value.cls) if value.cls is not None else Ext("builtins.tuple")
        if type(value) is Py and value.kind in _TYPE_NAMES:
            return Ext(f"builtins.{value.kind}")
        if type(value) is Arr and not value.weak:
            return Ext("numpy.ndarray" if value.host else "jax.Array")
        if type(value) is Map:
            return Ext("builtins.dict")
        if type(value) is Seq and value.kind in ("list", "tuple", *SETS):
            return Ext(f"builtins.{value.kind}")
        return UNKNOWN

    return each(args.pos[0], one)


def _str(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = args.get(0, "object")
    if value is None:
        return py("")
    const = value.const if type(value) is Py else NO_CONST
    return py(str(const)) if isinstance(const, (int, str)) and len(args.pos) == 1 else text_of([value])


def _repr(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return text_of(args.pos)


def _format(m: Machine, f: Frame, at: int, args: Args) -> Value:
    spec = args.get(1, "format_spec")
    wanted = spec is not None and spec is not STR and const_text(spec) != ""
    if wanted and emit_format(m, f, at, or_unknown(argument(args, 0)), "format"):
        return STR
    return text_of(args.pos[:1])


def _hash(m: Machine, f: Frame, at: int, args: Args) -> Value:
    hashing.hashed(m, f, at, or_unknown(argument(args, 0)), "hash()")
    return INT


def _digits(name: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        refused = emit_convert(m, f, at, or_unknown(argument(args, 0)), "index", name)
        return UNKNOWN if refused else STR

    return handler


def _vars(m: Machine, f: Frame, at: int, args: Args) -> Value:
    def one(value: Value) -> Value:
        if type(value) is Inst:
            return make_map(f, dict(value.attrs), UNKNOWN if value.open else None)
        return UNKNOWN

    return each(or_unknown(argument(args, 0)), one)


def _slice(m: Machine, f: Frame, at: int, args: Args) -> Value:
    bounds = [None if value is NONE else value for value in args.pos[:3]]
    if len(bounds) == 1:
        return SliceVal(None, bounds[0], None)
    return SliceVal(bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else None) if bounds else UNKNOWN


def _bytes(name: str, result: Value) -> Handler:
    """``bytes(n)`` needs a number, not a tracer; of an iterable it takes the elements."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        value = argument(args, 0)
        if type(value) is Arr and value.rank == 0:
            emit_convert(m, f, at, value, "index", name)
        return result

    return handler


def _chr(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = argument(args, 0)
    emit_convert(m, f, at, or_unknown(value), "index", "chr")
    code = const_int(value)
    return py(chr(code)) if code is not None and 0 <= code < 0x110000 else STR


def descriptor(kind: str) -> Handler:
    """The handler of ``property(f)``, ``staticmethod(f)``, ``classmethod(f)``."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        func = args.get(0, "fget")
        return UNKNOWN if func is None else Descr(kind, func)

    return handler


def instance_of(dotted: str) -> Handler:
    """A handler that makes an instance of a library class and forgets its arguments."""
    return lambda m, f, at, args: ExtInst(dotted)


def _open(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return made(f, "io.TextIOWrapper")


def _dir(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return make_seq(f, "list", None, STR)


_HANDLERS: Final[dict[str, Handler]] = {
    "abs": _abs,
    "all": sequences.quantifier("all"),
    "any": sequences.quantifier("any"),
    "ascii": returns(STR),
    "bin": _digits("bin"),
    "bool": _convert_bool,
    "breakpoint": returns(NONE),
    "bytearray": _bytes("bytearray", STATIC),
    "bytes": _bytes("bytes", Py("bytes")),
    "callable": _callable,
    "chr": _chr,
    "classmethod": descriptor("classmethod"),
    "complex": _convert_complex,
    "delattr": returns(NONE),
    "dict": sequences.make_dict,
    "dict.fromkeys": sequences.dict_fromkeys,
    "dir": _dir,
    "divmod": _divmod,
    "enumerate": sequences.make_enumerate,
    "filter": sequences.make_filter,
    "float": _convert_float,
    "format": _format,
    "frozenset": sequences.set_maker("frozenset"),
    "getattr": _getattr,
    "hasattr": _hasattr,
    "hash": _hash,
    "hex": _digits("hex"),
    "id": returns(INT),
    "input": returns(STR),
    "int": _convert_int,
    "int.from_bytes": returns(INT),
    "isinstance": _isinstance,
    "issubclass": returns(BOOL),
    "iter": sequences.converter("iter"),
    "len": sequences.length,
    "list": sequences.converter("list"),
    "map": sequences.make_map_object,
    "max": sequences.extreme("max"),
    "min": sequences.extreme("min"),
    "next": sequences.take_next,
    "object": instance_of("builtins.object"),
    "object.__new__": lambda m, f, at, args: classes.bare(m, f, at, argument(args, 0)),
    "object.__setattr__": _set_anyway,
    "oct": _digits("oct"),
    "open": _open,
    "ord": returns(INT),
    "pow": _pow,
    "print": returns(NONE),
    "property": descriptor("property"),
    "range": sequences.make_range,
    "repr": _repr,
    "reversed": sequences.make_reversed,
    "round": _round,
    "set": sequences.set_maker("set"),
    "setattr": _setattr,
    "slice": _slice,
    "sorted": sequences.make_sorted,
    "staticmethod": descriptor("staticmethod"),
    "str": _str,
    "sum": sequences.total,
    "tuple": sequences.converter("tuple"),
    "type": _type,
    "vars": _vars,
    "zip": sequences.make_zip,
}

_IMPLIED: Final[dict[str, tuple[str, ...]]] = {
    "bool": ("__bool__", "__len__"),
    "complex": ("__complex__", "__float__", "__index__"),
    "dir": ("__dir__",),
    "float": ("__float__", "__index__"),
    "format": ("__format__", "__str__", "__repr__"),
    "hash": ("__hash__",),
    "int": ("__int__", "__index__"),
    "print": ("__str__", "__repr__"),
    "range": ("__index__",),
    "repr": ("__repr__",),
    "reversed": ("__reversed__", "__len__"),
    "str": ("__str__", "__repr__"),
}
"""The special methods of which a builtin function asks for the first that its arguments have."""


def _asking(handler: Handler, names: tuple[str, ...]) -> Handler:
    def asked(m: Machine, f: Frame, at: int, args: Args) -> Value:
        for value in args.pos if f.world.level else ():
            callbacks.run_implied(m, f, at, value, names)
        return handler(m, f, at, args)

    return asked


BUILTIN_CALLS: Final[dict[str, Handler]] = {
    **{f"builtins.{name}": handler for name, handler in _HANDLERS.items()},
    **{
        f"builtins.{name}": _asking(_HANDLERS[name], names)
        for name, names in _IMPLIED.items()
        if name in _HANDLERS
    },
    **{f"builtins.{name}": instance_of(f"builtins.{name}") for name in EXCEPTIONS},
}
"""Dotted name to handler."""
