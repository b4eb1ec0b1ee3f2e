"""Values made up for parameters: what they are, how they look, and first guesses (layer: ``confirm``).

A guess is a description, so that it can be shown, compared and changed; `Guess.value` makes the value. Runs in the
worker only.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import re
import tempfile
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

_SIDE = 4
_DTYPES = {
    "f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "c64": "complex64", "c128": "complex128", "bool": "bool",
}  # fmt: skip
_SCALAR = re.compile(r"(?<=\w)\[\s*\]")
# One argument of a recorded call: the next one begins with a name and an equals sign.
_RECORDED = re.compile(r"(\w+)=((?:(?!, \w+=).)+)")
_SHAPE = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[\d,]*)\]~?")
_KEY_NAME = re.compile(r"(^|_)(key|keys|rng|rngs|prng|prng_key|seed_key)\d*$")
_COUNT_NAME = re.compile(
    r"^(n|m|k|num|size|steps|length|depth|width|dim|ndim|count|iterations?|iters?|epochs?|order|degree)$"
    r"|^(n|num|max|min)_|_(size|dim|steps|count|length|len|iters?)$"
)
_AXIS_NAME = re.compile(r"^(axis|axes)$|_axis$")
_INDEX_NAME = re.compile(
    r"^(i|j|idx|index|step|t|label|labels|token|tokens|ids?|indices)$|_(idx|index|ids?)$"
)
_FUNCTION_NAME = re.compile(
    r"^(f|fn|fun|func|function|g|activation|act|apply_fn|loss_fn|callback)$|_(fn|fun|func)$"
)
_MASK_NAME = re.compile(r"(^|_)(mask|flag|done|training|train|deterministic|is_\w+|use_\w+)$")


Path = tuple[Any, ...]
"""Where something is in guesses: a parameter, an attribute of that, ..."""


class Record:
    """A made-up object with the attributes that were asked for; a pytree."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.__dict__.update(fields)


jax.tree_util.register_pytree_node(
    Record,
    lambda record: (tuple(vars(record).values()), tuple(vars(record))),
    lambda names, values: Record(dict(zip(names, values))),
)


@dataclass(frozen=True)
class Guess:
    """What to pass for a parameter. kind: array, host (one of NumPy's), key, python, sequence, list, mapping, record, function,
    instance, partial (an instance that nobody has initialised), unknown or file (the text of one)."""

    kind: str
    dtype: str = "f32"
    shape: tuple[int, ...] = ()
    constant: Any = None
    parts: tuple[tuple[Any, Guess], ...] = ()

    def value(self, place: Path = (), made: list[tuple[Path, Any]] | None = None) -> Any:
        """A new value. ``made`` gets what is made on the way, with its place."""
        parts = {name: part.value((*place, name), made) for name, part in self.parts}
        value = _MADE[self.kind](self, parts) if self.kind in _MADE else self.constant
        if made is not None:
            made.append((place, value))
        return value

    def __str__(self) -> str:
        if self.kind in ("array", "host"):
            return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if self.kind in ("key", "unknown"):
            return self.kind if self.kind == "key" else "?"
        inner = ", ".join(f"{name}={part}" for name, part in self.parts)
        if self.kind in ("sequence", "list"):
            return f"({', '.join(str(part) for _, part in self.parts)})"
        if self.kind == "mapping":
            return "{" + ", ".join(f"{name!r}: {part}" for name, part in self.parts) + "}"
        if self.kind == "record":
            return f"object({inner})"
        if self.kind in ("instance", "partial"):
            return f"{self.constant.__name__}({inner}{', ...' if self.kind == 'partial' else ''})"
        if self.kind == "function":
            return getattr(self.constant, "__name__", "function")
        return repr(self.constant)[:40]

    def with_part(self, name: Any, part: Guess) -> Guess:
        """The same with one part replaced or added."""
        parts = dict(self.parts)
        parts[name] = part
        return dataclasses.replace(self, parts=tuple(parts.items()))

    def at(self, path: Path) -> Guess | None:
        """The guess at a place inside of it, if there is one."""
        if not path:
            return self
        inner = dict(self.parts).get(path[0])
        return inner.at(path[1:]) if inner is not None else None

    def leaves(self, place: Path = ()) -> Iterator[tuple[Path, Guess]]:
        """What has no parts, with its place."""
        if not self.parts:
            yield place, self
        for name, part in self.parts:
            yield from part.leaves((*place, name))

    def changed(self, path: Path, part: Guess) -> Guess | None:
        """The same with another guess at a place inside of it; None if there is no such place."""
        if not path:
            return part
        if len(path) == 1 and self.kind in ("record", "partial", "mapping"):
            return self.with_part(path[0], part)
        inner = dict(self.parts).get(path[0])
        new = inner.changed(path[1:], part) if inner is not None else None
        return self.with_part(path[0], new) if new is not None else None


