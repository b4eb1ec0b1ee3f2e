"""Measure the installed JAX and write the catalogue's generated files.

    JAX_PLATFORMS=cpu python tools/probe_catalogue.py --write       # data files and the calls they were measured with
    JAX_PLATFORMS=cpu python tools/probe_catalogue.py --diff        # only where data and the installed JAX disagree
    JAX_PLATFORMS=cpu python tools/probe_catalogue.py --report      # how much of each module is covered, and what not
    JAX_PLATFORMS=cpu python tools/probe_catalogue.py jax.numpy     # print the lines of these modules

For every public callable the probe takes one concrete call that works (``probe_examples.py``, else guessed from
the signature) and then traces one parameter at a time, passes a list in place of an array, and looks at the
result's structure and dtype. An argument that is no array is replaced by a traced number. Everything happens under
``jax.eval_shape``: nothing is compiled or run. What no call reaches is left unmarked and counted in the report.
Transforms are described by hand in ``transforms.toml``, conditions in ``conditions.toml``.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import inspect
import json
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from probe_calls import (
    KIND,
    POSITIONAL,
    TRACED,
    Call,
    find_calls,
    function_of,
    parameters,
    runner,
    staged,
    value_of,
)
from probe_overrides import CURES, FILES, MARKS, REASONS, RESULTS

from jitlint.catalogue.load import COMPILED, catalogue
from jitlint.catalogue.schema import EXCEPTION_LETTERS, ApiFunction, CatalogueError, parse_function

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CALLS = Path(__file__).parents[1] / "tests" / "catalogue" / "calls.toml"
ARRAYS = (jax.Array, jax.core.Tracer)
NUMBERS = (bool, int, float, complex, np.ndarray, np.generic, jax.Array)
NEVER_ARRAYS = frozenset({"out_sharding", "device", "sharding", "mesh", "name", "axis_name"})
NUMBER = np.int32(1)
"""Traced in place of an argument that is no array."""


@dataclass(slots=True)
class Measured:
    """One function: its catalogue line, the calls it was measured with, what no call reached."""

    name: str
    line: str
    calls: list[Call] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)


def is_traceable(value: Any) -> bool:
    """Whether it is an array, a number or a container of these; settings that JAX could trace too are not meant."""
    if isinstance(value, enum.Enum) or hasattr(value, "_fields"):
        return False
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(isinstance(leaf, NUMBERS) for leaf in leaves)


def letter(error: Exception) -> str:
    """The letter of the most specific listed exception class of ``error``."""
    for cls in type(error).__mro__:
        full = cls.__qualname__ if cls.__module__ == "builtins" else f"jax.errors.{cls.__qualname__}"
        for code, name in EXCEPTION_LETTERS.items():
            if name == full:
                return code
    return "X"


def when_traced(name: str, call: Call, where: int | str, value: Any) -> str:
    """ "" when this argument may be a tracer, else the letter of what tracing it raises."""
    run = runner(name, call.put(where, TRACED))
    try:
        jax.eval_shape(lambda traced: (run(traced), None)[1], value)
    except Exception as error:
        return letter(error)
    return ""


def takes_list(name: str, call: Call, where: int | str, value: Any) -> bool:
    """Whether a Python list is accepted in place of this array or number."""
    if isinstance(value, (list, tuple, dict)):
        return True
    if is_key(value):
        return False
    as_list = np.asarray(value).tolist()
    good, error = staged(name, call.put(where, repr(as_list if isinstance(as_list, list) else [as_list])))
    return good or not isinstance(error, TypeError)


def is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def uses_key(name: str, call: Call, where: int | str, key: Any) -> bool:
    """Whether JAX's own checker counts the call as a use of the key, after which it must not be used again."""
    from jax.experimental.key_reuse import _core as key_reuse

    run = runner(name, call.put(where, TRACED))

    def arrays(traced: Any) -> list[Any]:
        return [leaf for leaf in jax.tree.leaves(run(traced)) if isinstance(leaf, ARRAYS)]

    signature = key_reuse.function_type_signature(arrays, key)
    return bool(signature.sinks)


