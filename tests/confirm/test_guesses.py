"""Made-up arguments look like what parameters say they are."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple, Optional

import jax
import numpy as np
import pytest

from jitlint.confirm.inputs.guesses import Guess, array, first_guess, parse_example
from jitlint.confirm.inputs.mutations import mutations
from jitlint.confirm.watch.observe import Raised
from tests.confirm import programs

assert programs


class Pair(NamedTuple):
    left: jax.Array
    count: int


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("f32[8, 3], key, n=4", "f32[8, 3] key n=4"),
        ("i32[], bool[2], 'relu', None", "i32[] bool[2] 'relu' None"),
        ("(f32[2], {'w': f32[3]})", "(f32[2], {'w': f32[3]})"),
        ("LIMIT, fn=abs", "7 fn=abs"),
    ],
)
def test_example_is_read(text: str, shown: str) -> None:
    module = ModuleType("m")
    module.LIMIT = 7  # type: ignore[attr-defined]
    given, named = parse_example(text, module)
    assert " ".join([*map(str, given), *(f"{name}={guess}" for name, guess in named.items())]) == shown


@pytest.mark.parametrize("text", ["f32[", "f32[-1]", "f32['a']"])
def test_bad_example_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="f32"):
        parse_example(text, ModuleType("m"))


@pytest.mark.parametrize(
    ("name", "annotation", "static", "shown"),
    [
        ("x", None, False, "f32[4]"),
        ("rng_key", None, False, "key"),
        ("num_steps", None, False, "4"),
        ("axis", None, True, "0"),
        ("loss_fn", None, False, "tanh"),
        ("x", int, False, "4"),
        ("x", Optional[float], False, "0.5"),
        ("x", tuple[int, jax.Array], False, "(4, f32[4])"),
        ("x", np.ndarray, False, "f32[4]"),
        ("state", Pair, False, "Pair(left=f32[4], count=4)"),
        ("x", "not a type", False, "f32[4]"),
    ],
)
def test_first_guess(name: str, annotation: Any, static: bool, shown: str) -> None:
    assert str(first_guess(name, annotation, static)) == shown


def test_values_are_made_anew_and_differ_inside() -> None:
    value = array(2, 3).value()
    assert value.shape == (2, 3)
    assert len(set(np.asarray(value).ravel().tolist())) == 6
    assert array(4, dtype="bool").value().dtype == bool


def _first(raised: Raised, **guesses: Guess) -> dict[str, str]:
    return {name: str(guess) for name, guess in next(mutations(guesses, raised)).items()}


@pytest.mark.parametrize(
    ("line", "kind", "message", "shown"),
    [
        ("h = x @ params['w']", "TypeError", "string indexing", {"params": "{'w': f32[4]}", "x": "f32[4]"}),
        ("a, b = x", "ValueError", "too many values to unpack (expected 2)", {"x": "(f32[4], f32[4])"}),
        ("y = params(x)", "TypeError", "'ArrayImpl' object is not callable", {"params": "tanh"}),
        (
            "y = x.mu",
            "AttributeError",
            "'ArrayImpl' object has no attribute 'mu'",
            {"x": "object(mu=f32[4])"},
        ),
    ],
)
def test_messages_suggest_the_next_try(
    tmp_path: Any, line: str, kind: str, message: str, shown: dict[str, str]
) -> None:
    path = tmp_path / "m.py"
    path.write_text(line + "\n")
    found = _first(Raised(kind, message, ((str(path), 1),)), x=array(4), params=array(4))
    assert {name: found[name] for name in shown} == shown


def test_parts_of_objects_are_guessed_anew(tmp_path: Any) -> None:
    path = tmp_path / "m.py"
    path.write_text("for i in range(state.count):\n")
    parts = (("left", array(4)), ("count", array(4)))
    message = "only integer scalar arrays can be converted to a scalar index"
    found = _first(
        Raised("TypeError", message, ((str(path), 1),)), state=Guess("instance", constant=Pair, parts=parts)
    )
    assert found == {"state": "Pair(left=f32[4], count=i32[4])"}
