"""Exact dtypes: promotion and what functions return, against the installed JAX."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jitlint.catalogue.dtypes import (  # noqa: E402
    STRONG,
    differ,
    dtype_of,
    exact_of,
    joined,
    kind_of,
    named,
    parse_exact,
    promoted,
)
from jitlint.catalogue.load import results  # noqa: E402
from jitlint.catalogue.schema import CatalogueError  # noqa: E402
from tests.catalogue.differences import AGREES, Book  # noqa: E402
from tests.catalogue.test_results import probe  # noqa: E402

jnp = jax.numpy

NAMES = """
bool int8 int16 int32 int uint8 uint16 uint32 uint bfloat16 float16 float32 float complex64 complex int* float* complex*
""".split()
SAID = {"int": int, "uint": "uint64", "float": float, "complex": complex}
NUMBERS: dict[str, Any] = {"int*": 2, "float*": 2.0, "complex*": 2j}


def an_array(name: str) -> Any:
    return NUMBERS[name] if name in NUMBERS else jnp.ones((), SAID.get(name, name))


@pytest.mark.parametrize("left", NAMES)
def test_promotion_is_that_of_jax(left: str) -> None:
    for right in NAMES:
        said = probe().exact_of_run(lambda _, a=left, b=right: jnp.add(an_array(a), an_array(b)))
        found = promoted((kind_of(left), left), (kind_of(right), right))
        assert said == (found or ""), f"{left} and {right}"


@pytest.mark.parametrize(
    ("left", "right"), list(itertools.product(["int8", "bfloat16", "int", "float*", STRONG], repeat=2))
)
def test_promotion_has_no_order(left: str, right: str) -> None:
    one, other = (kind_of(left) or "float", left), (kind_of(right) or "float", right)
    assert promoted(one, other) == promoted(other, one)


def test_with_what_is_unknown() -> None:
    assert promoted(("float", "float32"), ("int", None)) == "float32"
    assert promoted(("float", "bfloat16"), ("float", None)) == STRONG
    assert promoted(("float", "float*"), ("float", None)) is None
    assert promoted(("int", "int32"), (None, None)) is None
    assert promoted(("float", STRONG), ("float", "float*")) == STRONG


def test_only_what_differs_with_and_without_64_bits_differs() -> None:
    assert differ("bfloat16", "float")
    assert differ("int8", "int*")
    assert not differ("float32", "float")
    assert not differ("int64", "int")
    assert not differ(STRONG, "int8")
    assert not differ(None, "int8")


def test_names() -> None:
    assert [named(name) for name in ("float64", "int64", "int32", "bfloat16", "int", "single")] == [
        "float", "int", "int32", "bfloat16", "int", None,
    ]  # fmt: skip


def test_joins_keep_what_both_say() -> None:
    half, single = dtype_of("float", "float16"), dtype_of("float", "float32")
    assert joined(half, half) is half
    assert exact_of(joined(half, single)) == STRONG
    assert exact_of(joined(half, dtype_of("float", "float*"))) is None
    assert joined(half, dtype_of("int", "int8")) is None


@pytest.mark.parametrize("line", ["", "like", "all(a)", "strong sum(a)", "text8", "like(a) beside"])
def test_bad_lines_are_refused(line: str) -> None:
    with pytest.raises(CatalogueError, match="f: "):
        parse_exact("f", line)


def test_lines_say_what_they_were_read_from() -> None:
    for name, line in results().exact.items():
        assert str(parse_exact(name, line)) == line


WANTED = """
array array.astype array.sum arange asarray concatenate full full_like linspace maximum mean max minimum ones sin stack sum
where zeros zeros_like clip sqrt argmax cumsum divide
"""


def test_functions_give_what_the_catalogue_says(book: Book) -> None:
    wanted = {name if "." in name else f"jax.numpy.{name}" for name in WANTED.split()}
    found = {}
    for subject in probe().subjects(["jax.numpy", "array"]):
        if subject.name in wanted:
            line = probe().exact_line(subject)
            known = results().exact.get(subject.name, "")
            found[subject.name] = AGREES if line == known else f"gives {line}"
    assert set(found) == wanted
    book.check("exact", found)
