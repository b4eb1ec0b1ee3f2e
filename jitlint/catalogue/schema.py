"""The catalogue's vocabulary: what one entry says, and the one-line language it is written in (layer: ``catalogue``).

A function is one line, parameters like a Python signature without defaults, then the result::

    reshape = "a, shape!I, order?!, *, copy?, out_sharding?! -> like(a)"

``name?`` is optional; ``name!X`` must be static under a trace, X is the letter of the exception that JAX raises
(``EXCEPTION_LETTERS``), a plain ``!`` is for what can never be a tracer (a dtype, a mode); ``name@``
accepts a list or tuple where an array is meant; ``name!X&`` is a function; ``name#`` is a PRNG key that the call
consumes, ``name%`` one that it only looks at. ``/``, ``*``, ``*args`` and ``**kw`` are as in Python.

Results: ``array bool int float key keys tree none static opaque``, ``like(p, ...)`` (dtype kind follows these
parameters), ``same(p)`` (the argument itself), ``structure(p)`` (a pytree like it), ``total(p)`` (one of
the same shapes, too, where what is no JAX array stays a Python number or a NumPy array), ``list(kind)`` (a list of any length), ``sequence(kind)`` (a tuple of any length), ``tuple(kind, ...)``, ``callable(kind)`` (a function that
returns this). A trailing ``data(cure, ...)`` says that the shape depends on
values: JAX refuses under a trace unless one of these arguments is given (none: no cure); alone it means an array.

This module knows the language, not the data: reading files is ``load``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

EXCEPTION_LETTERS: Final = {
    "B": "jax.errors.TracerBoolConversionError",
    "I": "jax.errors.TracerIntegerConversionError",
    "A": "jax.errors.TracerArrayConversionError",
    "C": "jax.errors.ConcretizationTypeError",
    "N": "jax.errors.NonConcreteBooleanIndexError",
    "T": "TypeError",
    "V": "ValueError",
    "E": "AttributeError",
    "M": "NotImplementedError",
    "D": "IndexError",
    "S": "AssertionError",
    "X": "Exception",
}
"""Letter of each exception class in the data, full name as users see it."""

POSITIONAL_ONLY: Final = "positional-only"
POSITIONAL: Final = "positional-or-keyword"
VAR_POSITIONAL: Final = "var-positional"
KEYWORD_ONLY: Final = "keyword-only"
VAR_KEYWORD: Final = "var-keyword"

_NONE_SET: Final[Mapping[str, bool | None]] = MappingProxyType({})
_RESULT_KINDS: Final = frozenset(
    ("array", "bool", "int", "float", "key", "keys", "tree", "none", "static", "opaque")
)
_NAMING_KINDS: Final = frozenset(("like", "same", "structure", "total"))
_NESTING_KINDS: Final = frozenset(("list", "sequence", "tuple", "callable"))
_PARAMETER = re.compile(r"(\*{0,2})([A-Za-z_]\w*)((?:![A-Z]?|[@?&#%])*)\Z")
_ROLES: Final = {"&": "function", "#": "consumed-key", "%": "key"}
_RESULT = re.compile(r"(?:(\w+)(?:\(([^()]*)\))?)?(?:(?:^|\s)data\(([^()]*)\))?\Z")


class CatalogueError(ValueError):
    """An entry of the catalogue does not follow the language; the message names the entry."""


class Parameter(msgspec.Struct, frozen=True):
    """One parameter. ``static``: None when it may be a tracer, else the exception's letter ("" when unknown).

    role: ``function``, ``consumed-key`` (a PRNG key that must not be used again), ``key`` (one that is only looked
    at) or "" for anything else.
    """

    name: str
    kind: str = POSITIONAL
    static: str | None = None
    accepts_list: bool = False
    optional: bool = False
    role: str = ""

    @property
    def must_be_static(self) -> bool:
        """Whether a tracer is refused here."""
        return self.static is not None

    @property
    def exception(self) -> str:
        """Full name of the exception that a tracer raises here, "" when it may be one or none is recorded."""
        return EXCEPTION_LETTERS.get(self.static or "", "")

    @property
    def refuses_list(self) -> bool:
        """A Python list given here is a TypeError (also outside a trace)."""
        return self.static is None and not self.accepts_list


class Result(msgspec.Struct, frozen=True):
    """What a call returns. ``arguments``: element kinds of list, tuple and callable, parameter names of like and same.

    ``cures``: None when the shape is fixed, else the arguments of which one must be given under a trace.
    """

    kind: str
    arguments: tuple[str, ...] = ()
    cures: tuple[str, ...] | None = None


class Condition(msgspec.Struct, frozen=True):
    """A special case that the line cannot say.

    Holds when every parameter of ``missing`` is absent and every one of ``given`` present; then ``result`` replaces
    the line's result. With ``traced`` instead: that parameter may be a tracer only if one of ``cure`` is given,
    otherwise JAX raises ``exception``. ``scalar``: only a 0-d tracer is refused. ``true``: like ``given``, for switches
    that must be on; with one that is perhaps on, the result is any pytree.
    """

    missing: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    result: Result | None = None
    traced: str = ""
    cure: tuple[str, ...] = ()
    exception: str = ""
    scalar: bool = False
    true: tuple[str, ...] = ()


class ApiFunction(msgspec.Struct, frozen=True):
    """A library function or array method: its parameters in order and what it returns."""

    name: str
    parameters: tuple[Parameter, ...]
    result: Result
    conditions: tuple[Condition, ...] = ()

    def parameter(self, name: str) -> Parameter | None:
        """The parameter that the keyword ``name`` fills: by name, else ``**kw``, else None."""
        rest = None
        for parameter in self.parameters:
            if parameter.kind == VAR_KEYWORD:
                rest = parameter
            elif parameter.name == name and parameter.kind not in (POSITIONAL_ONLY, VAR_POSITIONAL):
                return parameter
        return rest

    def bind(self, n_positional: int, keywords: Sequence[str]) -> list[Parameter | None]:
        """The parameter of each positional, then of each keyword argument; None where the call does not fit."""
        bound: list[Parameter | None] = []
        for parameter in self.parameters:
            if len(bound) == n_positional:
                break
            if parameter.kind in (POSITIONAL_ONLY, POSITIONAL):
                bound.append(parameter)
            elif parameter.kind == VAR_POSITIONAL:
                bound.extend([parameter] * (n_positional - len(bound)))
        bound.extend([None] * (n_positional - len(bound)))
        bound.extend(self.parameter(keyword) for keyword in keywords)
        return bound

    def result_given(self, given: Collection[str], switches: Mapping[str, bool | None] = _NONE_SET) -> Result:
        """What a call returns that passes exactly the parameters named in ``given``.

        switches: which of them are on, off or (None) either; those that are not named are off.
        """
        for condition in self.conditions:
            if condition.result is not None:
                absent = all(name not in given for name in condition.missing)
                states = {switches.get(name, False) for name in condition.true}
                if not absent or False in states or not all(name in given for name in condition.given):
                    continue
                return Result("tree", (), self.result.cures) if None in states else condition.result
        return self.result

    def traced_needs(self, parameter: str, given: Collection[str]) -> Condition | None:
        """The condition that a tracer in ``parameter`` violates, or None when the call may be traced."""
        for condition in self.conditions:
            if condition.traced == parameter and not any(name in given for name in condition.cure):
                return condition
        return None


class NumpyFunction(msgspec.Struct, frozen=True):
    """A NumPy function as seen from a tracer.

    behaviour: ``raises`` (``exception``), ``works`` (delegates to the array's method or only looks at its shape),
    ``false`` (no error, wrong answer); it holds for the first argument. in_list: exception when the tracer sits in a
    list there, elsewhere: when it is a later argument, "" when that works too. result: array, list, static,
    none or opaque; with a tracer that works, ``array`` is a JAX array.
    """

    name: str
    behaviour: str
    result: str
    exception: str = ""
    in_list: str = ""
    elsewhere: str = ""


class Removed(msgspec.Struct, frozen=True):
    """A name or an argument that JAX no longer has. ``replacement``: what to write instead, "" when there is none.

    removed_in: the exact version, or ``after 0.9.2`` where only that is known. upgrade: the version that the code comes
    from has it.
    """

    replacement: str
    removed_in: str
    upgrade: bool = False


def parse_function(name: str, line: str, conditions: tuple[Condition, ...] = ()) -> ApiFunction:
    """Read one line of the language. Raises CatalogueError when it is malformed."""
    signature, arrow, result = line.rpartition("->")
    if not arrow:
        raise CatalogueError(f"{name}: no `->` in {line!r}")
    parameters: list[Parameter] = []
    kind = POSITIONAL
    for token in filter(None, (part.strip() for part in signature.split(","))):
        if token == "/":
            parameters = [
                Parameter(p.name, POSITIONAL_ONLY, p.static, p.accepts_list, p.optional, p.role)
                for p in parameters
            ]
        elif token == "*":
            kind = KEYWORD_ONLY
        else:
            parameters.append(_parameter(name, token, kind))
            if token.startswith("*"):
                kind = KEYWORD_ONLY
    names = [parameter.name for parameter in parameters]
    if len(set(names)) != len(names):
        raise CatalogueError(f"{name}: a parameter occurs twice in {line!r}")
    function = ApiFunction(name, tuple(parameters), parse_result(name, result.strip()), conditions)
    _check_names(function)
    return function


def parse_result(name: str, text: str) -> Result:
    """Read the part after the arrow. Raises CatalogueError when it is malformed."""
    match = _RESULT.match(text)
    if not text or match is None:
        raise CatalogueError(f"{name}: cannot read the result {text!r}")
    kind, inner, cures = match.groups()
    arguments = _words(inner)
    if kind is None or kind == "data":
        kind, arguments, cures = "array", (), inner if cures is None else cures
    nested = kind in _NESTING_KINDS and arguments and all(word in _RESULT_KINDS for word in arguments)
    plain = (kind in _RESULT_KINDS and inner is None) or text.startswith("data(")
    if not (nested or plain or (kind in _NAMING_KINDS and arguments)):
        raise CatalogueError(f"{name}: unknown result {text!r}")
    return Result(kind, arguments, None if cures is None else _words(cures))


def parse_numpy(name: str, line: str) -> NumpyFunction:
    """Read ``works list:A other:I -> array`` or ``raises A -> static``. Raises CatalogueError."""
    words, arrow, result = line.partition("->")
    behaviour, *more = words.split() or [""]
    exceptions = {"": "", "list": "", "other": ""}
    for word in more:
        place, _, letter = word.rpartition(":")
        if letter not in EXCEPTION_LETTERS or place not in exceptions:
            raise CatalogueError(f"{name}: unknown exception {word!r}")
        exceptions[place] = EXCEPTION_LETTERS[letter]
    first = exceptions[""]
    good = arrow and behaviour in ("raises", "works", "false") and (behaviour == "raises") == bool(first)
    if not good or result.strip() not in ("array", "list", "static", "none", "opaque"):
        raise CatalogueError(f"{name}: cannot read {line!r}")
    in_list, elsewhere = exceptions["list"] or first, exceptions["other"] or first
    return NumpyFunction(name, behaviour, result.strip(), first, in_list, elsewhere)


def parse_condition(name: str, table: dict[str, object]) -> Condition:
    """Read one table of ``[conditions]``. Raises CatalogueError for unknown keys or wrong types."""

    def texts(key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise CatalogueError(f"{name}: condition key `{key}` must be a list of parameter names")
        return tuple(value)

    unknown = set(table) - {"missing", "given", "result", "traced", "cure", "exception", "scalar", "true"}
    if unknown:
        raise CatalogueError(f"{name}: unknown condition key `{min(unknown)}`")
    result, traced, letter = table.get("result", ""), table.get("traced", ""), table.get("exception", "")
    if not isinstance(result, str) or not isinstance(traced, str) or bool(result) == bool(traced):
        raise CatalogueError(f"{name}: a condition says either `result` or `traced`")
    if traced and letter not in EXCEPTION_LETTERS:
        raise CatalogueError(f"{name}: a condition on a traced parameter names its exception's letter")
    return Condition(
        texts("missing"),
        texts("given"),
        parse_result(name, result) if result else None,
        traced,
        texts("cure"),
        EXCEPTION_LETTERS.get(str(letter), ""),
        table.get("scalar", False) is True,
        texts("true"),
    )


def _parameter(name: str, token: str, kind: str) -> Parameter:
    match = _PARAMETER.match(token)
    if match is None:
        raise CatalogueError(f"{name}: cannot read the parameter {token!r}")
    stars, word, marks = match.groups()
    kind = {"": kind, "*": VAR_POSITIONAL, "**": VAR_KEYWORD}[stars]
    static = re.search("!([A-Z]?)", marks)
    letter = static.group(1) if static else None
    if letter and letter not in EXCEPTION_LETTERS:
        raise CatalogueError(f"{name}: unknown exception letter {letter!r} of `{word}`")
    role = next((role for sign, role in _ROLES.items() if sign in marks), "")
    return Parameter(word, kind, letter, "@" in marks, "?" in marks, role)


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _check_names(function: ApiFunction) -> None:
    """Every parameter that the result or a condition mentions must exist."""
    names = {parameter.name for parameter in function.parameters} | {"self"}
    used = set(function.result.cures or ())
    if function.result.kind in _NAMING_KINDS:
        used.update(function.result.arguments)
    for condition in function.conditions:
        used.update(
            condition.missing,
            condition.given,
            condition.true,
            condition.cure,
            (condition.traced,) if condition.traced else (),
        )
    unknown = used - names
    if unknown:
        raise CatalogueError(f"{function.name}: no parameter `{min(unknown)}`")
