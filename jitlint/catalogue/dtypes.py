"""Exact dtypes: how wide the numbers of an array are and whether their type is weak (layer: ``catalogue``).

What it is: the names of exact dtypes, JAX's promotion of them, and the language in which ``results.toml`` says what
dtype a function's result has:

    like(x, y)            what the promotion of these arguments gives, weak types included
    strong(x)             the same, never weak: reductions
    float(x)              the same, as a float if it is none: `jnp.sin`
    strong float(x)       both: `jnp.mean`
    sum(x)                never weak, and integers and truth values give integers of the default width
    int32                 always this one
    ... beside c          parameters that have no say in it
    ... unless d          parameters with which none of this holds

An exact dtype is the name of one (``int8``, ``bfloat16``); ``int``, ``uint``, ``float`` and ``complex`` are the defaults, which
are 32 or 64 bits wide by ``jax_enable_x64``; a star behind it marks a weak type, which gives way to others; ``+`` is some
type that is not weak. None: nothing is known.

Source: https://docs.jax.dev/en/latest/type_promotion.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, Optional

import msgspec

from jitlint.catalogue.schema import CatalogueError

STRONG: Final = "+"
TEXT: Final = "text"
"""The dtype of arrays of NumPy that hold texts, which JAX refuses."""
OBJECT: Final = "dtype"
"""The kind of a value that is a dtype; a dtype that is known is told behind it."""
Operand = tuple[Optional[str], Optional[str]]
"""The kind of an operand (bool, int, number, float, complex; None: not known) and its exact dtype."""

_CATEGORY: Final = {"bool": 0, "int": 1, "number": 1, "float": 2, "complex": 3}
_DEFAULTS: Final = {
    "bool": ("bool", "bool"),
    "int": ("int32", "int64"),
    "uint": ("uint32", "uint64"),
    "float": ("float32", "float64"),
    "complex": ("complex64", "complex128"),
}
"""What the defaults are without and with 64 bits."""
_BY_PAIR: Final = {pair: name for name, pair in _DEFAULTS.items()}
_WIDE: Final = {wide: narrow for narrow, wide in _DEFAULTS.values() if narrow != wide}
_NAME: Final = re.compile(r"(bool|u?int|b?float|complex)(\d*)")


class Dtype(str):
    """A kind of numbers of which more is known: ``exact``, its exact dtype."""

    __slots__ = ("exact",)
    exact: str


@cache
def dtype_of(kind: str | None, exact: str | None) -> str | None:
    """The kind with its exact dtype, where that says more."""
    if kind is None or exact is None or exact == kind == "bool":
        return kind
    made = Dtype(kind)
    made.exact = exact
    return made


def exact_of(dtype: str | None) -> str | None:
    """The exact dtype of an array with this dtype, None when it is not known."""
    return dtype.exact if type(dtype) is Dtype else "bool" if dtype == "bool" else None


@cache
def told(dtype: str, exact: str | None) -> str:
    """The kind of the value ``x.dtype`` for an array of this dtype: it says what is made with it, which is never weak."""
    kind = "int" if dtype == "number" else str(dtype)
    return " ".join([OBJECT, kind, *([] if exact is None else [without_star(exact)])])


def plain_kind(kind: str) -> str:
    """The kind of a value without the dtype that may be told behind it."""
    return kind.partition(" ")[0]


def is_object(kind: str) -> bool:
    """Whether a value of this kind is a dtype."""
    return plain_kind(kind) == OBJECT


@cache
def of_told(kind: str) -> str | None:
    """The dtype that the kind of a value says; None where that says nothing, or the value is no dtype."""
    words = kind.split()
    if words[:1] != [OBJECT] or len(words) == 1:
        return None
    return dtype_of(words[1], words[2] if len(words) > 2 else None)


def joined(left: str | None, right: str | None) -> str | None:
    """What is certain of an array that has one of two dtypes."""
    if left is None or left != right:
        return None
    a, b = exact_of(left), exact_of(right)
    if a == b:
        return left
    known = a is not None and b is not None and not is_weak(a) and not is_weak(b)
    return dtype_of(str(left), STRONG if known else None)


def covers(left: str | None, right: str | None) -> bool:
    """Whether one dtype says nothing that the other does not say as well."""
    return left is None or (left == right and exact_of(left) in (None, exact_of(right)))


def of_number(kind: str) -> str | None:
    """The exact dtype of an array made of a Python number."""
    return kind if kind == "bool" else f"{kind}*" if kind in _CATEGORY else None


def named(name: str) -> str | None:
    """The exact dtype with this name of NumPy's, as it is said to JAX; None for one whose width is not told."""
    if name in ("int", "float", "complex", "bool"):
        return name
    match = _NAME.fullmatch(name)
    if match is None or not match[2]:
        return {"bool_": "bool", "int_": "int", "float_": "float", "complex_": "complex"}.get(name)
    return _single(name)


