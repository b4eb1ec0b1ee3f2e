"""How many axes a result has, as the catalogue says it (layer: ``catalogue``).

A rank is a line of forms separated by ``|``; the first form whose parameters are given decides::

    sum = "reduce(a, axis, keepdims)"        zeros_like = "shape(shape) | broadcast(a)"
    stack = "broadcast(arrays)"              norm = "reduce(x, axis, keepdims) unless ord"

``2`` a fixed number; ``broadcast(a, ...)`` as many as the deepest of these, a nested list counts its depth;
``reduce(a, axis, keepdims)`` without the axes that ``axis`` names, all of them when it is not given; ``drop(a, axis)`` and
``insert(a, axis)`` fewer or more by these axes, which must be given; ``along(a, axis)`` as many, but one when no axis is
given; ``solved(a, b)`` those of ``x`` where ``a @ x`` is ``b``; ``flat(axis)`` one, where None is written out as the axis; ``shape(p)`` as many as ``p`` has entries. Any form may be followed by ``+ 1`` or ``- 2``. After ``unless``: parameters that change the answer when they are given, with a
``+`` when they have axes of their own (``ddof+``: a number is harmless); nothing is known then.

Which form a function follows is measured (``tools/probe_ranks.py``); the same evaluator serves the measurement and
the analysis. This module knows neither values nor libraries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from jitlint.catalogue.schema import CatalogueError

EVERY_AXIS: Final = -1
"""What `Argument.axes` says of None: all axes are meant."""

_LINE = re.compile(r"(?P<forms>[^;]*?)(?:\s+unless\s+(?P<unless>[\w\s,+]+))?\Z")
_FORM = re.compile(r"(?:(?P<number>\d+)|(?P<kind>\w+)\((?P<names>[\w\s,]+)\)(?:\s*(?P<plus>[+-]\s*\d+))?)\Z")


class Argument(msgspec.Struct, frozen=True):
    """What is known about one argument. None: not known, or the question has no answer for it.

    rank: the axes of the array that it is or that would be made of it. axes: how many axes it names (`EVERY_AXIS` for
    None). length: how many entries it has as a shape. truth: the value of a flag. present: it is not None.
    """

    rank: int | None = None
    axes: int | None = None
    length: int | None = None
    truth: bool | None = None
    present: bool = True


class Form(msgspec.Struct, frozen=True):
    """One form of the language above. number: of a fixed one, else what is added."""

    kind: str
    names: tuple[str, ...] = ()
    number: int = 0

    def applies(self, arguments: Mapping[str, Argument]) -> bool:
        """Whether it decides: it has what it needs."""
        if self.kind == "flat":
            return self.names[0] in arguments and arguments[self.names[0]].axes in (None, EVERY_AXIS)
        return self.kind != "shape" or _given(arguments, self.names[0])

    def rank(self, arguments: Mapping[str, Argument]) -> int | None:
        """The number of axes, or None when the arguments do not tell."""
        found = _FORMS[self.kind](self.names, arguments)
        return None if found is None or found + self.number < 0 else found + self.number

    def __str__(self) -> str:
        if self.kind == "fixed":
            return str(self.number)
        more = f" {'+' if self.number > 0 else '-'} {abs(self.number)}" if self.number else ""
        return f"{self.kind}({', '.join(self.names)}){more}"


class Rank(msgspec.Struct, frozen=True):
    """The forms of one function. unless: parameters of which none may be given."""

    forms: tuple[Form, ...]
    unless: tuple[str, ...] = ()

    def of(self, arguments: Mapping[str, Argument]) -> int | None:
        """How many axes a call with these arguments, by parameter, returns; None when that is not known."""
        if any(_disturbs(arguments, name) for name in self.unless):
            return None
        form = next((form for form in self.forms if form.applies(arguments)), None)
        return None if form is None else form.rank(arguments)

    def elementwise(self) -> bool:
        """Whether the result follows the arguments axis by axis, and nothing else."""
        return len(self.forms) == 1 and self.forms[0].kind == "broadcast" and not self.forms[0].number

    def __str__(self) -> str:
        text = " | ".join(map(str, self.forms))
        return f"{text} unless {', '.join(self.unless)}" if self.unless else text


def parse_rank(name: str, line: str) -> Rank:
    """Read one line. Raises CatalogueError when it is malformed."""
    match = _LINE.match(line.strip())
    if match is None or not match["forms"]:
        raise CatalogueError(f"{name}: cannot read the rank {line!r}")
    forms = tuple(_parse_form(name, text.strip()) for text in match["forms"].split("|"))
    return Rank(forms, _words(match["unless"] or ""))


def parse_dtypes(name: str, line: str) -> dict[str, str]:
    """Read ``bool:int complex:float``: the kinds of numbers that the result does not share with its arguments.

    ``python:int``: a Python integer becomes an array of integers that does not give way to other types.
    """
    pairs = [word.partition(":") for word in line.split()]
    found = {given: result for given, _, result in pairs}
    kinds = {"bool", "int", "float", "complex"}
    if not found or not {*kinds, "python"}.issuperset(found) or not kinds.issuperset(found.values()):
        raise CatalogueError(f"{name}: cannot read the dtypes {line!r}")
    return found


def _parse_form(name: str, text: str) -> Form:
    match = _FORM.match(text)
    if match is not None and match["number"]:
        return Form("fixed", (), int(match["number"]))
    if match is None or match["kind"] not in _FORMS or match["kind"] == "fixed":
        raise CatalogueError(f"{name}: cannot read the rank {text!r}")
    names = _words(match["names"])
    fewest, most = _COUNTS[match["kind"]]
    if not fewest <= len(names) <= most:
        raise CatalogueError(f"{name}: the wrong number of parameters in {text!r}")
    return Form(match["kind"], names, int((match["plus"] or "0").replace(" ", "")))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def names_of(rank: Rank) -> Iterator[str]:
    """Every parameter that a rank mentions."""
    for form in rank.forms:
        yield from form.names
    yield from (name.rstrip("+") for name in rank.unless)


def _given(arguments: Mapping[str, Argument], name: str) -> bool:
    return name in arguments and arguments[name].present


def _disturbs(arguments: Mapping[str, Argument], word: str) -> bool:
    name = word.rstrip("+")
    return _given(arguments, name) and (name == word or arguments[name].rank != 0)


def _broadcast(names: tuple[str, ...], arguments: Mapping[str, Argument]) -> int | None:
    ranks = [arguments[name].rank for name in names if _given(arguments, name)]
    known = [rank for rank in ranks if rank is not None]
    return max(known) if known and len(known) == len(ranks) else None


def _reduce(names: tuple[str, ...], arguments: Mapping[str, Argument]) -> int | None:
    of, axis, *keep = names
    rank = _broadcast((of,), arguments)
    kept = arguments[keep[0]].truth if keep and _given(arguments, keep[0]) else False
    if kept is not False:
        return rank if kept else None
    axes = arguments[axis].axes if axis in arguments else EVERY_AXIS
    if axes == EVERY_AXIS:
        return 0
    return None if rank is None or axes is None else rank - axes


def _along(names: tuple[str, ...], arguments: Mapping[str, Argument]) -> int | None:
    axes = arguments[names[1]].axes if names[1] in arguments else EVERY_AXIS
    if axes == EVERY_AXIS:
        return 1
    return None if axes is None else _broadcast(names[:1], arguments)


def _moved(names: tuple[str, ...], arguments: Mapping[str, Argument], sign: int) -> int | None:
    rank = _broadcast(names[:1], arguments)
    axes = arguments[names[1]].axes if _given(arguments, names[1]) else None
    return None if rank is None or axes is None else rank + sign * axes


def _solved(names: tuple[str, ...], arguments: Mapping[str, Argument]) -> int | None:
    matrix, right = (arguments[name].rank if _given(arguments, name) else None for name in names)
    if matrix is None or right is None or 1 < right < matrix:
        return None  # several matrices, or several vectors: functions differ
    return matrix - 1 if right == 1 else right


_FORMS: Final[dict[str, Callable[[tuple[str, ...], Mapping[str, Argument]], int | None]]] = {
    "fixed": lambda names, arguments: 0,
    "broadcast": _broadcast,
    "reduce": _reduce,
    "along": _along,
    "flat": lambda names, arguments: 1 if arguments[names[0]].axes == EVERY_AXIS else None,
    "drop": lambda names, arguments: _moved(names, arguments, -1),
    "insert": lambda names, arguments: _moved(names, arguments, 1),
    "shape": lambda names, arguments: arguments[names[0]].length,
    "solved": _solved,
}
_COUNTS: Final = {
    "broadcast": (1, 9),
    "reduce": (2, 3),
    "along": (2, 2),
    "drop": (2, 2),
    "insert": (2, 2),
    "shape": (1, 1),
    "flat": (1, 1),
    "solved": (2, 2),
}