def mark(name: str, call: Call, where: int | str, text: str) -> str:
    """What the catalogue says about one argument."""
    value = value_of(text)
    if is_traceable(value):
        refused = when_traced(name, call, where, value)
        if refused:
            return f"!{refused}"
        if is_key(value):
            return "#" if uses_key(name, call, where, value) else "%"
        return "@" if takes_list(name, call, where, value) else ""
    refused = when_traced(name, call, where, NUMBER)
    function = callable(value) and not isinstance(value, type) and not hasattr(value, "dtype")
    if not refused:
        return "@"
    return f"!{refused}&" if function else f"!{refused}"


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
        kinds = {element(leaf) for leaf in leaves}
        return f"list({kinds.pop() if len(kinds) == 1 else 'array'})"
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


def result_kind(name: str, call: Call, arrays: dict[int, str]) -> str:
    """The result in catalogue language. ``arrays``: position → name of the arguments that may be tracers."""
    values = {i: value_of(call.args[i]) for i in arrays}
    again = Call(tuple(f"{TRACED}[{i}]" if i in arrays else t for i, t in enumerate(call.args)), call.kwargs)
    run = runner(name, again)

    def kind(floating: int | None, unchanged: bool = False) -> str:
        """The result when all arrays hold integers but the one at position ``floating``; "" when it fails."""
        kept: list[Any] = []

        def body() -> None:
            to = {i: None if unchanged else np.float32 if i == floating else np.int32 for i in arrays}
            kept.append(run({i: as_kind(value, to[i]) for i, value in values.items()}))

        try:
            jax.eval_shape(body)
        except Exception:
            return ""
        return shape_of_result(kept[0])

    base = kind(None, unchanged=True)
    ints = kind(None) if arrays else base
    if not base:  # an array is not taken where a Python number is
        good, found = staged(name, call)
        return shape_of_result(found) if good else "array"
    if base == ints or not ints:
        return base
    if base == "float" and ints == "int":
        followed = [name for i, name in arrays.items() if kind(i) == "float"]
        # Functions that want equal dtypes refuse one float among integers: then all floats of the example count.
        followed = followed or [
            name for i, name in arrays.items() if np.asarray(jax.tree.leaves(values[i])[0]).dtype.kind == "f"
        ]
        return f"like({', '.join(dict.fromkeys(followed))})" if followed else "array"
    if "(" in base:  # the elements' kinds where both agree, else any array
        words, others = re.split(r"(\w+)", base), re.split(r"(\w+)", ints)
        if len(words) == len(others):
            return "".join(word if word == other else "array" for word, other in zip(words, others))
    return "array"


def keeps_structure(name: str, call: Call, arrays: dict[int, str]) -> str:
    """The name of the argument whose pytree structure the result has, "" when there is none."""
    for i, parameter in arrays.items():
        good, found = staged(name, call.put(i, f"dict(part={call.args[i]})"))
        if good and isinstance(found, dict) and isinstance(found.get("part"), (*ARRAYS, np.ndarray)):
            return parameter
    return ""


def keeps_numbers(name: str, call: Call, parameter: str, arrays: dict[int, str]) -> bool:
    """Whether a Python number in this argument gives a Python number, also under a trace."""
    where = next(i for i, given in arrays.items() if given == parameter)
    good, found = staged(name, call.put(where, "1"))
    return good and type(found) in (int, float)


def method_result(name: str, call: Call) -> str:
    """The result of a method, which may have the dtype of the array it belongs to."""
    kinds = []
    for cast in (".astype(np.float32)", ".astype(np.int32)", ".astype(bool)"):
        try:
            run = runner(name, call, cast)
            kept: list[Any] = []
            jax.eval_shape(lambda: kept.append(run(None)))  # noqa: B023 - runs at once
            kinds.append(shape_of_result(kept[0]))
        except Exception:
            continue
    if kinds[:2] == ["float", "int"]:
        return "like(self)"
    return kinds[0] if kinds and len(set(kinds)) == 1 else "array"


