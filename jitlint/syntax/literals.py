"""Literals: finding comments and strings in a text, and the values of numbers and strings.

What it does: turn the text of one literal token into a Python value, without warnings and without `eval`.
What it does not: f-strings and implicit concatenation (see `concrete.expressions`). Layer: ``syntax``.
"""

from __future__ import annotations

import re
import unicodedata

# A comment or a string literal without its prefix. The strings inside the braces of an f-string are
# taken apart wrongly when they use the same quotes as the f-string; who uses this must be able to live with it.
LITERAL = re.compile(
    r"""#[^\r\n]*"""
    r'''|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'''
    r"""|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"""
    r"""|"[^"\\\r\n]*(?:\\(?:\r\n|.)[^"\\\r\n]*)*\""""
    r"""|'[^'\\\r\n]*(?:\\(?:\r\n|.)[^'\\\r\n]*)*'""",
    re.DOTALL,
)

# A string of so many pieces is text: nothing depends on its value.
MANY_STRINGS = 500
# Longer annotations in strings are prose or generated: not worth a parse.
MAX_ANNOTATION = 1000
# What may stand between a literal and the next when the two are one string; then the prefix of the next one.
_BETWEEN = re.compile(r"(?:\s|\\\r?\n)*(?P<prefix>[rRbBuU]{0,2})")

_ESCAPE = re.compile(
    r"\\(\r?\n|[\\'\"abfnrtv]|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]+\})"
)
_SIMPLE = {
    "\n": "",
    "\r\n": "",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_NOT_A_BREAK = re.compile(r"[^\n]")
SURROGATE = re.compile("[\ud800-\udfff]")
_INT_LIMIT = 1 << 64


def without_surplus_strings(text: str) -> str:
    """The text with blanks for the strings that directly follow `MANY_STRINGS` others, all else in its place.

    Generated code (help texts, tables) has strings of thousands of pieces, which the parser nests as deeply. f-strings
    stay: they hold code.
    """
    kept: list[str] = []
    copied = end = count = 0
    for match in LITERAL.finditer(text):
        start = match.start()
        if text[start] == "#":
            between = text[end:start]
            count = count if not between.strip() else 0
            end = match.end()
            continue
        glue = _BETWEEN.fullmatch(text, end, start)
        count = count + 1 if glue else 1
        if glue and count > MANY_STRINGS:
            kept.append(text[copied : glue.start("prefix")])
            copied = match.end()
            kept.append(_NOT_A_BREAK.sub(" ", text[glue.start("prefix") : copied]))
        end = match.end()
    return "".join([*kept, text[copied:]]) if kept else text


def int_value(text: str) -> int | None:
    """The value of an integer literal, or None when it does not fit into 64 bits."""
    try:
        value = int(text, 0)
    except ValueError:  # thousands of digits: the interpreter refuses to convert them
        return None
    return value if is_small(value) else None


def is_small(value: int) -> bool:
    """Whether the IR keeps an integer: it fits into 64 bits."""
    return value < _INT_LIMIT


def float_value(text: str) -> float:
    """The value of a float literal."""
    return float(text)


def string_value(text: str) -> tuple[str, str | None]:
    """Kind (``str`` or ``bytes``) and value of a plain string literal, prefix and quotes included.

    The value is None for bytes, and for strings that no UTF-8 text can hold (lone surrogates).
    """
    quote = text[-1]
    start = text.find(quote)
    prefix = text[:start]
    width = 3 if text.startswith(quote * 3, start) and len(text) - start >= 6 else 1
    body = text[start + width : -width]
    if prefix and ("b" in prefix or "B" in prefix):
        return "bytes", None
    if "\r" in body:
        body = body.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" in body and not (prefix and ("r" in prefix or "R" in prefix)):
        try:
            body = _ESCAPE.sub(_unescape, body)
        except (KeyError, ValueError):  # no such character: not a valid program, but nothing depends on it
            return "str", None
        if SURROGATE.search(body):
            return "str", None
    return "str", body


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    simple = _SIMPLE.get(code)
    if simple is not None:
        return simple
    if code[0] == "N":
        return unicodedata.lookup(code[2:-1])
    if code[0] in "xuU":
        return chr(int(code[1:], 16))
    return chr(int(code, 8))
