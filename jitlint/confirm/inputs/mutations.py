"""What to try next, read off the exception that the last try ended with (layer: ``confirm``)."""

from __future__ import annotations

import dataclasses
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence

from jitlint.confirm.inputs.guesses import FUNCTION, KEY, Guess, array, first_guess, python, tupled
from jitlint.confirm.inputs.shapes import fitted
from jitlint.confirm.watch.observe import Raised

Guesses = Mapping[str, Guess]

_NO_ATTRIBUTE = re.compile(r"'?(?P<type>\w+)'? object has no attribute '(?P<name>\w+)'")
_UNPACK = re.compile(r"values to unpack \(expected (?P<count>\d+)")
_RANK = re.compile(
    r"too many indices|index out of range|longer than|unpack|dot_general|matmul|ndim|rank|dimension|axis|axes|0-d|scalar|shape|iterat",
    re.IGNORECASE,
)
_INTEGER = re.compile(r"integer|Indexer must have", re.IGNORECASE)
_KEY = re.compile(r"PRNG key|key_data|random key", re.IGNORECASE)
_FILE = re.compile(r"os\.PathLike|No such file")
_A_TABLE = Guess("file", constant="1,2,3,4\n5,6,7,8\n")
_ARRAYS = ("array", "host")
_POOL = (
    array(4), array(), array(4, 4), array(4, dtype="i32"), python(3), array(2, 4, 4), array(4, dtype="bool"), KEY,
    tupled(array(4), array(4)), python(0.5), FUNCTION, array(2, 4, 4, 3), python("relu"), python(None),
)  # fmt: skip


def mutations(guesses: Guesses, raised: Raised) -> Iterator[dict[str, Guess]]:
    """Other guesses, the likeliest first. Those that the message names come before blind ones.

    A part of an object that the failing line mentions (``state.count``) is guessed anew like a parameter.
    """
    line = linecache.getline(*raised.place).strip() if raised.place is not None else ""
    parts = {
        f"{name}.{part}": inner
        for name, guess in guesses.items()
        if guess.kind in ("instance", "record", "partial")
        for part, inner in guess.parts
        if re.search(rf"\b{re.escape(name)}\.{re.escape(str(part))}\b", line)
    }
    for found in _mutations({**parts, **guesses}, raised.message, raised.kind, line):
        changed = {name: found[name] for name in guesses}
        for name, inner in parts.items():
            owner, _, part = name.partition(".")
            # Another guess for the whole is none for its parts.
            if found[owner] is guesses[owner] and found[name] is not inner:
                changed[owner] = changed[owner].with_part(part, found[name])
        yield changed


def with_words(guesses: Guesses, words: Sequence[str]) -> Iterator[dict[str, Guess]]:
    """Other texts in the place of texts."""
    for name, guess in guesses.items():
        if guess.kind == "python" and isinstance(guess.constant, str):
            for word in words:
                yield {**guesses, name: python(word)}


def _mutations(guesses: Guesses, text: str, kind: str, line: str) -> Iterator[dict[str, Guess]]:
    mentioned = [name for name in guesses if re.search(rf"\b{re.escape(name)}\b", line)]
    order = [*mentioned, *(name for name in guesses if name not in mentioned)]
    for name, guess in _told(guesses, text, kind, line, order):
        yield {**guesses, name: guess}
    if "truth value" in text:
        for name in order:
            if guesses[name].kind in _ARRAYS and guesses[name].shape:
                yield {**guesses, name: dataclasses.replace(guesses[name], shape=())}
    yield from fitted(guesses, text, mentioned)
    if _RANK.search(text):
        yield from _other_ranks(guesses, order)
    for candidate in _POOL:
        for name in order:
            if guesses[name] != candidate and guesses[name].kind != "instance":
                yield {**guesses, name: candidate}


def _told(guesses: Guesses, text: str, kind: str, line: str, order: list[str]) -> Iterator[tuple[str, Guess]]:
    yield from _told_of_parts(guesses, text, kind, line, order)
    for pattern, guess in ((_FILE, _A_TABLE), (_KEY, KEY)):
        yield from ((name, guess) for name in order if pattern.search(text))
    if "not callable" in text:
        for name in _before(line, r"(\w+)\(", guesses):
            yield name, FUNCTION
    match = _UNPACK.search(text)
    count = int(match["count"]) if match is not None else 2 if "cannot unpack" in text else 0
    if 0 < count <= 8:
        for name in order:
            yield name, tupled(*[array(4)] * count)
    if _INTEGER.search(text):
        for name in order:
            guess = guesses[name]
            if guess.kind in _ARRAYS and guess.dtype != "i32":
                yield name, dataclasses.replace(guess, dtype="i32")
            elif guess.kind != "python":
                yield name, python(2)


def _told_of_parts(
    guesses: Guesses, text: str, kind: str, line: str, order: list[str]
) -> Iterator[tuple[str, Guess]]:
    """Attributes and keys that are missing."""
    match = _NO_ATTRIBUTE.search(text)
    if match is not None:
        attribute = match["name"]
        for name in _before(line, rf"(\w+)\.{attribute}\b", guesses) or order:
            yield name, _with_field(guesses[name], "record", attribute)
    if kind == "KeyError":
        wanted = text.strip("'\"")
        for name in _before(line, rf"(\w+)\[['\"]{re.escape(wanted)}['\"]\]", guesses) or order:
            yield name, _with_field(guesses[name], "mapping", wanted)
    for owner, wanted in re.findall(r"(\w+)\[['\"](\w+)['\"]\]", line):
        if owner in guesses and guesses[owner].kind != "mapping":
            yield owner, _with_field(guesses[owner], "mapping", wanted)


def _before(line: str, pattern: str, guesses: Guesses) -> list[str]:
    return [name for name in re.findall(pattern, line) if name in guesses]


def _with_field(guess: Guess, kind: str, name: str) -> Guess:
    holder = guess if guess.kind == kind else Guess(kind)
    return holder.with_part(name, first_guess(name, None, False))


def _other_ranks(guesses: Guesses, order: list[str]) -> Iterator[dict[str, Guess]]:
    """Arrays of one more or one less dimension; first single ones, then all at once."""
    arrays = [name for name in order if guesses[name].kind in _ARRAYS]
    for change in (_grown, _shrunk):
        for name in arrays:
            yield {**guesses, name: change(guesses[name])}
        yield {**guesses, **{name: change(guesses[name]) for name in arrays}}


def _grown(guess: Guess) -> Guess:
    return dataclasses.replace(guess, shape=(*guess.shape, 4)[:4])


def _shrunk(guess: Guess) -> Guess:
    return dataclasses.replace(guess, shape=guess.shape[:-1])