def narrowed(name: str) -> str | None:
    """What JAX gives for a dtype of 64 bits, or a complex one of 128, while these are off; None for any other name."""
    return _WIDE.get("float64" if name == "double" else name)


def _single(name: str) -> str:
    return of_pair(_WIDE.get(name, name), name) or name


def of_pair(narrow: str, wide: str) -> str | None:
    """The exact dtype that is the one without and the other with 64 bits."""
    return _BY_PAIR.get((narrow, wide)) or (wide if narrow == wide else None)


def is_weak(exact: str) -> bool:
    """Whether a type gives way to others."""
    return exact.endswith("*")


def without_star(exact: str) -> str:
    """The same dtype, not weak."""
    return exact.rstrip("*")


def differ(left: str | None, right: str | None) -> bool:
    """Whether two exact dtypes are different ones, with and without 64 bits; weak or not does not matter."""
    if left is None or right is None or STRONG in (left, right):
        return False
    return all(a != b for a, b in zip(_pair(left), _pair(right)))


def _pair(exact: str) -> tuple[str, str]:
    """The dtype without and with 64 bits."""
    name = without_star(exact)
    return _DEFAULTS.get(name, (name, name))


def shown(exact: str) -> str:
    """The name of a dtype as messages give it: the defaults without 64 bits."""
    return _pair(exact)[0]


def kind_of(exact: str) -> str | None:
    """The kind of numbers of an exact dtype."""
    match = _NAME.match(without_star(exact))
    return (
        None
        if match is None
        else match[1].removeprefix("u").removeprefix("b")
        if match[1] != "bool"
        else "bool"
    )


def promoted(left: Operand, right: Operand) -> str | None:
    """The exact dtype of what an operation makes of two operands."""
    known, other = (left, right) if left[1] is not None else (right, left)
    if known[1] is None:
        return None
    if other[1] is None:
        return _with_unknown(known, other[0])
    a, b = known[1], other[1]
    higher = _higher(left, right)
    if is_weak(a) != is_weak(b):
        weak, strong = (known, other) if is_weak(a) else (other, known)
        if _category(weak) <= _category(strong):
            return strong[1]
        return weak[1] if _category(strong) < _CATEGORY["float"] else _made_complex(strong[1])
    if is_weak(a) or (STRONG in (a, b) and higher is not None):
        return a if higher is None else higher[1]
    if STRONG in (a, b):
        return STRONG
    return _together(_pair(a), _pair(b))


def _made_complex(exact: str | None) -> str:
    """What a weak complex number makes of a float that is not weak."""
    return {STRONG: STRONG, "float": "complex"}.get(exact or "", "complex64")


def _category(operand: Operand) -> int:
    return _CATEGORY.get(operand[0] or "", -1)


def _higher(left: Operand, right: Operand) -> Operand | None:
    """The operand of the wider kind of numbers, None when both are of one kind."""
    a, b = _category(left), _category(right)
    return None if a == b else left if a > b else right


def _with_unknown(known: Operand, kind: str | None) -> str | None:
    """What is made of an operand and one of unknown exact dtype."""
    exact, category = known[1], _category(known)
    other = _CATEGORY.get(kind) if kind is not None else None
    if exact is not None and other is not None and other < category:
        return exact
    if exact is None or is_weak(exact) or category < _CATEGORY["float"]:
        return STRONG if exact is not None and other == category and not is_weak(exact) else None
    return STRONG if other is None or other == category else None


def _together(left: tuple[str, str], right: tuple[str, str]) -> str | None:
    found = [_strong_pair(a, b) for a, b in zip(left, right)]
    if found[0] is None or found[1] is None:
        return None
    narrow, wide = _WIDE.get(found[0], found[0]), found[1]
    return of_pair(narrow, wide)


