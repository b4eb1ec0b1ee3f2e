"""What nothing is known of, until somebody uses it (layer: ``confirm``). Runs in the worker only.

Objects that cannot be made with made-up arguments are made without: nothing is in them. An attribute that is asked for
becomes an `Unknown`; how that is used first says what to put in its place. Made-up attributes are numbers and NumPy's arrays,
which no trace makes tracers of by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import jax

from jitlint.confirm.inputs.guesses import Guess, Path, Signature, first_guess, host, python

_UNARY = "neg pos abs invert round".split()
_BINARY = (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow and rand or ror xor rxor "
    "lshift rshift lt le gt ge"
).split()
_OTHERS = "call getitem setitem contains iter len bool index int float enter exit array jax_array matmul rmatmul hash"
_STRUCTURED = re.compile(r"^__\w+__$")


class NotMade(Exception):
    """Something that nothing is known of was used. path: of it. use: how; what: the attribute, key or other operand."""

    def __init__(self, path: Path, use: str, what: Any = None) -> None:
        super().__init__(f"{'.'.join(map(str, path))} is not known, and gets {use}")
        self.path, self.use, self.what = path, use, what


class Unknown:
    """Takes the place of what nothing is known of."""

    def __init__(self, path: Path) -> None:
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name: str) -> NoReturn:
        if _STRUCTURED.match(name) or name.startswith("_jax") or name == "_path":
            raise AttributeError(name)  # what libraries ask everything for
        raise NotMade(self._path, "attribute", name)

    def __setattr__(self, name: str, value: object) -> None:
        raise NotMade(self._path, "attribute", name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        raise NotMade(self._path, "eq", other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def _operation(use: str) -> Callable[..., Any]:
    def operate(self: Any, *others: Any, **more: Any) -> NoReturn:
        raise NotMade(self._path, use, others[0] if others else None)

    return operate


for _each in (*_UNARY, *_BINARY, *_OTHERS.split()):
    setattr(Unknown, f"__{_each}__", _operation(_each))


class Handed:
    """A callable that nothing is known of. It answers the first of its arguments that is a number or an array."""

    __name__ = "callable"

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        given = [each for each in (*arguments, *more.values()) if hasattr(each, "dtype")]
        return given[0] if given else 1.0


def attribute(kind: type | None, path: Path) -> Guess:
    """What an attribute of an object of this class probably is: by the parameters of its constructor, else by its name."""
    name = str(path[-1]).lstrip("_")
    signature = Signature.of(kind) if kind is not None else Signature()
    if name in signature.defaults and isinstance(signature.defaults[name], (bool, int, float, str)):
        return python(signature.defaults[name])
    annotation = signature.annotations.get(name)
    if isinstance(annotation, type):
        found = first_guess(name, annotation, False)
        return Guess("partial", constant=annotation) if found.kind == "instance" else kept_by_host(found)
    guess = first_guess(str(path[-1]), None, False)
    return guess if guess.kind == "key" else Guess("unknown", constant=path)


def kept_by_host(guess: Guess) -> Guess:
    """The same with arrays of NumPy's where it has some of JAX's."""
    if guess.kind == "array":
        return host(*guess.shape, dtype=guess.dtype)
    return replace(guess, parts=tuple((name, kept_by_host(part)) for name, part in guess.parts))


def suggestions(guesses: Mapping[str, Guess], asked: NotMade) -> Iterator[dict[str, Guess]]:
    """The guesses with something in the place of what was used, the likeliest first."""
    name, *inside = asked.path
    whole = guesses[name]
    for guess in _alternatives(asked, whole.at(tuple(inside))):
        changed = whole.changed(tuple(inside), guess)
        if changed is not None:
            yield {**guesses, name: changed}


def _alternatives(asked: NotMade, now: Guess | None) -> Iterator[Guess]:
    use, what = asked.use, asked.what
    if use == "attribute":
        yield _with_attribute(asked, now)
    elif use in ("getitem", "setitem", "contains") and isinstance(what, str):
        yield Guess("mapping", parts=((what, Guess("unknown", constant=(*asked.path, what))),))
    elif use == "eq" and isinstance(what, (str, int, float, bool)):
        yield from (python(what), python(None))
    elif use in _AS_USED:
        yield from _AS_USED[use]
    else:
        by_name = kept_by_host(first_guess(str(asked.path[-1]), None, False))
        yield from dict.fromkeys((by_name, *_NUMBERS))


def _with_attribute(asked: NotMade, now: Guess | None) -> Guess:
    if now is not None and now.kind == "host" and hasattr(jax.Array, asked.what):
        return replace(now, kind="array")
    holder = now if now is not None and now.kind in ("record", "partial") else Guess("record")
    kind = holder.constant if holder.kind == "partial" else None
    return holder.with_part(asked.what, attribute(kind, (*asked.path, asked.what)))


_NUMBERS = (host(4), python(4), python(0.5), host(4, 4), host(2, 4, 4), host(4, dtype="i32"))
_AS_USED = {
    "call": (Guess("function", constant=Handed()),),
    "contains": (Guess("list"),),
    "eq": (python(None),),
    "bool": (python(False), python(True)),
    "hash": (python("a"), python(1)),
    "index": (python(4), python(1)),
    "int": (python(4), python(1)),
}
