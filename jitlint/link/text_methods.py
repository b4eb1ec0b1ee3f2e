"""Methods of Python text (layer: ``link``).

Text is never a tracer; only `str.format` looks into its arguments. Methods of known text with known arguments
are carried out, so that ``mode.startswith("train")`` decides a branch.
"""

from __future__ import annotations

import re
import string
from typing import Final

from jitlint.infer.values import (
    BOOL,
    INT,
    NO_CONST,
    NONE,
    STR,
    Map,
    Py,
    Tup,
    Value,
    py,
)
from jitlint.link.boxes import const_text, make_seq
from jitlint.link.events import emit_format, text_of
from jitlint.link.machine import Args, Frame, Machine

MAX_TEXT: Final = 200

_TEXT: Final = frozenset(
    """
    capitalize casefold center expandtabs join ljust lower lstrip removeprefix removesuffix replace rjust rstrip strip
    swapcase title translate upper zfill format_map
    """.split()
)
_BOOL: Final = frozenset(
    """
    endswith isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle
    isupper startswith
    """.split()
)
_INT: Final = frozenset({"count", "find", "index", "rfind", "rindex"})
_LISTS: Final = frozenset({"split", "rsplit", "splitlines"})
_TRIPLES: Final = frozenset({"partition", "rpartition"})
_NUMBERS: Final = {"bit_length": INT, "bit_count": INT, "is_integer": BOOL}
_FOLDED: Final = (_TEXT | _BOOL | _INT | _LISTS | _TRIPLES) - {"join", "translate", "format_map"}


def call_text_method(m: Machine, f: Frame, at: int, text: Py, name: str, args: Args) -> Value | None:
    """The result of ``text.name(*args)``; None when the value has no such method here."""
    if text.kind == "bytes":
        return STR if name == "decode" else None
    if text.kind in ("int", "float", "bool"):
        return _NUMBERS.get(name)
    if text.kind != "str":
        return None
    if name == "format":
        _check_format(m, f, at, const_text(text), args)
        return text_of((*args.pos, *args.kw.values()))
    folded = _fold(f, text, name, args)
    if folded is not None:
        return folded
    if name in _TEXT:
        return STR
    if name in _BOOL:
        return BOOL
    if name in _INT:
        return INT
    if name in _LISTS:
        return make_seq(f, "list", None, STR)
    if name in _TRIPLES:
        return Tup((STR, STR, STR))
    return Py("bytes") if name == "encode" else None


def _fold(f: Frame, text: Py, name: str, args: Args) -> Value | None:
    """Carry out a method of short known text."""
    if name not in _FOLDED or args.kw or args.more is not None:
        return None
    values = [value.const if type(value) is Py else NO_CONST for value in (text, *args.pos)]
    if not all(
        value is None or (isinstance(value, (str, int)) and len(str(value)) <= MAX_TEXT) for value in values
    ):
        return None
    if any(isinstance(value, int) and abs(value) > MAX_TEXT for value in values):
        return None
    try:
        result: object = getattr(values[0], name)(*values[1:])
    except (TypeError, ValueError, AttributeError):
        return None
    if isinstance(result, list):
        return make_seq(f, "list", [py(part) for part in result])
    return Tup(tuple([py(part) for part in result])) if isinstance(result, tuple) else py(result)


def _check_format(m: Machine, f: Frame, at: int, text: str | None, args: Args) -> None:
    """``"{:.2f}".format(x)``: a specification needs a Python number."""
    for value in _with_specification(text, args):
        emit_format(m, f, at, value, "format")


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


_CONVERSION: Final = re.compile(r"%(?:\((\w*)\))?[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?(.)")
_ANY_OBJECT: Final = "rsa%"


def percent(m: Machine, f: Frame, at: int, text: Py, value: Value) -> Value:
    """``"%d" % x``: %s and %r accept tracers, numeric conversions do not."""
    if not isinstance(text.const, str):
        return STR
    found = [match for match in _CONVERSION.findall(text.const) if match[1] != "%"]
    for i, (name, letter) in enumerate(found):
        if letter in _ANY_OBJECT:
            continue
        part: Value | None = value
        if type(value) is Map:
            part = value.entries.get(name)
        elif type(value) is Tup:
            part = value.items[i] if i < len(value.items) else None
        if part is not None and emit_format(m, f, at, part, "%"):
            break
    return text_of([value])