def _strong_pair(a: str, b: str) -> str | None:
    """JAX's promotion of two strong types."""
    if a == b:
        return a
    (kind_a, bits_a), (kind_b, bits_b) = _parsed(a), _parsed(b)
    if not bits_a or not bits_b:
        return b if kind_a == "bool" else a if kind_b == "bool" else None
    if kind_a == kind_b:
        return a if int(bits_a) > int(bits_b) else b
    return _of_two_kinds((a, kind_a, int(bits_a)), (b, kind_b, int(bits_b)))


_ORDER: Final = ("int", "uint", "bfloat", "float", "complex")


def _of_two_kinds(a: tuple[str, str, int], b: tuple[str, str, int]) -> str | None:
    """The promotion of two numbers of different kinds, each with its name, kind and width."""
    (_, low_kind, low_bits), (high, high_kind, high_bits) = sorted(
        (a, b), key=lambda one: _ORDER.index(one[1])
    )
    if high_kind == "uint":
        bits = max(low_bits, 2 * high_bits)
        return f"int{bits}" if bits <= 64 else None
    if (low_kind, high_kind) == ("bfloat", "float"):
        return f"float{max(high_bits, 32)}"
    if high_kind == "complex" and low_kind in ("float", "bfloat"):
        return high if low_bits <= high_bits // 2 else "complex128"
    return high


def _parsed(name: str) -> tuple[str, str]:
    match = _NAME.fullmatch(name)
    return (match[1], match[2]) if match is not None else ("", "")


# What results have


class Exact(msgspec.Struct, frozen=True):
    """What the dtype of a function's result follows; see the head of this module for the language."""

    names: tuple[str, ...] = ()
    fixed: str = ""
    how: str = "like"
    beside: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()

    def of(self, operands: Mapping[str, Operand], given: set[str]) -> str | None:
        """The exact dtype of a result. operands: by parameter; given: the parameters of the call that may matter."""
        if self.unless & given or not given <= {*self.names, *self.beside}:
            return None
        if self.fixed:
            return self.fixed
        found: Operand | None = None
        for name in self.names:
            if name in operands:
                found = operands[name] if found is None else combined(found, operands[name])
        if found is None:
            return None
        exact = (as_float(found) if "float" in self.how else _summed(found) if self.how == "sum" else found)[
            1
        ]
        if self.how in ("like", "float"):
            return exact
        return STRONG if exact is None else without_star(exact)

    def __str__(self) -> str:
        text = self.fixed or f"{self.how}({', '.join(self.names)})"
        text += f" beside {', '.join(sorted(self.beside))}" if self.beside else ""
        return text + (f" unless {', '.join(sorted(self.unless))}" if self.unless else "")


def combined(left: Operand, right: Operand) -> Operand:
    """Two operands as one."""
    higher = _higher(left, right)
    kind = None if None in (left[0], right[0]) else (higher or left)[0]
    return kind, promoted(left, right)


def as_float(operand: Operand) -> Operand:
    """The operand where integers and truth values count as floats: 64 bits give 64 bits, all others 32."""
    kind, exact = operand
    if kind not in ("bool", "int", "number"):
        return operand
    if exact is None or exact == STRONG:
        return "float", exact
    made = of_pair(*("float64" if one.endswith("64") else "float32" for one in _pair(exact)))
    return "float", None if made is None else f"{made}*" if is_weak(exact) else made


def _summed(operand: Operand) -> Operand:
    """The operand as sums and products count it."""
    kind, exact = operand
    if kind not in ("bool", "int", "number") or exact is None:
        return operand
    return "int", "uint" if exact.startswith("uint") else "int"


HOW: Final = ("like", "strong", "float", "strong float", "sum")
_LINE: Final = re.compile(
    rf"(?:(?P<how>{'|'.join(HOW)})\((?P<names>[^)]*)\)|(?P<fixed>[a-z]+\d*\*?))"
    r"(?: beside (?P<beside>[\w, ]+?))?(?: unless (?P<unless>[\w, ]+))?"
)


def parse_exact(name: str, line: str) -> Exact:
    """Read one line. Raises CatalogueError when it is malformed."""
    match = _LINE.fullmatch(line.strip())
    if match is None or (match["fixed"] and kind_of(match["fixed"]) is None):
        raise CatalogueError(f"{name}: cannot read the exact dtype {line!r}")
    names, beside, unless = (
        [word.strip() for word in (match[group] or "").split(",") if word.strip()]
        for group in ("names", "beside", "unless")
    )
    return Exact(
        tuple(names),
        match["fixed"] or "",
        match["how"] or "like",
        frozenset(beside),
        frozenset(unless),
    )
