"""The catalogue against the installed JAX: every fact is asked of JAX again.

The data describes one version; where another one is installed, the known differences are expected.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from jitlint.catalogue.load import COMPILED, catalogue
from jitlint.catalogue.schema import EXCEPTION_LETTERS
from tests.catalogue.differences import AGREES, Book

jax = pytest.importorskip("jax")
jnp = jax.numpy

ROOT = Path(__file__).parents[2]


def exception_name(error: BaseException) -> str:
    """The most specific class of the error that the catalogue can name."""
    for cls in type(error).__mro__:
        name = cls.__qualname__ if cls.__module__ == "builtins" else f"jax.errors.{cls.__qualname__}"
        if name in EXCEPTION_LETTERS.values():
            return name
    return "Exception"


def raised(function: Callable[..., Any], *traced: Any) -> str:
    """Name of what tracing raises, "" when it goes through."""
    try:
        jax.eval_shape(lambda *args: (function(*args), None)[1], *traced)
    except Exception as error:
        return exception_name(error)
    return ""


def _said(error: str, expected: str) -> str:
    """The entry for what was raised."""
    return AGREES if error == expected else f"raises {error}" if error else "raises nothing"


@pytest.mark.parametrize(
    "arguments", [["probe_catalogue.py", "--diff"], ["probe_numpy.py", "--diff"]], ids=lambda words: words[0]
)
def test_probing_again_gives_the_same_lines(arguments: list[str], book: Book) -> None:
    command = [sys.executable, str(ROOT / "tools" / arguments[0]), *arguments[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = [line.partition(": ") for line in done.stdout.splitlines()]
    assert done.returncode == bool(lines), done.stderr
    book.check_all(arguments[0].removesuffix(".py"), {name: _first_half(text) for name, _, text in lines})


def _first_half(text: str) -> str:
    """What the installed JAX says, without what is in the data anyway."""
    return text.partition("; the data says")[0]


# A value for each parameter of an array method; the methods' required arguments first.
REQUIRED: dict[str, list[Any]] = {
    "argpartition": [1],
    "compress": [[True, False]],
    "repeat": [2],
    "swapaxes": [0, 1],
    "take": [0],
}
VALUES: dict[str, Any] = {
    "axis": 0,
    "axis1": 0,
    "axis2": 1,
    "kth": 1,
    "keepdims": True,
    "stable": True,
    "descending": True,
    "offset": 1,
    "decimals": 1,
    "size": 1,
    "promote_integers": True,
    "total_repeat_length": 12,
    "unique_indices": True,
    "indices_are_sorted": True,
    "fill_value": 0,
}


def static_method_parameters() -> list[tuple[str, str]]:
    pairs = []
    for name in dir(jnp.zeros(1)):
        method = catalogue().array_method(name)
        if method is not None:
            pairs += [(name, p.name) for p in method.parameters if p.static and p.name in VALUES]
    return pairs


@pytest.mark.parametrize(("name", "parameter"), static_method_parameters())
def test_static_parameters_of_array_methods(name: str, parameter: str, book: Book) -> None:
    array = jnp.ones((1, 4)) if name == "squeeze" else jnp.ones((2, 4))
    method = catalogue().array_method(name)
    assert method is not None
    positional = [jnp.asarray(v) if isinstance(v, list) else v for v in REQUIRED.get(name, [])]
    names = [p.name for p in method.bind(len(positional), []) if p]
    keywords = dict(zip(names, positional))
    if name == "compress":
        keywords |= {"axis": 0, "size": 1}
    if name == "repeat":
        keywords["axis"] = 0

    def call(value: Any) -> Any:
        return getattr(array, name)(**{**keywords, parameter: value})

    found = method.parameter(parameter)
    assert found is not None
    error = raised(call, VALUES[parameter])
    book.check("array_methods", {f"{name}({parameter})": _said(error, found.exception)})
    if error == found.exception:
        call(VALUES[parameter])


@pytest.mark.parametrize(
    ("call", "name", "parameter"),
    [
        (lambda n: jnp.ones((3, 4)).reshape(n, -1), "reshape", "args"),
        (lambda n: jnp.ones((3, 4)).transpose(n, 1), "transpose", "args"),
    ],
)
def test_methods_with_any_number_of_arguments(
    call: Callable[..., Any], name: str, parameter: str, book: Book
) -> None:
    method = catalogue().array_method(name)
    assert method is not None
    assert method.parameters[0].name == parameter
    error = raised(call, 0 if name == "transpose" else 3)
    book.check("array_methods", {f"{name}(*{parameter})": _said(error, method.parameters[0].exception)})


def described_members() -> list[tuple[str, str]]:
    data = catalogue()
    members = {
        *dir(jnp.zeros(1)),
        "fill",
        "put",
        "resize",
        "itemset",
        "partition",
        "to_py",
        "strides",
        "data",
        "flags",
    }
    return [(name, text) for name in sorted(members) if (text := data.array_attribute(name))]


ARGUMENTS = {"addressable_data": (0,), "__setitem__": (0, 1.0)}


@pytest.mark.parametrize(("name", "text"), described_members())
def test_members_of_a_tracer(name: str, text: str, book: Book) -> None:
    """A tracer raises what is written; a concrete array does so only for `missing` and `foreign`."""
    kind, _, exception = text.partition(":")
    lacks = kind in ("missing", "foreign")
    assert not (kind == "foreign" and hasattr(np.zeros(1), name))

    def use(array: Any) -> Any:
        if name == "__index__":
            array = array.astype(int)
        value = getattr(array, name)
        return value(*ARGUMENTS.get(name, ())) if callable(value) and exception else value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = jnp.ones(()) if kind == "concrete-only" else jnp.ones((2, 2))
        traced = _said(raised(use, array), exception)
        try:
            use(array)
        except Exception as error:
            concrete = "missing" if lacks else f"concrete arrays raise {type(error).__name__}"
        else:
            concrete = "concrete arrays have it" if lacks else ""
    same = traced == AGREES and concrete in ("", "missing")
    book.check("array_members", {name: AGREES if same else f"{traced}; {concrete}".rstrip("; ")})


def test_an_array_has_no_member_that_the_catalogue_misses(book: Book) -> None:
    data = catalogue()
    members = [name for name in dir(jnp.zeros(1)) if not name.startswith("_")]
    unknown = [
        name for name in members if data.array_method(name) is None and data.array_attribute(name) is None
    ]
    book.check_all("unknown_array_members", dict.fromkeys(unknown, "is a member of an array"))


def exists(dotted: str) -> bool:
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except AttributeError:
            return False
        return True
    return False


def lost(names: Iterable[str]) -> list[str]:
    """Those of the names that are not there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [name for name in names if not exists(name)]


