"""The line language: what it means and what it refuses."""

from __future__ import annotations

import pytest

from jitlint.catalogue.schema import (
    KEYWORD_ONLY,
    POSITIONAL,
    POSITIONAL_ONLY,
    VAR_KEYWORD,
    VAR_POSITIONAL,
    ApiFunction,
    CatalogueError,
    Parameter,
    Result,
    parse_condition,
    parse_function,
    parse_numpy,
)


def names(bound: list[Parameter | None]) -> list[str | None]:
    return [None if parameter is None else parameter.name for parameter in bound]


def test_every_kind_of_parameter() -> None:
    function = parse_function("f", "a, /, b@, c?!I, *rest, d?!, **kw@ -> like(a)")
    assert function.parameters == (
        Parameter("a", POSITIONAL_ONLY),
        Parameter("b", POSITIONAL, accepts_list=True),
        Parameter("c", POSITIONAL, static="I", optional=True),
        Parameter("rest", VAR_POSITIONAL),
        Parameter("d", KEYWORD_ONLY, static="", optional=True),
        Parameter("kw", VAR_KEYWORD, accepts_list=True),
    )
    assert function.result == Result("like", ("a",))


def test_what_a_parameter_means() -> None:
    plain, listed, shape, dtype = parse_function("f", "a, b@, shape!T, dtype?! -> array").parameters
    assert (plain.must_be_static, plain.refuses_list, plain.exception) == (False, True, "")
    assert (listed.must_be_static, listed.refuses_list) == (False, False)
    assert (shape.must_be_static, shape.refuses_list, shape.exception) == (True, False, "TypeError")
    assert (dtype.must_be_static, dtype.exception) == (True, "")


@pytest.mark.parametrize(
    ("line", "positional", "keywords", "expected"),
    [
        ("a, b -> array", 2, [], ["a", "b"]),
        ("a, b -> array", 3, [], ["a", "b", None]),
        ("a, b -> array", 1, ["b", "c"], ["a", "b", None]),
        ("a, /, b -> array", 0, ["a"], [None]),
        ("a, *, b -> array", 2, ["b"], ["a", None, "b"]),
        ("a, *rest, b -> array", 3, ["b"], ["a", "rest", "rest", "b"]),
        ("*rest -> array", 0, ["rest"], [None]),
        ("a, **kw -> array", 1, ["x", "a"], ["a", "kw", "a"]),
        ("-> none", 1, [], [None]),
    ],
)
def test_binding_arguments(
    line: str, positional: int, keywords: list[str], expected: list[str | None]
) -> None:
    assert names(parse_function("f", line).bind(positional, keywords)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("int", Result("int")),
        ("same(a)", Result("same", ("a",))),
        ("tuple(array, int)", Result("tuple", ("array", "int"))),
        ("callable(float)", Result("callable", ("float",))),
        ("data(size)", Result("array", (), ("size",))),
        ("data()", Result("array", (), ())),
        ("list(int) data(size)", Result("list", ("int",), ("size",))),
        ("like(a) data(size, length)", Result("like", ("a",), ("size", "length"))),
    ],
)
def test_results(text: str, expected: Result) -> None:
    assert parse_function("f", f"a, size?!, length?! -> {text}").result == expected


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a, b", "no `->`"),
        ("a -> ", "cannot read the result"),
        ("a -> matrix", "unknown result"),
        ("a -> like()", "unknown result"),
        ("a -> list(matrix)", "unknown result"),
        ("a -> int(a)", "unknown result"),
        ("a, a -> array", "occurs twice"),
        ("a!Q -> array", "unknown exception letter 'Q'"),
        ("a=1 -> array", "cannot read the parameter 'a=1'"),
        ("a -> like(b)", "no parameter `b`"),
        ("a -> data(size)", "no parameter `size`"),
    ],
)
def test_a_bad_line_names_the_function(line: str, complaint: str) -> None:
    with pytest.raises(CatalogueError, match=r"^jax\.f: ") as caught:
        parse_function("jax.f", line)
    assert complaint in str(caught.value)


def where() -> ApiFunction:
    condition = parse_condition("where", {"missing": ["x", "y"], "result": "list(int) data(size)"})
    return parse_function("where", "condition, x?, y?, /, *, size?! -> like(x, y)", (condition,))


def test_a_condition_replaces_the_result() -> None:
    assert where().result_given({"condition"}) == Result("list", ("int",), ("size",))
    assert where().result_given({"condition", "x", "y"}) == Result("like", ("x", "y"))


def test_a_condition_on_a_tracer_is_cured() -> None:
    condition = parse_condition("repeat", {"traced": "n", "cure": ["total"], "exception": "C"})
    function = parse_function("repeat", "a, n, total? -> array", (condition,))
    assert function.traced_needs("n", {"a", "n"}) == condition
    assert function.traced_needs("n", {"a", "n", "total"}) is None
    assert function.traced_needs("a", {"a", "n"}) is None
    assert condition.exception == "jax.errors.ConcretizationTypeError"


@pytest.mark.parametrize(
    "table",
    [
        {"missing": ["x"]},
        {"missing": "x", "result": "int"},
        {"missing": ["x"], "result": "int", "when": 1},
        {"traced": "x"},
        {"traced": "x", "exception": "Q"},
        {"traced": "x", "exception": "C", "result": "int"},
    ],
)
def test_bad_conditions(table: dict[str, object]) -> None:
    with pytest.raises(CatalogueError, match=r"^f: "):
        parse_condition("f", table)


def test_a_condition_must_name_real_parameters() -> None:
    condition = parse_condition("f", {"missing": ["y"], "result": "int"})
    with pytest.raises(CatalogueError, match="no parameter `y`"):
        parse_function("f", "x -> array", (condition,))


def test_numpy_lines() -> None:
    raises = parse_numpy("numpy.sin", "raises A -> array")
    assert raises.behaviour == "raises"
    assert raises.exception == raises.in_list == raises.elsewhere
    works = parse_numpy("numpy.reshape", "works list:A other:I -> array")
    assert (works.exception, works.in_list.rpartition(".")[2], works.elsewhere.rpartition(".")[2]) == (
        "",
        "TracerArrayConversionError",
        "TracerIntegerConversionError",
    )


@pytest.mark.parametrize(
    "line",
    [
        "",
        "works",
        "raises -> array",
        "works A -> array",
        "works -> key",
        "works in:A -> array",
        "odd -> array",
    ],
)
def test_bad_numpy_lines(line: str) -> None:
    with pytest.raises(CatalogueError, match=r"^numpy\.f: "):
        parse_numpy("numpy.f", line)
