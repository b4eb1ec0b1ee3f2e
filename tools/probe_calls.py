"""Calls of library functions as source text: how the probes run them, and how tests write them into programs.

A call is the text of its arguments. ``array.sum`` means the method of an array, ``at.set`` the method of ``x.at[i]``;
calls of the functions in ``WITHIN_AXIS`` run inside a mapped axis named "i". This module finds a call that works for a
function; what tracing its arguments does is measured by ``probe_catalogue.py``.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from probe_examples import EXAMPLES
from probe_values import BY_NAME, FLAVOURS, PRELUDE

KIND = inspect.Parameter
POSITIONAL = (KIND.POSITIONAL_ONLY, KIND.POSITIONAL_OR_KEYWORD)
TRACED = "traced"
WITHIN_AXIS = frozenset(
    f"jax.lax.{name}"
    for name in """
    all_gather all_to_all axis_index axis_size pbroadcast pcast pmax pmean pmin ppermute pshuffle psum psum_scatter
    pswapaxes all_gather_reduced pargmax pargmin preduced punreduced pvary ragged_all_to_all psend precv
    """.split()
)
RECEIVERS = {
    "array": "MATRIX",
    "at": "MATRIX",
    "array.squeeze": "MATRIX[:1]",
    "array.choose": "jnp.asarray(IVEC)",
    "array.searchsorted": "jnp.asarray(VEC)",
}
# Guessing would pass a string or a number to them first.
LATE = ("b", "n", "k", "m", "p", "d")


@dataclass(frozen=True, slots=True)
class Call:
    """Source texts of the positional and the keyword arguments."""

    args: tuple[str, ...] = ()
    kwargs: dict[str, str] = field(default_factory=dict)

    def put(self, where: int | str, text: str) -> Call:
        """This call with the argument at position or keyword ``where`` replaced or added."""
        if isinstance(where, int):
            return Call((*self.args[:where], text, *self.args[where + 1 :]), self.kwargs)
        return Call(self.args, self.kwargs | {where: text})

    def without(self, keyword: str) -> Call:
        """This call without one keyword argument."""
        return Call(self.args, {name: text for name, text in self.kwargs.items() if name != keyword})

    def __str__(self) -> str:
        return ", ".join([*self.args, *(f"{name}={text}" for name, text in self.kwargs.items())])


def parse_call(text: str) -> Call:
    """The call with these arguments."""
    node = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(node, ast.Call)
    return Call(
        tuple(ast.unparse(argument) for argument in node.args),
        {str(keyword.arg): ast.unparse(keyword.value) for keyword in node.keywords},
    )


@cache
def namespace() -> dict[str, Any]:
    """The names that the texts use."""
    names: dict[str, Any] = {}
    exec(PRELUDE, names)
    return names


def value_of(text: str) -> Any:
    """What an argument's text means."""
    return eval(text, namespace())


def target(name: str, cast: str = "") -> str:
    """The expression that is called; ``cast`` is put after the array that a method belongs to."""
    owner, _, member = name.partition(".")
    receiver = RECEIVERS.get(name) or RECEIVERS.get(owner)
    if receiver is None:
        return name
    return f"{receiver}{cast}.{'at[1].' if owner == 'at' else ''}{member}"


def module_of(name: str) -> str:
    """The module to import before ``target(name)`` can be evaluated, "" when none is needed."""
    return "" if name.partition(".")[0] in RECEIVERS else name.rpartition(".")[0]


def function_of(name: str) -> Any:
    """The function itself."""
    if module_of(name):
        return getattr(importlib.import_module(module_of(name)), name.rpartition(".")[2])
    return value_of(target(name))


def runner(name: str, call: Call, cast: str = "") -> Callable[[Any], Any]:
    """A function that runs the call; its argument is what ``TRACED`` in the texts stands for."""
    if module_of(name):
        importlib.import_module(module_of(name))
    run: Callable[[Any], Any] = eval(f"lambda {TRACED}: {target(name, cast)}({call})", namespace())
    if name not in WITHIN_AXIS:
        return run

    def mapped(traced: Any) -> Any:
        kept: list[Any] = []

        def body(operand: Any) -> Any:
            kept.append(run(operand))
            return operand

        spec = jax.sharding.PartitionSpec()
        if traced is None:
            jax.shard_map(lambda: body(None), mesh=value_of("MESH"), in_specs=(), out_specs=spec)()
        else:
            jax.shard_map(body, mesh=value_of("MESH"), in_specs=(spec,), out_specs=spec)(traced)
        return kept[0]

    return mapped