def lost_elsewhere(names: Iterable[str]) -> list[str]:
    """The same, asked in another process: `jax.experimental.array_api` gives all arrays more methods when it is imported."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(lost, list(names)).result()


def names_in(table: str) -> dict[str, Any]:
    return dict(msgspec.msgpack.decode(COMPILED.read_bytes())[table])


def test_removed_names_are_gone_and_their_replacements_exist(book: Book) -> None:
    removed = names_in("removed")
    plain = [
        r
        for r, _ in removed.values()
        if r.startswith("jax.") and r.replace(".", "").replace("_", "").isalnum()
    ]
    missing = {*lost_elsewhere({*removed, *plain})}
    book.check_all("removed_names", dict.fromkeys(removed.keys() - missing, "is there"))
    book.check_all("replacements", dict.fromkeys(missing.intersection(plain), "is not there"))


def test_functions_and_targets_of_aliases_exist(book: Book) -> None:
    names = {*names_in("functions"), *names_in("aliases").values(), *catalogue().transforms}
    # Libraries that are not installed here are looked at by the framework tests.
    known = [name for name in sorted(names) if importlib.util.find_spec(name.split(".")[0]) is not None]
    assert len(known) > 1000
    book.check_all("names", dict.fromkeys(lost(known), "is not there"))


CONDITIONS: list[tuple[Callable[..., Any], str]] = [
    (lambda n: jnp.repeat(jnp.ones(3), n), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.repeat(jnp.ones(3), n, total_repeat_length=6), ""),
    (lambda n: jnp.delete(jnp.ones(3), n), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.choose(jnp.array([0]) + n, [jnp.ones(1)] * 3), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.choose(jnp.array([0]) + n, [jnp.ones(1)] * 3, mode="clip"), ""),
    (lambda n: jnp.ravel_multi_index((n, n), (4, 4)), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.ravel_multi_index((n, n), (4, 4), mode="clip"), ""),
    (lambda n: jax.random.choice(jax.random.key(0), n), "jax.errors.ConcretizationTypeError"),
    (lambda n: jax.random.permutation(jax.random.key(0), n), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.where(jnp.ones(3) > n), "jax.errors.ConcretizationTypeError"),
    (lambda n: jnp.where(jnp.ones(3) > n, size=2), ""),
    (lambda n: jnp.ones(3).repeat(n), "jax.errors.ConcretizationTypeError"),
]


@pytest.mark.parametrize(("call", "exception", "number"), [(*pair, i) for i, pair in enumerate(CONDITIONS)])
def test_conditions(call: Callable[..., Any], exception: str, number: int, book: Book) -> None:
    book.check("conditions", {str(number): _said(raised(call, 2), exception)})