def measure(name: str) -> Measured | None:
    """Everything the catalogue says about one function, or None when it has no signature."""
    function = function_of(name)
    try:
        known = parameters(name, function)
    except (TypeError, ValueError):
        return None
    calls = find_calls(name, known)
    marks = dict(MARKS.get(name, {}))
    arrays: dict[int, str] = {}
    positional = [p for p in known if p.kind in POSITIONAL]
    star = next((p for p in known if p.kind is KIND.VAR_POSITIONAL), None)
    rest = next((p for p in known if p.kind is KIND.VAR_KEYWORD), None)
    for call in calls:
        named: list[tuple[int | str, inspect.Parameter | None, str]] = []
        named += [
            (i, positional[i] if i < len(positional) else star, text) for i, text in enumerate(call.args)
        ]
        named += [
            (keyword, next((p for p in known if p.name == keyword), rest), text)
            for keyword, text in call.kwargs.items()
        ]
        for where, parameter, text in named:
            if parameter is None:
                continue
            if parameter.name not in marks:
                marks[parameter.name] = mark(name, call, where, text)
            value = value_of(text)
            may_be_array = not marks[parameter.name].startswith("!") and not isinstance(value, bool)
            if call is calls[0] and isinstance(where, int) and may_be_array and is_traceable(value):
                arrays[where] = parameter.name
    out: list[str] = []
    unreached: list[str] = []
    last: Any = None
    for p in known:
        if last is KIND.POSITIONAL_ONLY and p.kind is not last:
            out.append("/")
        if p.kind is KIND.KEYWORD_ONLY and last not in (KIND.KEYWORD_ONLY, KIND.VAR_POSITIONAL):
            out.append("*")
        if p.name not in marks:
            if p.kind not in (KIND.VAR_KEYWORD, KIND.VAR_POSITIONAL):
                unreached.append(p.name)
            marks[p.name] = "!" if p.name in NEVER_ARRAYS else "@"
        stars = {KIND.VAR_POSITIONAL: "*", KIND.VAR_KEYWORD: "**"}.get(p.kind, "")
        optional = "?" if p.default is not p.empty else ""
        out.append(stars + p.name + optional + marks[p.name])
        last = p.kind
    if last is KIND.POSITIONAL_ONLY:
        out.append("/")
    result = RESULTS.get(name, "")
    if not result and calls:
        if name.partition(".")[0] in ("array", "at"):
            result = method_result(name, calls[0])
        else:
            whole = keeps_structure(name, calls[0], arrays)
            same = "total" if whole and keeps_numbers(name, calls[0], whole, arrays) else "structure"
            result = f"{same}({whole})" if whole else result_kind(name, calls[0], arrays)
    result = result or "array"
    if name in CURES:
        result += f" data({', '.join(CURES[name])})"
    line = ", ".join(out) + f" -> {result}" if out else f"-> {result}"
    return Measured(name, line, calls, unreached)


def public(module_name: str) -> list[str]:
    """The dotted names of a module's public functions: no submodules, classes (but dtypes) or type aliases."""
    if module_name in ("array", "at"):
        owner = type(jnp.zeros(1)) if module_name == "array" else type(jnp.zeros(1).at[0])
        return [f"{module_name}.{n}" for n in dir(owner) if n[0] != "_" and callable(getattr(owner, n))]
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError:
        return []  # another version of JAX
    found = []
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or inspect.ismodule(value) or not callable(value):
            continue
        is_dtype = isinstance(getattr(value, "dtype", None), np.dtype) and module_name == "jax.numpy"
        typing = type(value).__module__ in ("typing", "types") and not inspect.isroutine(value)
        if (inspect.isclass(value) and not is_dtype) or typing or name.startswith("register_"):
            continue
        found.append(f"{module_name}.{name}")
    return found


def own_names(module_name: str) -> list[str]:
    """The names of a module that the catalogue holds as functions under this very name.

    What arrays have and tracers lack is an attribute there, and must not be called here: it may delete the array.
    """
    data = catalogue()
    names = [n for n in public(module_name) if n not in data.transforms and data.canonical(n) == n]
    if module_name == "array":
        names = [n for n in names if not data.array_attribute(n.removeprefix("array."))]
    return names


def measured(module_name: str) -> Iterator[Measured]:
    for name in own_names(module_name):
        found = measure(name)
        if found is not None:
            yield found


def stored(name: str) -> ApiFunction | None:
    """What the data says."""
    owner, _, member = name.partition(".")
    if owner == "array":
        return catalogue().array_method(member)
    return catalogue().update_method(member) if owner == "at" else catalogue().function(name)