def array(*shape: int, dtype: str = "f32") -> Guess:
    """An array."""
    return Guess("array", dtype, shape)


def host(*shape: int, dtype: str = "f32") -> Guess:
    """An array of NumPy's."""
    return Guess("host", dtype, shape)


def python(constant: Any) -> Guess:
    """A Python value."""
    return Guess("python", constant=constant)


def tupled(*parts: Guess) -> Guess:
    """A tuple."""
    return Guess("sequence", parts=tuple(enumerate(parts)))


KEY = Guess("key")
FUNCTION = Guess("function", constant=jax.numpy.tanh)


def _partial(kind: type, parts: Mapping[str, Any]) -> Any:
    """An instance that has these attributes, and was not initialised."""
    instance: Any = object.__new__(kind)
    for name, value in parts.items():
        object.__setattr__(instance, name, value)
    return instance


def _unknown(path: Path) -> Any:
    from jitlint.confirm.inputs.unknown import Unknown

    return Unknown(path)


def _file(text: str) -> str:
    """The path of a new file."""
    descriptor, path = tempfile.mkstemp(text=True)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    return path


_MADE: dict[str, Callable[[Guess, dict[Any, Any]], Any]] = {
    "array": lambda guess, _: _array(guess.dtype, guess.shape),
    "host": lambda guess, _: np.asarray(_array(guess.dtype, guess.shape)),
    "key": lambda guess, _: jax.random.key(0),
    "sequence": lambda guess, parts: tuple(parts.values()),
    "list": lambda guess, parts: list(parts.values()),
    "mapping": lambda guess, parts: parts,
    "record": lambda guess, parts: Record(parts),
    "instance": lambda guess, parts: guess.constant(**parts),
    "partial": lambda guess, parts: _partial(guess.constant, parts),
    "unknown": lambda guess, _: _unknown(guess.constant),
    "file": lambda guess, _: _file(guess.constant),
}


def _array(dtype: str, shape: tuple[int, ...]) -> Any:
    """Different positive numbers: no two elements are equal by chance, and nothing divides by zero."""
    name = _DTYPES.get(dtype, "float32")
    count = int(np.prod(shape, dtype=int))
    numbers = np.arange(count).reshape(shape)
    if name == "bool":
        return jax.numpy.asarray(numbers % 2 == 0)
    if "int" in name:
        return jax.numpy.asarray(numbers % _SIDE, dtype=name)
    return jax.numpy.asarray((numbers + 1) / (count + 1), dtype=name)


def parse_example(text: str, module: Any) -> tuple[list[Guess], dict[str, Guess]]:
    """The arguments of ``# jitlint: example(f32[8, 3], key, n=4)``. Raises ValueError for what cannot be read."""
    try:
        # `f32[]` is how a scalar is written, and no Python.
        call = ast.parse(f"_({_SCALAR.sub('[()]', text)})", mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"example({text}): {error}") from None
    assert isinstance(call, ast.Call)
    named = {keyword.arg: _parsed(keyword.value, module) for keyword in call.keywords if keyword.arg}
    return [_parsed(argument, module) for argument in call.args], named


