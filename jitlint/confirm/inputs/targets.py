"""The functions that arguments are looked for, as objects (layer: ``confirm``). Runs in the worker only."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import jax
import numpy as np

from jitlint.confirm.inputs.guesses import Guess, Signature, instance_of
from jitlint.confirm.inputs.unknown import kept_by_host
from jitlint.confirm.protocol import Call

# No kernel is known to have more axes.
_AXES = 4


@dataclass(slots=True)
class Target:
    """What to call. plain: to run without jit. traced: the same as the program would trace it. owner: the class whose instance is the
    first argument."""

    plain: Callable[..., Any]
    traced: Callable[..., Any]
    signature: Signature
    owner: type | None = None

    @property
    def documentation(self) -> str:
        """What its author says of it."""
        return inspect.getdoc(inspect.unwrap(self.plain)) or ""

    def is_at(self, call: Call) -> bool:
        """Whether it is the function that is written where the call says; True for what has no place."""
        code = getattr(inspect.unwrap(self.plain), "__code__", None)
        return code is None or not call.line or code.co_firstlineno == call.line


def target_of(module: ModuleType, call: Call) -> Target | None:
    """The function as an object: by name, else by where it is written."""
    owner, _, name = call.target.rpartition(".")
    if owner:
        return _method(module, owner, name, call)
    found = getattr(module, call.target, None)
    if found is None or not callable(found):
        found = _by_place(module, call)
    if found is None:
        return None
    plain = _unjitted(found)
    signature = Signature.of(plain)
    if call.transform == "kernel":
        return Target(_as_kernel(plain), _as_kernel(plain), signature)
    traced = found if plain is not found else _traced(found, call)
    return Target(plain, traced, signature)


def why_not_found(module: ModuleType, target: str) -> str:
    """Why there is no such function, or no object that it is a method of."""
    kind: Any = module
    for part in target.split(".")[:-1]:
        kind = getattr(kind, part, None)
    if isinstance(kind, type):
        return f"no `{kind.__qualname__}` could be made with made-up arguments"
    return f"`{target}` cannot be found at run time"


def _unjitted(function: Any) -> Any:
    """What a jitted function wraps, as far as it is a wrapper of JAX's."""
    while hasattr(function, "lower") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _traced(function: Callable[..., Any], call: Call) -> Callable[..., Any]:
    if call.transform != "jit":
        return function
    static = [name for name in call.static if name in Signature.of(function).names]
    jitted: Callable[..., Any] = jax.jit(function, static_argnames=static or None)
    return jitted


def _as_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as the kernel of a `pallas_call`, with references to its arrays. What else is given to it is a constant."""

    def run(*arguments: Any, **more: Any) -> Any:
        from jax.experimental import pallas

        places = [n for n, each in enumerate(arguments) if isinstance(each, (jax.Array, np.ndarray))]

        def kernel(*references: Any) -> None:
            filled = list(arguments)
            for place, reference in zip(places, references):
                filled[place] = reference
            function(*filled, **more)

        out = jax.ShapeDtypeStruct((), "float32")
        called = pallas.pallas_call(kernel, out_shape=out, grid=(1,) * _AXES, interpret=True)
        with jax.disable_jit(False):  # a kernel is traced, whatever else is
            return called(*[arguments[place] for place in places])

    run.__wrapped__ = function  # type: ignore[attr-defined]
    return run


def _method(module: ModuleType, owner: str, name: str, call: Call) -> Target | None:
    kind: Any = module
    for part in owner.split("."):
        kind = getattr(kind, part, None)
    if not isinstance(kind, type):
        return None
    found = _of_any(kind, name, call)
    guess = instance_of(kind, 3)
    if found is not None or guess is None:
        return found
    try:
        instance = guess.value()
        bound = getattr(instance, name)
    except Exception:  # the user's constructor
        return None
    plain, traced = _bound(instance, bound, call)
    return Target(plain, traced, Signature.of(bound))


def owners(kind: type) -> list[Guess]:
    """What an instance of a class may be: one made by its constructor, and one made without."""
    guess = instance_of(kind, 3)
    try:
        made = [kept_by_host(guess)] if guess is not None and guess.value() is not None else []
    except Exception:  # the user's constructor
        made = []
    return [*made, Guess("partial", constant=kind)]


def _bound(instance: Any, bound: Any, call: Call) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A method of an object, without jit and as the program would trace it."""
    plain = _unjitted(bound)
    is_jitted = plain is not bound
    if is_jitted and not inspect.ismethod(plain):
        plain = plain.__get__(instance) if isinstance(plain, FunctionType) else plain
    return plain, bound if is_jitted else _traced(bound, call)


def _of_any(kind: type, name: str, call: Call) -> Target | None:
    """A method, to be called with an instance that is given as the first argument."""
    written = _unjitted(inspect.getattr_static(kind, name, None))
    if not isinstance(written, FunctionType):
        return None
    signature = Signature.of(written)
    if not signature.names:
        return None

    def plain(instance: Any, *arguments: Any, **more: Any) -> Any:
        return _bound(instance, getattr(instance, name), call)[0](*arguments, **more)

    def traced(instance: Any, *arguments: Any, **more: Any) -> Any:
        return _bound(instance, getattr(instance, name), call)[1](*arguments, **more)

    plain.__wrapped__ = written  # type: ignore[attr-defined]
    return Target(plain, traced, signature, kind)


def _by_place(module: ModuleType, call: Call) -> Any:
    """A function without a name of its own: some variable of the module holds it, or what wraps it, or anything else."""
    for value in vars(module).values():
        code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
        if code is not None and code.co_firstlineno == call.line and code.co_filename == module.__file__:
            return value
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__globals__ is vars(module):
            code = value.__code__
            if code.co_firstlineno == call.line and code.co_name == call.target.rpartition(".")[2]:
                return value
    return None