def staged(name: str, call: Call) -> tuple[bool, Any]:
    """Run the call inside a trace: (True, its result with tracers in it) or (False, the exception)."""
    kept: list[Any] = []
    try:
        run = runner(name, call)
        jax.eval_shape(lambda: kept.append(run(None)))
    except Exception as error:  # whatever the library raises is the measurement
        return False, error
    return True, kept[0]


def eagerly(name: str, call: Call) -> bool:
    """Whether the call works outside a trace."""
    try:
        runner(name, call)(None)
    except Exception:
        return False
    return True


def parameters(name: str, function: Any) -> list[inspect.Parameter]:
    """The parameters of a function; an element-wise function (ufunc) says ``*args`` but takes ``nin`` of them.

    Raises TypeError or ValueError when the function has no signature.
    """
    found = list(inspect.signature(function).parameters.values())
    if isinstance(function, getattr(jnp, "ufunc", ())):
        names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
        return [KIND(name, KIND.POSITIONAL_ONLY) for name in names] + found[1:]
    if name.startswith("array.") and found and found[0].name == "self":
        return found[1:]
    return found


def _guesses(known: list[inspect.Parameter]) -> Iterator[Call]:
    required = [p for p in known if p.default is p.empty and p.kind in POSITIONAL]
    keywords = {
        p.name: BY_NAME[p.name][0]
        for p in known
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name in BY_NAME
    }
    starred = not required and any(p.kind is p.VAR_POSITIONAL for p in known)
    tries: list[list[str]] = [[]] if not required and not starred else []
    for value in FLAVOURS:
        if starred:
            tries += [[value], [value, value]]
        else:
            late = [p.name not in BY_NAME or p.name in LATE for p in required]
            tries.append([value if late[i] else BY_NAME[p.name][0] for i, p in enumerate(required)])
    for value in FLAVOURS[:6]:
        tries.append([BY_NAME.get(p.name, [value])[0] for p in required])
        tries.append([value, *["3"] * (len(required) - 1)])
        tries.append([value] * len(required))
    for arguments in tries:
        yield Call(tuple(arguments), keywords)


def find_calls(name: str, known: list[inspect.Parameter]) -> list[Call]:
    """Calls that work: the basic one, then one for every optional parameter that some value can be found for."""
    texts = EXAMPLES.get(name)
    if texts is not None:
        given = [parse_call(text) for text in ([texts] if isinstance(texts, str) else texts)]
        calls = [call for call in given if staged(name, call)[0] or eagerly(name, call)]
    else:
        calls = [next((call for call in _guesses(known) if staged(name, call)[0]), Call(("?",)))]
        if calls[0].args == ("?",):
            return []
    if not calls:
        return []
    positional = [p for p in known if p.kind in POSITIONAL]
    seen = {p.name for call in calls for p in positional[: len(call.args)]}
    seen |= {keyword for call in calls for keyword in call.kwargs}
    for p in known:
        if p.name not in seen and p.kind in (KIND.POSITIONAL_OR_KEYWORD, KIND.KEYWORD_ONLY):
            extra = _with_option(name, p, calls)
            if extra is not None:
                calls.append(extra)
    return calls


def _with_option(name: str, parameter: inspect.Parameter, calls: list[Call]) -> Call | None:
    texts = list(BY_NAME.get(parameter.name, []))
    if isinstance(parameter.default, bool):
        texts.insert(0, repr(not parameter.default))
    elif type(parameter.default) in (int, float, str):
        texts.insert(0, repr(parameter.default))
    refused: list[Call] = []
    for text in texts:
        for call in calls:
            longer = call.put(parameter.name, text)
            good, error = staged(name, longer)
            if good:
                return longer
            refused += [longer] if isinstance(error, NotImplementedError) else []
    # What JAX has not implemented for any value is as good as a call that works: the answer is known.
    return refused[0] if len(refused) == len(texts) * len(calls) and refused else None
