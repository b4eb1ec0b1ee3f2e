"""Measure the installed JAX and print catalogue lines for its public functions.

    JAX_PLATFORMS=cpu python tools/probe_catalogue.py jax.numpy jax.lax     # lines for these modules
    JAX_PLATFORMS=cpu python tools/probe_catalogue.py --diff jax.numpy      # only where data and JAX disagree

For every public callable the probe takes one concrete call that works (``probe_examples.py``, else guessed from
the signature) and then traces one parameter at a time, passes a list in place of an array, and looks at the
result's structure and dtype. Everything happens under ``jax.eval_shape``: nothing is compiled or run. What no
example reaches is left unmarked and named on stderr. Transforms are skipped; conditions (``[conditions]`` in the
data) are typed by hand.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from probe_examples import EXAMPLES, Call
from probe_overrides import CURES, LINES, RESULTS
from probe_values import BY_NAME, FLAVOURS

from jitlint.catalogue.load import catalogue
from jitlint.catalogue.schema import EXCEPTION_LETTERS, parse_function

ARRAYS = (jax.Array, jax.core.Tracer)
NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)
KIND = inspect.Parameter
# Parameters of these names hold dtypes, modes, functions and the like: never an array, whatever the function.
NOT_ARRAY_NAMES = """
accuracy algorithm axis axes axis_name axis_index_groups bitorder body_fun casting conv_dimension_numbers
copy device dimension_numbers dtype edge_order excluded f fun func fname format func1d impl
implementation index_dtype indexing is_leaf kind like method mode new_dtype operand_batching_dims order
out out_sharding otypes out_dtype padding precision preferred_element_type platform sep shape sharding
side signature sparsity tiled tree trim use_cast rule type_ name
"""
NOT_ARRAYS = frozenset(NOT_ARRAY_NAMES.split())


def parameters(function: Any) -> list[inspect.Parameter]:
    """The parameters of ``function``; an element-wise function (ufunc) says ``*args`` but takes ``nin`` of them."""
    found = list(inspect.signature(function).parameters.values())
    if isinstance(function, jnp.ufunc):
        names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
        return [KIND(name, KIND.POSITIONAL_ONLY) for name in names] + found[1:]
    return found


def staged(function: Callable[[], Any]) -> tuple[bool, Any]:
    """Run ``function`` inside a trace: (True, its result with tracers in it) or (False, the exception)."""
    kept: list[Any] = []

    def body() -> None:
        kept.append(function())

    try:
        jax.eval_shape(body)
    except Exception as error:  # whatever the library raises is the measurement
        return False, error
    return True, kept[0]


def find_call(name: str, function: Any, known: list[inspect.Parameter]) -> Call | None:
    if name in EXAMPLES:
        call = EXAMPLES[name]
        return call if call and staged(lambda: function(*call.args, **call.kwargs))[0] else None
    positional = (KIND.POSITIONAL_ONLY, KIND.POSITIONAL_OR_KEYWORD)
    required = [p for p in known if p.default is p.empty and p.kind in positional]
    keywords = {
        p.name: BY_NAME[p.name][0]
        for p in known
        if p.kind is p.KEYWORD_ONLY and p.default is p.empty and p.name in BY_NAME
    }
    starred = not required and any(p.kind is p.VAR_POSITIONAL for p in known)
    tries: list[list[Any]] = [[]] if not required and not starred else []
    for value in FLAVOURS:
        if starred:
            tries += [[value], [value, value]]
        else:
            tries.append(
                [
                    value
                    if p.name not in BY_NAME or p.name in ("b", "n", "k", "m", "p", "d")
                    else BY_NAME[p.name][0]
                    for p in required
                ]
            )
    for value in FLAVOURS[:6]:
        tries.append([BY_NAME.get(p.name, [value])[0] for p in required])
        tries.append([value, *[3] * (len(required) - 1)])
        tries.append([value] * len(required))
    for arguments in tries:
        call = Call(*arguments, **keywords)
        if staged(lambda: function(*call.args, **call.kwargs))[0]:  # noqa: B023 - runs at once
            return call
    return None


def is_traceable(value: Any) -> bool:
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(isinstance(leaf, NUMBERS) for leaf in leaves)


def put(call: Call, where: int | str, value: Any) -> Call:
    """``call`` with the argument at position or keyword ``where`` replaced or added."""
    if isinstance(where, int):
        return Call(*call.args[:where], value, *call.args[where + 1 :], **call.kwargs)
    return Call(*call.args, **(call.kwargs | {where: value}))


def letter(error: Exception) -> str:
    """The letter of the most specific listed exception class of ``error``."""
    for cls in type(error).__mro__:
        full = cls.__qualname__ if cls.__module__ == "builtins" else f"jax.errors.{cls.__qualname__}"
        for code, name in EXCEPTION_LETTERS.items():
            if name == full:
                return code
    return "X"


def when_traced(function: Any, call: Call, where: int | str, value: Any) -> str:
    """ "" when this argument may be a tracer, else the mark that says what tracing it raises."""
    if not is_traceable(value):
        return "!"

    def body(traced: Any) -> None:
        again = put(call, where, traced)
        function(*again.args, **again.kwargs)

    try:
        jax.eval_shape(body, value)
    except Exception as error:
        return "!" + letter(error)
    return ""


def takes_list(function: Any, call: Call, where: int | str, value: Any) -> bool:
    """Whether a Python list is accepted in place of this array or number."""
    if isinstance(value, (list, tuple)):
        return True
    if isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return False
    as_list = np.asarray(value).tolist()
    again = put(call, where, as_list if isinstance(as_list, list) else [as_list])
    good, error = staged(lambda: function(*again.args, **again.kwargs))
    return good or not isinstance(error, TypeError)


def element(value: Any) -> str:
    if not isinstance(value, ARRAYS):
        return "static"
    if not hasattr(value, "dtype"):
        return "opaque"  # a token
    if jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key):
        return "key"
    return {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(np.dtype(value.dtype).kind, "array")


def shape_of_result(result: Any) -> str:
    if isinstance(result, ARRAYS):
        return element(result)
    leaves = jax.tree.leaves(result)
    if result is None:
        return "none"
    if not any(isinstance(leaf, ARRAYS) for leaf in leaves):
        return "callable(array)" if inspect.isfunction(result) else "static"
    if type(result) is list:
        return f"list({element(leaves[0])})"
    if isinstance(result, tuple) and all(isinstance(item, ARRAYS) for item in result):
        return "tuple(" + ", ".join(element(item) for item in result) + ")"
    return "tree"


def as_kind(value: Any, dtype: Any) -> Any:
    """``value`` as JAX arrays (tracers, inside a trace), its numbers in another dtype unless that is None."""
    if isinstance(value, (list, tuple)):
        return type(value)(as_kind(item, dtype) for item in value)
    if isinstance(value, jax.Array):
        return value
    array = np.asarray(value)
    return jnp.asarray(array if array.dtype == bool or dtype is None else array.astype(dtype))


def result_kind(function: Any, call: Call, arrays: dict[int, str]) -> str:
    """The result in catalogue language. ``arrays``: position → name of the arguments that may be tracers."""

    def kind(floating: int | None, unchanged: bool = False) -> str:
        """The result when all arrays hold integers but the one at position ``floating``; "" when it fails."""

        def body() -> Any:
            arguments = list(call.args)
            for i in arrays:
                to = None if unchanged else np.float32 if i == floating else np.int32
                arguments[i] = as_kind(arguments[i], to)
            return function(*arguments, **call.kwargs)

        good, found = staged(body)
        return shape_of_result(found) if good else ""

    base = kind(None, unchanged=True)
    ints = kind(None) if arrays else base
    if base == ints or not ints:
        return base
    if base == "float" and ints == "int":
        followed = [name for i, name in arrays.items() if kind(i) == "float"]
        # Functions that want equal dtypes refuse one float among integers: then all floats of the example count.
        followed = followed or [
            name
            for i, name in arrays.items()
            if np.asarray(jax.tree.leaves(call.args[i])[0]).dtype.kind == "f"
        ]
        return f"like({', '.join(dict.fromkeys(followed))})" if followed else "array"
    if "(" in base:  # the elements' kinds where both agree, else any array
        words, others = re.split(r"(\w+)", base), re.split(r"(\w+)", ints)
        if len(words) == len(others):
            return "".join(word if word == other else "array" for word, other in zip(words, others))
    return "array"


def line(name: str, function: Any) -> str | None:
    """The catalogue line of one function, or None when it has no signature."""
    if name in LINES:
        return LINES[name]
    try:
        known = parameters(function)
    except (TypeError, ValueError):
        return None
    call = find_call(name, function, known)
    if call is None:
        print(f"no working call: {name}", file=sys.stderr)
    marks: dict[str, str] = {}
    arrays: dict[int, str] = {}
    positional = [p for p in known if p.kind in (KIND.POSITIONAL_ONLY, KIND.POSITIONAL_OR_KEYWORD)]
    star = next((p for p in known if p.kind is KIND.VAR_POSITIONAL), None)
    given: list[tuple[inspect.Parameter | None, int | str, Any, Call]] = []
    if call is not None:
        for i, value in enumerate(call.args):
            given.append((positional[i] if i < len(positional) else star, i, value, call))
        for keyword, value in call.kwargs.items():
            given.append((next((p for p in known if p.name == keyword), None), keyword, value, call))
        used = {p.name for p, *_ in given if p is not None}
        for p in known:  # optional parameters, one at a time
            if p.name in used or p.kind in (KIND.VAR_POSITIONAL, KIND.VAR_KEYWORD, KIND.POSITIONAL_ONLY):
                continue
            default = [not p.default] if isinstance(p.default, bool) else []
            default += [p.default] if type(p.default) in (int, float) else []
            for value in itertools.chain(default, BY_NAME.get(p.name, [])):
                longer = put(call, p.name, value)
                if staged(lambda: function(*longer.args, **longer.kwargs))[0]:  # noqa: B023 - runs at once
                    given.append((p, p.name, value, longer))
                    break
    for parameter, where, value, used_call in given:
        if parameter is None:
            continue
        mark = when_traced(function, used_call, where, value)
        if not mark:
            if isinstance(where, int) and not isinstance(value, bool):
                arrays[where] = parameter.name
            mark = "@" if takes_list(function, used_call, where, value) else ""
        marks[parameter.name] = mark
    out: list[str] = []
    last: Any = None
    for p in known:
        if last is KIND.POSITIONAL_ONLY and p.kind is not last:
            out.append("/")
        if p.kind is KIND.KEYWORD_ONLY and last not in (KIND.KEYWORD_ONLY, KIND.VAR_POSITIONAL):
            out.append("*")
        if p.name not in marks and p.kind not in (KIND.VAR_KEYWORD, KIND.VAR_POSITIONAL):
            marks[p.name] = "!" if p.name in NOT_ARRAYS else "@"
            if p.name not in NOT_ARRAYS:
                print(f"no example for {name}({p.name})", file=sys.stderr)
        stars = {KIND.VAR_POSITIONAL: "*", KIND.VAR_KEYWORD: "**"}.get(p.kind, "")
        optional = "?" if p.default is not p.empty else ""
        out.append(stars + p.name + optional + marks.get(p.name, ""))
        last = p.kind
    if last is KIND.POSITIONAL_ONLY:
        out.append("/")
    result = RESULTS.get(name) or (result_kind(function, call, arrays) if call is not None else "array")
    if name in CURES:
        result += f" data({', '.join(CURES[name])})"
    return ", ".join(out) + f" -> {result}" if out else f"-> {result}"


def public(module_name: str) -> dict[str, Any]:
    """The public functions of a module: no submodules, classes (but dtypes) or names of other modules."""
    module = importlib.import_module(module_name)
    found = {}
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        is_dtype = isinstance(getattr(value, "dtype", None), np.dtype) and module_name == "jax.numpy"
        typing = type(value).__module__ in ("typing", "types") and not inspect.isroutine(value)
        if (inspect.isclass(value) and not is_dtype) or typing or name.startswith("register_"):
            continue
        found[name] = value
    return found


def measured(module_name: str) -> Iterator[tuple[str, str]]:
    """(dotted name, line) of every function of a module that the catalogue should hold under this name."""
    data = catalogue()
    for name, function in public(module_name).items():
        dotted = f"{module_name}.{name}"
        if dotted in data.transforms or data.canonical(dotted) != dotted:
            continue
        found = line(dotted, function)
        if found is None:
            print(f"no signature: {dotted}", file=sys.stderr)
        else:
            yield dotted, found


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    modules = [argument for argument in arguments if not argument.startswith("--")]
    if "--diff" not in arguments:
        for module_name in modules:
            print(f'\n[functions."{module_name}"]')
            for dotted, found in measured(module_name):
                print(f'{dotted.rpartition(".")[2]} = "{found}"', flush=True)
        return 0
    different = 0
    for dotted, found in itertools.chain.from_iterable(map(measured, modules)):
        stored = catalogue().function(dotted)
        if stored is None or stored != parse_function(dotted, found, stored.conditions):
            print(f"{dotted}: JAX says {found}; the data says {stored}")
            different += 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
