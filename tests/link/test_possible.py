"""Functions that somebody may trace: those that take arrays by what they say, or by what they do with them."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.values import BOOL, INT, NONE, Arr, B, S, Tree, Union, Value
from jitlint.link.engine.events import confidence_of, hurt
from jitlint.link.program import Options
from tests.link.domains.telling import lines
from tests.link.sources import run

MAYBE = {
    "an annotation": ("def f(x: jax.Array):\n    return 1 if x > 0 else 2", True),
    "an annotation behind another parameter": (
        "def f(n: int, x: jax.Array):\n    return 1 if x > 0 else 2",
        True,
    ),
    "uses that only an array has": (
        "def f(x):\n    y = x.at[0].set(1) @ jnp.sin(x)\n    return 1 if x.sum() > 0 else y",
        True,
    ),
    "a parameter with a default": ("def f(x=1):\n    return 1 if x > 0 else 2", False),
    "an inner function": (
        "def g():\n    def f(x: jax.Array):\n        return 1 if x > 0 else 2\n    return f",
        False,
    ),
    "a method": ("class C:\n    def f(self, x: jax.Array):\n        return 1 if x > 0 else 2", True),
}


@pytest.mark.parametrize("name", MAYBE)
def test_who_may_be_traced(name: str) -> None:
    source, traced = MAYBE[name]
    assert run(source).events == []
    found = lines(run(source, Options(include_possible=True)))
    function = "C.f" if name == "a method" else "f"
    assert found == ([f"Truth form=ternary in {function}: possible possible"] if traced else [])


@pytest.mark.parametrize(
    ("value", "traced", "container"),
    [
        (Arr(S), True, True),
        (Arr(S, host=True), False, False),
        (Arr(0), False, False),
        (Arr(B), False, False),
        (Tree(S), True, True),
        (Tree(S, evidence="array"), True, True),
        (Tree(S, evidence="flag"), True, True),
        (Tree(S, evidence="map"), False, True),
        (Tree(S, evidence="seq"), False, True),
        (Tree(B, evidence="array"), False, False),
        (INT, False, False),
        (Union((INT, Arr(S))), True, True),
        (Union((INT, Arr(0))), False, False),
    ],
)
def test_what_hurts_in_staged_code(value: Value, traced: bool, container: bool) -> None:
    assert (hurt(value, S) is not None) is traced
    assert (hurt(value, S, container=True) is not None) is container


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        (Arr(S), None),
        (INT, None),
        (Union((Arr(S), Tree(S))), None),
        (Union((Arr(S), INT)), Confidence.LIKELY),
        (Union((Arr(S), Arr(0))), Confidence.LIKELY),
        (Union((Arr(S), NONE)), Confidence.POSSIBLE),
        (Union((Arr(S), BOOL)), Confidence.POSSIBLE),
    ],
)
def test_alternatives_lower_the_confidence(value: Value, confidence: Confidence | None) -> None:
    assert confidence_of(value) is confidence


def test_what_is_asked_for_its_class_is_an_object_of_it() -> None:
    """Nobody knows what `loaded` is; where `isinstance` says that it is a `Box`, its methods are those of one."""
    source = """
from elsewhere import *

class Box:
    def __init__(self, width):
        self.width = width

    def shrink(self, x):
        return x if x > 0 else -x

class Crate:
    def shrink(self, x):
        return x

@jit
def root(x):
    box = loaded
    if isinstance(box, Box):
        return box.shrink(x)
    return x
"""
    assert lines(run(source)) == ["Truth form=ternary in Box.shrink: possible"]


def test_overloads_are_no_bodies_of_a_function() -> None:
    source = """
import contextlib
import typing

@typing.overload
@contextlib.contextmanager
def stage(): ...

@contextlib.contextmanager
def stage(name=None):
    yield check(name)

def check(x):
    return 1 if x > 0 else 2

@jit
def root(x):
    with stage(x):
        return x
"""
    assert lines(run(source)) == ["Truth form=ternary in check: certain"]
