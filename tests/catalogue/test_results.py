"""What the catalogue says about results, and the sets of names, against the installed JAX."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

from jitlint.catalogue.lexicon import lexicon  # noqa: E402
from jitlint.catalogue.load import catalogue, compiled, results  # noqa: E402
from jitlint.catalogue.ranks import EVERY_AXIS, Argument, parse_dtypes, parse_rank  # noqa: E402
from jitlint.catalogue.schema import CatalogueError  # noqa: E402
from tests.catalogue.differences import AGREES, Book  # noqa: E402
from tests.catalogue.programs import ROOT  # noqa: E402
from tests.versions import DESCRIBED, minor  # noqa: E402

jnp = jax.numpy


@functools.cache
def probe() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    import probe_ranks

    return probe_ranks


def modules() -> list[str]:
    own = {name.rpartition(".")[0] for name in results().ranks}
    return sorted(own - {"optax"})  # its losses have a test of their own


@pytest.mark.parametrize("module", modules())
def test_ranks_are_those_of_the_library(module: str, book: Book) -> None:
    """In another version a function may be missing, and a call may be refused that shows a rank."""
    found: dict[str, str] = {}
    asked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for subject in probe().subjects([module]):
            rank = catalogue().rank(subject.name)
            if rank is None:
                continue
            wrong = probe().contradictions(subject, rank)
            asked += any(rank.of(seen.arguments) is not None for seen in subject.seen)
            found[subject.name] = f"not {rank}" if wrong else AGREES
    book.check("ranks", found)
    if minor(jax.__version__) == minor(DESCRIBED):
        assert asked == sum(name.rpartition(".")[0] == module for name in results().ranks)


@pytest.mark.parametrize("module", sorted({name.rpartition(".")[0] for name in results().parts}))
def test_ranks_of_parts_are_those_of_the_library(module: str, book: Book) -> None:
    """Of each array of a tuple, and of all arrays of a list."""
    probe()
    import probe_parts

    found: dict[str, str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for subject in probe_parts.subjects([module]):
            known = catalogue().parts(subject.name)
            if known:
                rank = known[max(subject.part or 0, 0)]
                wrong = probe().contradictions(subject, rank)
                found[f"{subject.name}[{subject.part}]"] = f"not {rank}" if wrong else AGREES
    book.check("parts", found)
    if minor(jax.__version__) == minor(DESCRIBED):
        assert {name.partition("[")[0] for name in found} == {
            name for name in results().parts if name.rpartition(".")[0] == module
        }


def test_dtypes_are_those_of_the_library(book: Book) -> None:
    wanted = {
        "jax.numpy.sum",
        "jax.numpy.abs",
        "jax.lax.abs",
        "jax.numpy.max",
        "jax.lax.max",
        "jax.numpy.clip",
    }
    found = {}
    for subject in probe().subjects(["jax.numpy", "jax.lax"]):
        if subject.name in wanted:
            line = probe().dtype_line(subject)
            found[subject.name] = (
                AGREES if line == results().dtypes.get(subject.name, "") else f"gives {line}"
            )
    assert set(found) == wanted
    book.check("dtypes", found)
    assert catalogue().dtypes("jax.numpy.sum")["bool"] == "int"
    assert catalogue().dtypes("jax.numpy.abs")["complex"] == "float"


def axis(value: Any) -> Argument:
    return Argument(0, 1, 1) if isinstance(value, int) else Argument(axes=EVERY_AXIS, present=False)


def rank(name: str, **arguments: Argument) -> int | None:
    found = catalogue().rank(name)
    assert found is not None
    return found.of(arguments)


def test_functions_of_one_name_have_ranks_of_their_own() -> None:
    vector = Argument(1)
    assert rank("jax.numpy.max", a=vector) == 0
    assert rank("jax.lax.max", x=vector, y=vector) == 1
    assert rank("jax.lax.reduce_max", operand=Argument(3), axes=Argument(1, 2, 2)) == 1
    assert rank("array.max", self=Argument(2), axis=axis(0)) == 1
    assert rank("numpy.max", a=Argument(2), axis=axis(0)) == 1


def test_what_is_not_known_is_not_said() -> None:
    assert rank("jax.numpy.sum", a=Argument(2), axis=Argument()) is None
    assert rank("jax.numpy.sum", a=Argument(2), keepdims=Argument()) is None
    assert rank("jax.numpy.sum", a=Argument(2), keepdims=Argument(truth=True)) == 2
    assert rank("jax.numpy.sum", a=Argument(), axis=axis(0)) is None
    assert rank("jax.numpy.sum", a=Argument()) == 0
    assert rank("jax.numpy.sum", a=Argument(2), where=Argument(3)) is None
    assert rank("jax.numpy.zeros", shape=Argument()) is None
    assert rank("jax.lax.max", x=Argument(1), y=Argument()) is None


def test_sorting_without_an_axis_flattens() -> None:
    assert rank("jax.numpy.sort", a=Argument(2)) == 2
    assert rank("jax.numpy.sort", a=Argument(2), axis=axis(0)) == 2
    assert rank("jax.numpy.sort", a=Argument(2), axis=axis(None)) == 1
    assert rank("jax.numpy.sort", a=Argument(2), axis=Argument()) is None


@pytest.mark.parametrize(
    "line",
    [
        "broadcast(a, b) + 1",
        "shape(shape) | broadcast(a)",
        "reduce(a, axis, keepdims) unless ddof+, out",
        "flat(axis) | broadcast(arrays) - 1",
        "2",
    ],
)
def test_lines_are_read_and_written(line: str) -> None:
    assert str(parse_rank("f", line)) == line


@pytest.mark.parametrize("line", ["", "all(a)", "reduce(a)", "broadcast(a) * 2", "fixed(a)", "broadcast()"])
def test_bad_ranks_are_refused(line: str) -> None:
    with pytest.raises(CatalogueError, match="f: "):
        parse_rank("f", line)


@pytest.mark.parametrize("line", ["", "bool", "bool:text", "text:bool"])
def test_bad_dtypes_are_refused(line: str) -> None:
    with pytest.raises(CatalogueError, match="f: "):
        parse_dtypes("f", line)


def dtypes() -> list[str]:
    known = compiled().constants.items()
    return [n.rpartition(".")[2] for n, kind in known if kind == "dtype" and n.startswith("jax.numpy.")]


@pytest.mark.parametrize("name", dtypes())
def test_every_dtype_has_its_kind(name: str) -> None:
    dtype = getattr(jnp, name, None)
    if dtype is None:  # a dtype of another version
        assert catalogue().view.removed(f"jax.numpy.{name}") is not None or name not in dir(jnp)
        return
    kinds = {"bool": jnp.bool_, "int": jnp.integer, "float": jnp.floating, "complex": jnp.complexfloating}
    found = [kind for kind, parent in kinds.items() if jnp.issubdtype(dtype, parent)]
    assert found == [lexicon().arrays.dtypes[name]]


SIZES: dict[str, tuple[tuple[Any, ...], tuple[int, ...]]] = {
    "shape": (((2, 3),), (2, 3)),
    "like": ((jnp.ones((2, 3)),), (2, 3)),
    "range": ((1, 7, 2), (3,)),
    "count": ((0, 1), (50,)),
    "square": ((3,), (3, 3)),
    "nested": (([[1, 2, 3]],), (1, 3)),
    "joined": (([jnp.ones((2, 3)), jnp.ones((4, 3))], 0), (6, 3)),
    "appended": ((jnp.ones((2, 3)), jnp.ones((4, 3)), 0), (6, 3)),
    "number": ((3,), (3,)),
    "stacked": (([jnp.ones((2, 3)), jnp.ones((2, 3))],), (2, 2, 3)),
    "standing": (([jnp.ones((2, 3)), jnp.ones(3)],), (3, 3)),
    "beside": (([jnp.ones((2, 3)), jnp.ones((2, 4))],), (2, 7)),
    "columns": (([jnp.ones((2, 3)), jnp.ones(2)],), (2, 4)),
    "tiled": ((jnp.ones((2, 3)), (2, 1)), (4, 3)),
    "repeated": ((jnp.ones((2, 3)), 2, 0), (4, 3)),
    "pairs": ((jnp.ones((2, 3)), jnp.ones(2)), (6, 2)),
    "chosen": ((5, (2, 3)), (2, 3)),
    "shuffled": ((5,), (5,)),
}


OF_JAX = sorted(
    one for one in lexicon().arrays.sizes.items() if one[1] != "labelled"
)  # optax has a test of its own


@pytest.mark.parametrize(("name", "form"), OF_JAX)
def test_sizes_are_what_the_arguments_say(name: str, form: str, book: Book) -> None:
    try:
        function = functools.reduce(getattr, name.split(".")[1:], jax)
    except AttributeError:
        book.check("sizes", {name: "is not there"})
        return
    given, size = SIZES[form]
    more: dict[str, Any] = {"fill_value": 0} if "full" in name else {}
    if name.startswith("jax.nn.") or form in ("chosen", "shuffled"):
        given = (jax.random.key(0), *given)
    elif name.startswith("jax.random."):
        needed = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        more = {**dict.fromkeys(needed, 1), "key": jax.random.key(0), "shape": given[0]}
        more.update({"maxval": 2} if "maxval" in more else {"upper": 2} if "upper" in more else {})
        more.update({"logits": jnp.zeros(4)} if "logits" in more else {})
        if form == "number":
            more = {"key": jax.random.key(0), "num": given[0]}
        given = ()
    if name.endswith(".concat"):
        given, more = given[:1], {"axis": given[1]}
    if name == "jax.lax.empty":
        more = {"dtype": jnp.float32}
    shape = function(*given, **more).shape
    book.check("sizes", {name: AGREES if shape == size else f"gives {shape}"})


def test_control_flow_has_the_parameters_of_the_library(book: Book) -> None:
    found = {}
    for name, words in lexicon().compilation.control_flow.items():
        module, _, last = name.rpartition(".")
        function = getattr(importlib.import_module(module), last)
        known = list(inspect.signature(function).parameters)
        agrees = list(words) == known[: len(words)] or name == "jax.lax.cond"
        found[name] = AGREES if agrees else f"takes {' '.join(known)}"
    book.check("control_flow", found)


def test_metadata_of_a_deleted_array_can_be_read() -> None:
    array = jnp.ones((2, 3))
    array.delete()
    view = catalogue().at(jax.__version__).view
    for name in lexicon().buffers.metadata - {"delete"}:
        if view.there(f"array.{name}") is not False:
            getattr(array, name)


FIRST: dict[str, tuple[Any, ...]] = {
    "binomial": (3, 0.5),
    "choice": (5,),
    "hypergeometric": (3, 3, 2),
    "integers": (1, 9),
    "negative_binomial": (3, 0.5),
    "randint": (1, 9),
    "triangular": (0.0, 0.5, 1.0),
    "zipf": (2.0,),
}
"""The arguments before the sizes, where a half will not do."""


@pytest.mark.parametrize(("name", "place"), sorted(lexicon().arrays.drawn.items()))
def test_random_generators_of_numpy_take_sizes_there(name: str, place: str) -> None:
    """Both of those that are there: the functions of the module, and the methods of a generator."""
    found = [getattr(of, name) for of in (np.random, np.random.default_rng(0)) if hasattr(of, name)]
    assert found
    for draw in found:
        if place == "each":
            assert draw(2, 3).shape == (2, 3)
            continue
        if place == "shuffled":
            assert draw(5).shape == (5,)
            assert draw(np.ones((2, 3))).shape == (2, 3)
            continue
        before = FIRST.get(name, (0.5,) * int(place))
        assert draw(*before, (2, 3)).shape == draw(*before, size=(2, 3)).shape == (2, 3)


def test_results_have_the_sizes_that_were_measured(book: Book) -> None:
    """The data says nothing that is not so; in another version a function may be missing."""
    sys.path.insert(0, str(ROOT / "tools"))
    import probe_sizes

    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in probe_sizes.functions(catalogue()):
            line = results().sizes.get(function.name)
            if line is not None:
                now = probe_sizes.line_of(function)
                found[function.name] = AGREES if now == line else f"follows {now}"
    assert found.keys() == results().sizes.keys()
    book.check("followed", found)


@pytest.mark.parametrize("name", sorted(n for n, form in lexicon().arrays.moves.items() if form == "same"))
def test_functions_that_keep_the_sizes_do(name: str) -> None:
    x = jnp.ones((3, 2))
    keywords: dict[str, Any] = {"axis": 0} if "cum" in name else {}
    if name.endswith(".astype"):
        keywords = {"dtype": jnp.int32}
    if name.endswith(".roll"):
        keywords = {"shift": 1}
    if name.endswith(".interp"):
        keywords = {"xp": jnp.arange(3.0), "fp": jnp.arange(3.0)}
    if name.startswith("array."):
        assert getattr(x, name.removeprefix("array."))(**keywords).shape == x.shape
    else:
        function = functools.reduce(getattr, name.split(".")[1:], jax)
        assert function(x, **keywords).shape == x.shape


def test_functions_of_complex_numbers_give_them_for_floats() -> None:
    for name in sorted(lexicon().arrays.complex):
        function = functools.reduce(getattr, name.split(".")[1:], jax)
        result = function(*[jnp.ones((2, 2))] * (2 if name == "jax.lax.complex" else 1))
        assert jnp.issubdtype(result.dtype, jnp.complexfloating), name