def table(module_name: str) -> str:
    """The head of the table that holds a module's functions."""
    tables = {"array": "[methods]", "at": "[updates]"}
    return tables.get(module_name, f'[functions."{module_name}"]')


def lines_of(module_name: str, found: list[Measured]) -> str:
    lines = (f'{one.name.rpartition(".")[2]} = "{one.line}"' for one in found)
    return "\n".join([table(module_name), *lines])


def write() -> None:
    """Write the data files and the file of calls."""
    version = ".".join(jax.__version__.split(".")[:2])
    note = f"Generated by tools/probe_catalogue.py from JAX {version}: do not edit."
    calls: list[str] = [
        f"# {note} The calls that the catalogue was measured with.",
        "# The values are defined in tools/probe_values.py.",
        "",
        "[calls]",
    ]
    for file, (title, modules) in FILES.items():
        parts = [f"# {title}. {note}\n# The language is described in jitlint/catalogue/schema.py."]
        for module_name in modules:
            found = list(measured(module_name))
            parts.append(lines_of(module_name, found))
            for one in found:
                texts = ", ".join(json.dumps(str(call)) for call in one.calls)
                calls.append(f'"{one.name}" = [{texts}]')
        (COMPILED.parent / "data" / f"{file}.toml").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    CALLS.write_text("\n".join(calls) + "\n", encoding="utf-8")


def differences(modules: list[str]) -> Iterator[str]:
    """One line for every function about which the data and the installed JAX disagree."""
    for module_name in modules:
        known = set(described_names(module_name))
        for one in measured(module_name):
            known.discard(one.name)
            data = stored(one.name)
            if data is None:
                yield f"{one.name}: not in the data; JAX says {one.line}"
                continue
            try:
                same = data == parse_function(data.name, one.line, data.conditions)
            except CatalogueError:  # a condition speaks of a parameter that this JAX does not have
                same = False
            if not same:
                yield f"{one.name}: JAX says {one.line}; the data says {stored_line(one.name)}"
        yield from (f"{name}: not in the installed JAX" for name in sorted(known))


def described_names(module_name: str) -> list[str]:
    """The functions of a module that the generated data describes."""
    with CALLS.open("rb") as file:
        names = tomllib.load(file)["calls"]
    return [name for name in names if name.rpartition(".")[0] == module_name]


def stored_line(name: str) -> str:
    """The line of the data."""
    owner, _, member = name.partition(".")
    packed = catalogue()._packed
    return {"array": packed.methods, "at": packed.updates}.get(owner, {}).get(member) or packed.functions[
        name
    ]


def report(modules: list[str]) -> Iterator[str]:
    """Coverage per module, then every function and parameter that no call reaches."""
    data, without, unreached = catalogue(), [], []
    for module_name in modules:
        names = public(module_name)
        if not names:
            continue
        own = set(own_names(module_name))
        described = {n for n in names if data.canonical(n) in data.transforms}
        other = len(names) - len(own) - len(described)
        missing = 0
        parameter_count = reached = 0
        for name in names:
            if name not in own:
                continue
            one = measure(name)
            if one is None or not one.calls:
                missing += 1
                without.append(f"  {name}: {REASONS.get(name, 'no reason known')}")
                continue
            n = len(parse_function(name, one.line).parameters)
            parameter_count += n
            reached += n - len(one.unreached)
            unreached += [f"  {name}({p})" for p in one.unreached]
        share = (len(names) - missing) / len(names)
        yield (
            f"{module_name}: {len(names) - missing} of {len(names)} callables ({share:.1%}); "
            f"{len(described)} are transforms, {other} described elsewhere; "
            f"{reached} of {parameter_count} parameters"
        )
    yield "Without a call:"
    yield from without
    yield "Parameters that no call reaches:"
    yield from unreached


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for option in ("--write", "--diff", "--report"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("modules", nargs="*")
    chosen = parser.parse_args(arguments)
    modules = chosen.modules or [name for _, names in FILES.values() for name in names]
    if chosen.write:
        write()
        return 0
    if chosen.report:
        print("\n".join(report(modules)))
        return 0
    if chosen.diff:
        found = list(differences(modules))
        print("\n".join(found), end="\n" if found else "")
        return 1 if found else 0
    print("\n\n".join(lines_of(name, list(measured(name))) for name in modules))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