def parse_recorded(text: str) -> dict[str, Guess]:
    """The arguments of a recorded call, ``x=f32[2,3], n=4``, as far as they can be made again."""
    found = {}
    for name, shown in _RECORDED.findall(text):
        guess = _recorded(shown.rstrip(", "))
        if guess is not None:
            found[name] = guess
    return found


def _recorded(shown: str) -> Guess | None:
    match = _SHAPE.fullmatch(shown)
    if match is not None and match["dtype"] in _DTYPES:
        return array(*(int(dim) for dim in match["shape"].split(",") if dim), dtype=match["dtype"])
    if shown.startswith("key<"):
        return KEY
    for kind in ("tuple(", "list("):
        if shown.startswith(kind) and shown.endswith(")"):
            parts = [_recorded(part) for part in shown[len(kind) : -1].split()]
            known = [part for part in parts if part is not None]
            return tupled(*known) if len(known) == len(parts) else None
    try:
        return python(ast.literal_eval(shown))
    except (ValueError, SyntaxError):
        return None


def _parsed(node: ast.expr, module: Any) -> Guess:
    if isinstance(node, ast.Name) and node.id in _NAMED:
        return _NAMED[node.id]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in _DTYPES:
        return _parsed_array(node, node.value.id)
    if isinstance(node, (ast.Tuple, ast.List)):
        return tupled(*(_parsed(item, module) for item in node.elts))
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return Guess("mapping", parts=tuple(zip(keys, [_parsed(value, module) for value in node.values])))
    try:
        return python(ast.literal_eval(node))
    except ValueError:
        value = eval(compile(ast.Expression(node), "<example>", "eval"), dict(vars(module)))
        return Guess("function" if callable(value) else "python", constant=value)


# What a name stands for in an example: a scalar of a dtype. `bool` is Python's.
_NAMED = {"key": KEY, **{name: array(dtype=name) for name in _DTYPES if name != "bool"}}


def _parsed_array(node: ast.Subscript, dtype: str) -> Guess:
    dims = ast.literal_eval(node.slice)
    shape = dims if isinstance(dims, tuple) else (dims,)
    if not all(isinstance(dim, int) and dim >= 0 for dim in shape):
        raise ValueError(f"{ast.unparse(node)}: a shape has integers")
    return array(*shape, dtype=dtype)


@dataclass
class Signature:
    """What is known of a callable's parameters. names: those to fill. by_name: of these, the ones that can only be given
    by name. optional: others that can be given by name. annotations: of all; defaults: of those that have one."""

    names: list[str] = field(default_factory=list)
    by_name: set[str] = field(default_factory=set)
    optional: set[str] = field(default_factory=set)
    annotations: dict[str, Any] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any]) -> Signature:
        """The parameters of a callable. Nothing for what has no signature."""
        found = cls()
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return found
        try:
            hints = typing.get_type_hints(inspect.unwrap(function))
        except Exception:  # annotations are any code
            hints = {}
        for name, parameter in signature.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            found.annotations[name] = hints.get(name)
            if parameter.default is parameter.empty:
                found.names.append(name)
                if parameter.kind is parameter.KEYWORD_ONLY:
                    found.by_name.add(name)
            elif parameter.kind is not parameter.POSITIONAL_ONLY:
                found.optional.add(name)
                found.defaults[name] = parameter.default
        return found


