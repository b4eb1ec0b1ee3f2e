"""Functions whose caller is not in the program, or not understood: a library, or code that has an object of unknown class."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from tests.link.sources import run

RULES = """
@jax.custom_vjp
def f(x):
    return x

def fwd(x):
    return f(x), x

def bwd(kept, g):
    return (asked(g),)

def asked(g):
    return g

{given}
"""

GIVEN = {
    "a function": "f.defvjp(fwd, bwd)",
    "a partial application": "f.defvjp(fwd, partial(bwd))",
    "an object": """
class Back:
    def __call__(self, kept, g):
        return bwd(kept, g)

f.defvjp(fwd, Back())
""",
    "a bound method": """
class Back:
    def run(self, kept, g):
        return bwd(kept, g)

f.defvjp(fwd, Back().run)
""",
    "a wrapper, one among many": """
def wrapped(function):
    def wrapper(*args):
        return function(*args)
    return wrapper

jax.jit(wrapped(lambda x: x))(1.0)
f.defvjp(fwd, wrapped(bwd))
""",
}


@pytest.mark.parametrize("given", GIVEN)
def test_a_derivative_rule_that_nobody_asks_for_is_probably_traced(given: str) -> None:
    found = {function.qualname: function for function in run(RULES.format(given=GIVEN[given])).traced}
    assert found["asked"].confidence is Confidence.LIKELY


def test_what_such_a_rule_does_is_only_possible() -> None:
    source = RULES.format(given="f.defvjp(fwd, bwd)").replace("    return g", "    return g if g > 0 else 0")
    assert {event.place.confidence for event in run(source).events} == {Confidence.POSSIBLE}


def test_a_rule_of_what_is_differentiated_is_as_sure_as_that() -> None:
    source = RULES.format(given="f.defvjp(fwd, bwd)\njax.jit(jax.grad(f))(1.0)")
    found = {function.qualname: function.confidence for function in run(source).traced}
    assert found["bwd"] is Confidence.CERTAIN


def test_a_function_that_is_no_rule_is_not_traced() -> None:
    assert run(RULES.format(given="")).traced == []


FLATTENED = """
class Box:
    def __init__(self, x):
        self.x = x

def flatten(box):
    return (box.x,), None

def unflatten(cls, aux, children):
    return cls(*children)

jax.tree_util.register_pytree_node(Box, flatten, partial(unflatten, Box))
"""


def test_a_registered_function_may_bring_arguments_along() -> None:
    assert {"flatten", "unflatten"} <= {function.qualname for function in run(FLATTENED).traced}


MADE = """
class Box:
    def __init__(self, x):
        raise TypeError("use `Box.of`")

    @classmethod
    def of(cls, x):
        self = {made}
        self.x = x
        return self

    def half(self):
        return self.x / 2

@jax.jit
def f(x):
    return Box.of(x).half()

f(1.0)
"""


@pytest.mark.parametrize(
    "made", ["object.__new__(cls)", "super().__new__(cls)", "cls.__new__(cls)", "Box.__new__(Box)"]
)
def test_an_object_that_no_constructor_made_has_its_methods(made: str) -> None:
    assert "Box.half" in {function.qualname for function in run(MADE.format(made=made)).traced}


FACTORY = """
class Counter:
    def __call__(self):
        return Part()

class Part:
    def half(self, x):
        return x / 2

counter = Counter()

@dataclass
class Box:
    part: object = field(default_factory=counter)

@jax.jit
def f(x):
    return Box().part.half(x)

f(1.0)
"""


def test_a_factory_of_a_field_may_be_an_object() -> None:
    found = {
        function.qualname for function in run("from dataclasses import dataclass, field\n" + FACTORY).traced
    }
    assert {"Counter.__call__", "Part.half"} <= found
