"""Made-up arrays get the shapes that documentation tells, and other ones where a message says that they do not fit."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="proof needs JAX")

from jitlint.confirm.inputs.guesses import Guess, array, python
from jitlint.confirm.inputs.kinds import others, variations
from jitlint.confirm.inputs.shapes import fitted, said_of
from jitlint.confirm.inputs.unknown import NotMade, Unknown, suggestions

DOCUMENTATION = """Mixes.

Args:
    x: [batch_size, length, 3]
    state: an array of shape [2 * dim]
    names: a list[str] of names
    much: [1000000]
"""


@pytest.mark.parametrize(
    ("name", "shape"), [("x", (4, 4, 3)), ("state", (4,)), ("names", (4,)), ("much", (4,)), ("y", None)]
)
def test_documentation_tells_shapes(name: str, shape: tuple[int, ...] | None) -> None:
    assert said_of(name, DOCUMENTATION) == shape


def test_what_a_message_names_is_changed_first() -> None:
    guesses = {"a": array(4, 8), "b": array(4, 4), "c": array(3)}
    text = "dot_general requires contracting dimensions to have the same shape, got (4, 8) and (4, 4)"
    found = [{n: g.shape for n, g in each.items()} for each in fitted(guesses, text, [])]
    assert {"a": (4, 8), "b": (8, 4), "c": (3,)} in found
    assert all(each["c"] == (3,) for each in found)


def test_nothing_is_changed_for_other_reasons() -> None:
    assert list(fitted({"a": array(4)}, "(4, 4) is no name, and (3,) neither", ["a"])) == []


@pytest.mark.parametrize(
    ("use", "shown"),
    [
        (lambda it: it.rows, "object(rows=?)"),
        (lambda it: it["w"], "{'w': ?}"),
        (lambda it: it(3), "callable"),
        (lambda it: it == "relu", "'relu'"),
        (lambda it: range(it), "4"),
        (lambda it: bool(it), "False"),
        (lambda it: (1, 2) in it, "()"),
        (lambda it: it * 2, "f32[4]"),
    ],
)
def test_the_first_use_says_what_something_is(use: object, shown: str) -> None:
    with pytest.raises(NotMade) as caught:
        use(Unknown(("self", "it")))  # type: ignore[operator]
    guesses = {"self": Guess("record", parts=(("it", Guess("unknown", constant=("self", "it"))),))}
    first = next(suggestions(guesses, caught.value))
    assert str(first["self"]) == f"object(it={shown})"


def test_other_kinds_are_put_inside_of_objects_and_not_for_what_is_said() -> None:
    guesses = {"x": array(4), "self": Guess("record", parts=(("n", python(4)),))}
    shown = {(str(each["x"]), str(each["self"])) for each in others(guesses, lambda name: name == "x")}
    assert {x for x, _ in shown} == {"f32[4]"}
    assert ("f32[4]", "object(n='a')") in shown
    assert ("f32[4]", "object(n=3)") not in shown
    assert any(str(each["self"]) == "object(n=0)" for each in variations(guesses))
