"""The same arguments with made-up values of other kinds (layer: ``confirm``). Runs in the worker only.

What is shown with a made-up value may be shown because of its kind. So other kinds are put in its place, one value at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from jitlint.confirm.inputs.guesses import FUNCTION, Guess, array, host, python, tupled

_SIZES = (0, 1, 100)


def number(*arguments: object, **more: object) -> int:
    """A callable whose answer has nothing to do with what it gets."""
    return 3


_KINDS = (
    python(3), python(0.5), python("a"), python(None), host(4), array(4), array(),
    Guess("list", parts=tuple(enumerate((python(1.0), python(2.0), python(3.0), python(4.0))))),
    tupled(python(1), python(2)), Guess("mapping"), FUNCTION,
    Guess("function", constant=number),
)  # fmt: skip


def others(guesses: Mapping[str, Guess], is_said: Callable[[str], bool]) -> Iterator[dict[str, Guess]]:
    """The guesses with one made-up value of another kind. is_said: whether it is known what a parameter is."""
    places = [
        (name, *place)
        for name, guess in guesses.items()
        if not is_said(name)
        for place, leaf in guess.leaves()
        if leaf.kind not in ("partial", "unknown")
    ]
    for kind in _KINDS:
        for name, *inside in places:
            now = guesses[name].at(tuple(inside))
            changed = guesses[name].changed(tuple(inside), kind)
            if changed is not None and now is not None and _class(now) != _class(kind):
                yield {**guesses, name: changed}


def variations(guesses: Mapping[str, Guess]) -> Iterator[dict[str, Guess]]:
    """The guesses with one value of the same kind that is another one: code that runs through may take another way then."""
    for name, guess in guesses.items():
        for place, leaf in guess.leaves():
            for other in _varied(leaf):
                changed = guess.changed(place, other)
                if changed is not None:
                    yield {**guesses, name: changed}


def _varied(guess: Guess) -> Iterator[Guess]:
    now = guess.constant
    if guess.kind in ("array", "host") and guess.dtype == "f32":
        yield replace(guess, dtype="i32")
    elif guess.kind == "python" and isinstance(now, bool):
        yield python(not now)
    elif guess.kind == "python" and isinstance(now, (int, float)):
        yield from (python(type(now)(other)) for other in _SIZES if other != now)


def _class(guess: Guess) -> tuple[str, str]:
    """Guesses of the same class are not tried in each other's place."""
    return guess.kind, getattr(guess.constant, "__name__", type(guess.constant).__name__)
