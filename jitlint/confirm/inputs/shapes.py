"""Shapes of made-up arrays: what documentation says of them, and what does not fit together (layer: ``confirm``)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence

from jitlint.confirm.inputs.guesses import Guess

Shape = tuple[int, ...]
Guesses = Mapping[str, Guess]
_SIDE = 4
_SAID = r"\b{name}\b[^\n:]*:[^\n\[]*\[(?P<dims>[^\]\n]+)\]"
_SHAPE = re.compile(r"\((\d+(?:, ?\d+)*),?\)")
# Dimensions of one letter or word; not ranges, types or units.
_DIMENSION = re.compile(r"\d*\s*\*?\s*[A-Za-z_]\w*|\d+")
_UNFIT = re.compile(r"shape|dimension|broadcast|dot", re.IGNORECASE)
_MOST = 6


def said_of(name: str, documentation: str) -> Shape | None:
    """The shape of a parameter, as far as ``name: ... [batch, length, 3]`` tells it."""
    found = re.search(_SAID.format(name=re.escape(name)), documentation)
    dims = [part.strip() for part in found["dims"].split(",")] if found is not None else []
    if not 0 < len(dims) <= _MOST or not all(map(_DIMENSION.fullmatch, dims)):
        return None
    return tuple(int(dim) if dim.isdigit() and 0 < int(dim) < 1000 else _SIDE for dim in dims)


def fitted(guesses: Guesses, text: str, mentioned: Sequence[str]) -> Iterator[dict[str, Guess]]:
    """Arrays with other shapes, where a message says which ones do not fit."""
    arrays = {name: guess.shape for name, guess in guesses.items() if guess.kind in ("array", "host")}
    if not _UNFIT.search(text):
        return
    yield from _alike(guesses, arrays, [name for name in mentioned if name in arrays])
    shapes = list(dict.fromkeys(map(_read, _SHAPE.findall(text))))[:2]
    if len(shapes) == 2:
        yield from _towards(guesses, arrays, shapes[1], shapes[0])
        yield from _towards(guesses, arrays, shapes[0], shapes[1])


def _alike(guesses: Guesses, arrays: Mapping[str, Shape], here: Sequence[str]) -> Iterator[dict[str, Guess]]:
    """One of these arrays with the shape of another one."""
    for name in here:
        for shape in dict.fromkeys(arrays[other] for other in here if arrays[other] != arrays[name]):
            yield _with(guesses, {name: shape})


def _towards(
    guesses: Guesses, arrays: Mapping[str, Shape], shape: Shape, other: Shape
) -> Iterator[dict[str, Guess]]:
    """The arrays of one shape, each and all, with something of the other shape."""
    same = [name for name in arrays if arrays[name] == shape]
    for new in dict.fromkeys(_between(shape, other)):
        yield from (_with(guesses, {name: new}) for name in same)
        if len(same) > 1:
            yield _with(guesses, dict.fromkeys(same, new))


def _read(found: str) -> Shape:
    return tuple(int(part) for part in found.split(","))


def _between(shape: Shape, other: Shape) -> Iterator[Shape]:
    """What may fit better: one dimension of the other shape, or its rank."""
    if len(shape) > len(other):
        yield shape[: len(other)]
    for size in dict.fromkeys(reversed(other)):
        for place in range(len(shape)):
            if shape[place] != size:
                yield (*shape[:place], size, *shape[place + 1 :])


def _with(guesses: Guesses, shapes: Mapping[str, Shape]) -> dict[str, Guess]:
    new = {name: dataclasses.replace(guesses[name], shape=shape) for name, shape in shapes.items()}
    return {**guesses, **new}
