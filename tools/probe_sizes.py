"""Measure which functions give a result of the sizes that their arguments have together, and write ``data/sizes.toml``.

    JAX_PLATFORMS=cpu python tools/probe_sizes.py --write       # the data file
    JAX_PLATFORMS=cpu python tools/probe_sizes.py --diff        # only where data and the installed library disagree

Each function of the catalogue that gives an array is called with one, two and three arrays of sizes that fit, and with
some that do not, under ``jax.eval_shape``. It gets a line where the sizes of all answers are those of broadcasting and what
does not fit is refused: the parameters, and behind ``;`` the options that were tried and change nothing.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from probe_calls import function_of

from jitlint.catalogue.load import COMPILED, Catalogue, catalogue, compiled
from jitlint.catalogue.schema import ApiFunction

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Shape = tuple[int, ...]

MODULES = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.scipy.", "array.")
ONE_ARRAY = ("array", "bool", "int", "float", "like")
FITTING: dict[int, list[list[Shape]]] = {
    1: [[(3, 5)], [(5,)], [(7,)], [(4, 1, 2)], [()], [(4, 4)], [(2, 4, 4)]],
    2: [[(3, 5), (3, 5)], [(3, 5), (5,)], [(3, 1), (5,)], [(3, 5), (3, 1)], [(), (3, 5)], [(2,), ()]],
    3: [[(3, 5), (5,), (3, 1)], [(3, 5), (3, 5), (3, 5)], [(3, 1), (), (5,)], [(5,), (3, 5), ()]],
}
UNFIT: dict[int, list[list[Shape]]] = {
    1: [],
    2: [[(3, 5), (4,)], [(3, 5), (2, 5)]],
    3: [[(3, 5), (4,), (3, 5)], [(3, 5), (5,), (2, 1)]],
}
DTYPES = (np.float32, np.int32, np.bool_, np.complex64)
OPTIONS: dict[str, tuple[Any, ...]] = {
    "axis": (0, -1),
    "axes": ((0,), (-1,)),
    "decimals": (1,),
    "dtype": (np.float32,),
    "copy": (True, False),
    "descending": (True, False),
    "reverse": (True, False),
    "approximate": (True, False),
    "stable": (True, False),
    "norm": ("ortho",),
    "initial": (1.0,),
    "precision": (None,),
    "accuracy": (None,),
    "shift": (1,),
    "discont": (1.0,),
    "deg": (True, False),
    "nan": (0.0,),
    "posinf": (1.0,),
    "neginf": (1.0,),
    "negative_slope": (0.1,),
    "alpha": (0.1,),
    "b": (2.0,),
}


def shapes_of(fn: Callable[..., Any], shapes: list[Shape], **options: Any) -> list[Any]:
    """The shapes that a call gives, by dtypes; a refusal is left out."""
    out = []
    for dtype in DTYPES:
        arrays = [jnp.ones(shape, dtype) for shape in shapes]
        try:
            found = jax.eval_shape(lambda *given: fn(*given, **options), *arrays)
        except Exception:  # whatever the library thinks of it
            continue
        out.append(getattr(found, "shape", None))
    return out


def broadcast(shapes: list[Shape]) -> Shape:
    return tuple(np.broadcast_shapes(*shapes))


def arrays_of(function: ApiFunction, count: int) -> list[str] | None:
    """The first parameters, if so many may be arrays and no other has to be given."""
    parameters = [p for p in function.parameters if p.name != "self"]
    if len(parameters) < count or any(
        p.must_be_static or p.kind.startswith("var") for p in parameters[:count]
    ):
        return None
    if any(not p.optional for p in parameters[count:]):
        return None
    return [p.name for p in parameters[:count]]


def line_of(function: ApiFunction) -> str:
    """What the sizes of the result follow, "" if it is nothing of the kind."""
    is_method = function.name.startswith("array.")
    for count in (3, 2, 1):
        names = arrays_of(function, count - is_method)
        if names is None:
            continue
        fn = (
            (lambda x, *rest, **options: getattr(x, function.name[6:])(*rest, **options))
            if is_method
            else None
        )
        try:
            called = fn or function_of(function.name)
        except (AttributeError, ImportError):
            return ""
        if fits(called, count):
            names = ["self", *names] if is_method else names
            harmless = [name for name in OPTIONS if changes_nothing(function, called, count, name)]
            return " ".join(names) + ("; " + " ".join(harmless) if harmless else "")
    return ""


def fits(fn: Callable[..., Any], count: int) -> bool:
    answered = 0
    for shapes in FITTING[count]:
        found = shapes_of(fn, shapes)
        answered += bool(found)
        if any(shape != broadcast(shapes) for shape in found) or (
            not found and count > 1 and () not in shapes
        ):
            return False
    return answered > 1 and not any(shapes_of(fn, shapes) for shapes in UNFIT[count])


def changes_nothing(function: ApiFunction, fn: Callable[..., Any], count: int, name: str) -> bool:
    if function.parameter(name) is None:
        return False
    tried = False
    for value, shapes in itertools.product(OPTIONS[name], FITTING[count]):
        found = shapes_of(fn, shapes, **{name: value})
        tried = tried or bool(found)
        if any(shape != broadcast(shapes) for shape in found):
            return False
    return tried


def functions(known: Catalogue) -> Iterator[ApiFunction]:
    names = [*compiled().functions, *[f"array.{name}" for name in compiled().methods]]
    for name in sorted(names):
        function = known.array_method(name[6:]) if name.startswith("array.") else known.function(name)
        if function is not None and name.startswith(MODULES) and function.result.kind in ONE_ARRAY:
            yield function


def measured() -> dict[str, dict[str, str]]:
    """Lines by module and name."""
    out: dict[str, dict[str, str]] = {}
    for function in functions(catalogue()):
        line = line_of(function)
        if line:
            owner, _, short = function.name.rpartition(".")
            out.setdefault(owner, {})[short] = line
    return out


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for option in ("--write", "--diff"):
        parser.add_argument(option, action="store_true")
    chosen = parser.parse_args(arguments)
    tables = measured()
    file = COMPILED.parent / "data" / "sizes.toml"
    if chosen.diff:
        known = tomllib.loads(file.read_text(encoding="utf-8"))["sizes"]
        differing = [owner for owner in {*known, *tables} if known.get(owner) != tables.get(owner)]
        print("\n".join(sorted(differing)))
        return 1 if differing else 0
    version = ".".join(jax.__version__.split(".")[:2])
    parts = [
        f"# Whose sizes results have. Generated by tools/probe_sizes.py from JAX {version}: do not edit.\n"
        "# The parameters whose sizes a result has together, and behind the semicolon options that change nothing.\n"
    ]
    for owner, lines in sorted(tables.items()):
        body = "\n".join(f"{name} = {json.dumps(line)}" for name, line in sorted(lines.items()))
        parts.append(f'[sizes."{owner}"]\n{body}\n')
    text = "\n".join(parts)
    if chosen.write:
        file.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
