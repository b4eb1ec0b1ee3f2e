"""Methods of Python text (layer: ``link``, room ``models``).

Text is never a tracer; only `str.format` looks into its arguments. Methods of known text with known arguments
are carried out, so that ``mode.startswith("train")`` decides a branch.
"""

from __future__ import annotations

import string
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import (
    BOOL,
    INT,
    NO_CONST,
    NONE,
    STR,
    Py,
    Tup,
    Value,
    py,
)
from jitlint.link.engine.events import emit_format, text_of
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.boxes import const_text, make_seq

MAX_TEXT: Final = 200

_NUMBERS: Final = {"bit_length": INT, "bit_count": INT, "is_integer": BOOL}
_NOT_FOLDED: Final = frozenset({"join", "translate", "format_map"})
"""Methods whose arguments are no plain text or numbers."""


def call_text_method(m: Machine, f: Frame, at: int, text: Py, name: str, args: Args) -> Value | None:
    """The result of ``text.name(*args)``; None when the value has no such method here."""
    if text.kind == "bytes":
        return STR if name == "decode" else None
    if text.kind in ("int", "float", "bool"):
        return _NUMBERS.get(name)
    if text.kind != "str":
        return None
    if name == "format":
        if _refuses_format(m, f, at, const_text(text), args):
            return STR
        return text_of((*args.pos, *args.kw.values()))
    folded = _fold(f, text, name, args)
    if folded is not None:
        return folded
    kind = lexicon().python.text.get(name)
    if kind == "list":
        return make_seq(f, "list", None, STR)
    if kind == "triple":
        return Tup((STR, STR, STR))
    return None if kind is None else Py(kind)


def _fold(f: Frame, text: Py, name: str, args: Args) -> Value | None:
    """Carry out a method of short known text."""
    if name not in lexicon().python.text or name in _NOT_FOLDED or args.kw or args.more is not None:
        return None
    values = [value.const if type(value) is Py else NO_CONST for value in (text, *args.pos)]
    if not all(map(_is_small, values)):
        return None
    try:
        result: object = getattr(values[0], name)(*values[1:])
    except (TypeError, ValueError, AttributeError):
        return None
    if isinstance(result, list):
        return make_seq(f, "list", [py(part) for part in result])
    return Tup(tuple([py(part) for part in result])) if isinstance(result, tuple) else py(result)


def _is_small(value: object) -> bool:
    """Whether carrying out a method with a constant takes no time."""
    if isinstance(value, int) and abs(value) > MAX_TEXT:
        return False
    return value is None or (isinstance(value, (str, int)) and len(str(value)) <= MAX_TEXT)


def _refuses_format(m: Machine, f: Frame, at: int, text: str | None, args: Args) -> bool:
    """``"{:.2f}".format(x)``: a specification needs a Python number."""
    return any(emit_format(m, f, at, value, "format") for value in _with_specification(text, args))


def _with_specification(text: str | None, args: Args) -> list[Value]:
    """The arguments that meet a format specification."""
    try:
        fields = list(string.Formatter().parse(text or ""))
    except ValueError:
        return []
    found: list[Value] = []
    number = 0
    for _, name, spec, conversion in fields:
        if name is None:
            continue
        if not name:
            name, number = str(number), number + 1
        value = args.get(int(name), "") if name.isdecimal() else args.kw.get(name)
        if spec and not conversion and value is not None and value is not NONE:
            found.append(value)
    return found
