"""How sure it is that a function is traced is one question; what it is given is another."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Truth
from tests.link.sources import run

HELPER = """
def helper(x):
    return 1 if x > 0 else 2
"""

ENTRIES = {
    "one of several": (
        "def other(x):\n    return 1\n"
        "@jit\ndef f(x, which=1):\n    g = helper if which else other\n    return g(x)\n"
        "f(1.0, len(open('a').read()))",
        Confidence.LIKELY,
    ),
    "one of several, twice": (
        "def mid(x):\n    h = helper if unknown() else other\n    return h(x)\n"
        "def other(x):\n    return 1\n"
        "@jit\ndef f(x):\n    g = mid if unknown() else other\n    return g(x)\n"
        "f(1.0)",
        Confidence.LIKELY,
    ),
    "a method of which only the name is known": (
        "class Model:\n    def advance(self, x):\n        return helper(x)\n"
        "@jit\ndef f(x):\n    return unknown().advance(x)\n"
        "f(1.0)",
        Confidence.LIKELY,
    ),
    "given to a library": (
        "import other_library\n@jit\ndef f(x):\n    return other_library.apply(helper, x)\nf(1.0)",
        Confidence.LIKELY,
    ),
    "asked about each leaf": (
        "@jit\ndef f(x):\n    return jax.tree.map(jnp.sin, x, is_leaf=helper)\nf(unknown())",
        Confidence.CERTAIN,
    ),
    "guessed first, then sure": (
        "class Model:\n    def advance(self, x):\n        return helper(x)\n"
        "@jit\ndef f(x):\n    return unknown().advance(x)\n"
        "@jit\ndef g(x):\n    return Model().advance(x)\n"
        "f(1.0)\ng(1.0)",
        Confidence.CERTAIN,
    ),
    "registered as a flattener": (
        "class State:\n    pass\n"
        "def flatten(state):\n    return (helper(state),), None\n"
        "def unflatten(_, children):\n    return State()\n"
        "jax.tree_util.register_pytree_node(State, flatten, unflatten)",
        Confidence.LIKELY,
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_how_sure_it_is_that_a_function_is_traced(name: str) -> None:
    source, confidence = ENTRIES[name]
    found = {function.qualname: function.confidence for function in run(HELPER + source).traced}
    assert found["helper"] is confidence


@pytest.mark.parametrize("name", ["a method of which only the name is known", "given to a library"])
def test_what_is_said_of_its_values_is_no_surer_for_that(name: str) -> None:
    analysis = run(HELPER + ENTRIES[name][0])
    assert {e.place.confidence for e in analysis.events if isinstance(e, Truth)} <= {Confidence.POSSIBLE}
    helper = next(function for function in analysis.traced if function.qualname == "helper")
    assert {p.status for p in helper.parameters} == {"unknown"}


def test_sure_calls_decide_what_a_parameter_is() -> None:
    """A guess may shake that something is static, no more."""
    source = """
class Model:
    def advance(self, x, n):
        return x

@jit
def f(x):
    return unknown().advance(x, x)

@jit
def g(x):
    return Model().advance(x, 2)

f(1.0)
g(1.0)
"""
    found = {function.qualname: function.parameters for function in run(source).traced}
    assert {p.name: p.status for p in found["Model.advance"][1:]} == {"x": "traced", "n": "unknown"}


def test_nothing_is_said_of_what_an_object_may_hold() -> None:
    source = """
@jit
def f(x):
    return helper({"a": {"b": {"c": x}}}, {"a": {"b": {"c": 1}}})

def helper(deep, shallow):
    return deep

f(1.0)
"""
    found = {function.qualname: function.parameters for function in run(source).traced}
    assert {p.name: p.status for p in found["helper"]} == {"deep": "unknown", "shallow": "unknown"}
