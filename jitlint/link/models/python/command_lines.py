"""What `argparse` makes of a command line: an object with an attribute for each option (layer: ``link``, room ``models``).

What it does: gives each option the type that its declaration says, its default included. What it does not: read command lines; a
number that has a default may be any other.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.lattice import join
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Py,
    Seq,
    Tup,
    Value,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.boxes import const_text

PARSER: Final = "argparse.ArgumentParser"
_OPTIONS: Final = "$options"
"""Where a parser keeps its options, which it shares with the groups in it."""
_CLASS: Final = "$class"
_PARTS: Final = frozenset(
    {"add_argument_group", "add_mutually_exclusive_group", "add_subparsers", "add_parser"}
)
_PARSING: Final = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args"})
_TYPES: Final[dict[str, Value]] = {
    "builtins.int": INT,
    "builtins.float": FLOAT,
    "builtins.str": STR,
    "builtins.bool": BOOL,
}
_FLAGS: Final = frozenset({"store_true", "store_false"})
_SEVERAL: Final = ("+", "*", "...")


def make(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``argparse.ArgumentParser(...)``: with parents it has options that are not known."""
    return ExtInst(PARSER, {_OPTIONS: ExtInst(_OPTIONS)})


def method(m: Machine, f: Frame, at: int, parser: ExtInst, name: str, args: Args) -> Value:
    """``parser.add_argument(...)``, ``parser.parse_args()`` and what else a parser can do."""
    options = parser.attrs.get(_OPTIONS)
    if type(options) is not ExtInst:
        return UNKNOWN
    if name in _PARTS:
        return ExtInst(PARSER, parser.attrs)
    if name == "add_argument":
        _add(m, f, at, options.attrs, args)
    elif name == "set_defaults":
        options.attrs |= dict.fromkeys(args.kw if args.kw_more is None else options.attrs, UNKNOWN)
    elif name in _PARSING:
        found = _parsed(m, f, at, parser, dict(options.attrs))
        return Tup((found, Seq("list", None, STR, f.world.level, f.token))) if "known" in name else found
    return UNKNOWN


def _add(m: Machine, f: Frame, at: int, options: dict[str, Value], args: Args) -> None:
    name = _destination(args)
    if name is not None and args.more is None:
        value = _value(m, f, at, args) if args.kw_more is None else UNKNOWN
        options[name] = join(options[name], value) if name in options else value


def _destination(args: Args) -> str | None:
    """The attribute that an option goes to."""
    told = const_text(args.kw.get("dest"))
    names = [const_text(value) for value in args.pos]
    if told is not None or not names or None in names:
        return told
    known = [name for name in names if name is not None]
    long = next((name for name in known if name.startswith("--")), known[0])
    return long.lstrip("-").replace("-", "_") if long.startswith("-") else long


def _value(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """What an option may be."""
    action = args.kw.get("action")
    how = const_text(action) if action is not None else "store"
    if how in _FLAGS:
        return _or_default(BOOL, args, BOOL)
    if type(action) is Ext and action.dotted == "argparse.BooleanOptionalAction":
        return _or_default(BOOL, args, NONE)
    if how == "count":
        return _or_default(INT, args, NONE)
    return _given(m, f, at, args, how == "append") if how in ("store", "append") else UNKNOWN


def _given(m: Machine, f: Frame, at: int, args: Args, several: bool) -> Value:
    """What an option is that takes texts. several: each time that it is given, another one."""
    nargs = args.kw.get("nargs")
    number, counted = const_text(nargs), type(nargs) is Py and nargs.kind == "int"
    if nargs is not None and not counted and number not in (*_SEVERAL, "?"):
        return UNKNOWN
    element = _converted(m, f, at, args.kw.get("type"))
    if several or counted or number in _SEVERAL:
        element = Seq("list", None, element, f.world.level, f.token)
    if number == "?":
        element = join(element, args.kw.get("const", NONE))
    needed = args.kw.get("required") is TRUE or (not _is_optional(args) and number not in ("?", "*"))
    return element if needed and "default" not in args.kw else _or_default(element, args, NONE)


def _is_optional(args: Args) -> bool:
    return any((const_text(value) or "").startswith("-") for value in args.pos)


def _converted(m: Machine, f: Frame, at: int, kind: Value | None) -> Value:
    """What a text becomes by the type of its option."""
    if kind is None or kind is NONE:
        return STR
    if type(kind) is Func:
        return evaluator.call(m, f, at, kind, Args([STR]))
    return _TYPES.get(kind.dotted, UNKNOWN) if type(kind) is Ext else UNKNOWN


def _or_default(element: Value, args: Args, left_out: Value) -> Value:
    """What a command line gives, or its absence. A text is converted as one from the command line is."""
    default = args.kw.get("default", left_out)
    if type(default) is Py:
        if default.kind == "str":
            return element
        default = Py(default.kind) if default is not NONE else NONE
    return join(element, default)


def _parsed(m: Machine, f: Frame, at: int, parser: ExtInst, options: dict[str, Value]) -> Inst:
    """An object with these attributes, and others. It has an ``__eq__``, so that it has no hash."""
    known = parser.attrs.get(_CLASS)
    if type(known) is not Class:
        info = ClassInfo(
            len(m.classes) + 1, f.module, "Namespace", "argparse.Namespace", at, [], {}, {}, f.scope
        )
        info.hashable, info.extern = False, True
        m.classes.append(info)
        known = parser.attrs[_CLASS] = Class(info)
    return Inst(known.info, options, f.world.level, f.token, True)