def first_guess(name: str, annotation: Any, static: bool, depth: int = 3) -> Guess:
    """What a parameter probably is: by its annotation, else by its name."""
    if annotation is not None and depth:
        guess = _annotated(annotation, name, static, depth)
        if guess is not None:
            return guess
    if _KEY_NAME.search(name):
        return KEY
    if _FUNCTION_NAME.search(name):
        return FUNCTION
    if _MASK_NAME.search(name):
        return python(True) if static else array(_SIDE, dtype="bool")
    if _AXIS_NAME.search(name):
        return python(0)
    if _COUNT_NAME.search(name):
        return python(_SIDE)
    if _INDEX_NAME.search(name):
        return python(1)
    return python(_SIDE) if static else array(_SIDE)


def _annotated(annotation: Any, name: str, static: bool, depth: int) -> Guess | None:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    try:
        if annotation is int and _AXIS_NAME.search(name):
            return first_guess(name, None, True)
        if annotation in _PLAIN:
            return _PLAIN[annotation]
    except TypeError:  # what cannot be hashed
        return None
    if getattr(annotation, "dim_str", None) is not None:
        return _jaxtyped(annotation)
    if annotation is jax.Array:
        return KEY if _KEY_NAME.search(name) else array(_SIDE)
    if annotation is np.ndarray or origin is np.ndarray:
        return host(_SIDE)
    if annotation is dict:
        return Guess("mapping")
    if origin in _BY_ORIGIN:
        return _BY_ORIGIN[origin](arguments, lambda argument: first_guess(name, argument, static, depth - 1))
    if origin is not None and "Callable" in str(origin):
        return FUNCTION
    if isinstance(annotation, type):
        return instance_of(annotation, depth)
    return None


def _jaxtyped(annotation: Any) -> Guess:
    """An array as jaxtyping describes it; the same letter is the same size."""
    sizes: dict[str, int] = {}
    shape = tuple(
        int(d) if d.isdigit() else sizes.setdefault(d, _SIDE)
        for d in annotation.dim_str.split()
        if d != "..."
    )
    kinds = " ".join(getattr(annotation, "dtypes", ()) or ())
    if "int" in kinds and "float" not in kinds:
        return array(*shape, dtype="i32")
    return array(*shape, dtype="bool" if kinds == "bool" else "f32")


def _tuple_of(arguments: tuple[Any, ...], guess: Callable[[Any], Guess]) -> Guess:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0], arguments[0])
    return tupled(*map(guess, arguments))


def _union_of(arguments: tuple[Any, ...], guess: Callable[[Any], Guess]) -> Guess | None:
    kept = [argument for argument in arguments if argument is not type(None)]
    return guess(kept[0]) if kept else None


# For annotations with arguments in brackets.
_BY_ORIGIN: dict[Any, Callable[[tuple[Any, ...], Callable[[Any], Guess]], Guess | None]] = {
    tuple: _tuple_of,
    list: lambda arguments, guess: tupled(*map(guess, (*arguments, *arguments))),
    dict: lambda arguments, guess: Guess("mapping"),
    typing.Union: _union_of,
    types.UnionType: _union_of,
    typing.Literal: lambda arguments, guess: python(arguments[0]),
}
_PLAIN: dict[Any, Guess] = {
    int: python(_SIDE),
    float: python(0.5),
    bool: python(True),
    str: python("relu"),
    type(None): python(None),
}


def instance_of(kind: type, depth: int) -> Guess | None:
    """An instance of one of the user's classes, its constructor's arguments guessed."""
    if issubclass(kind, enum.Enum):
        members = list(kind)
        return python(members[0]) if members else None
    if kind.__module__ == "builtins" or kind.__module__.split(".")[0] in ("jax", "jaxlib", "numpy", "typing"):
        return None
    signature = Signature.of(kind)
    hints: dict[str, Any] = dict(signature.annotations)
    try:
        hints.update({name: hint for name, hint in typing.get_type_hints(kind).items() if name in hints})
    except Exception:  # annotations are any code
        hints = dict(signature.annotations)
    parts = tuple((name, first_guess(name, hints[name], False, depth - 1)) for name in signature.names)
    return Guess("instance", constant=kind, parts=parts)
