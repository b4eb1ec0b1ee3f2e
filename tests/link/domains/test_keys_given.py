"""Keys that are the same because of who makes them or hands them over, next to those that code uses twice."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import KeyReuse
from jitlint.link.program import Options
from tests.link.sources import deeply, module

ENGINE = '''
import jax

class Engine:
    """{said}."""
    def __init__(self):
        self.key = jax.random.key(0)
        self.simulated = jax.jit(self.simulate)
    def simulate(self, strike):
        return jax.random.normal(self.key, (3,)) - strike
    def price(self, strike):
        return self.simulated(strike)
'''
PRICES = """\
import jax
import jax.numpy as jnp
from engine import Engine

def prices():
    engine = Engine()
    first = engine.price(jnp.ones(()))
    return first, jax.vmap(lambda strike: engine.price(strike))(jnp.ones(4))

prices()
"""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Prices by simulation", Confidence.LIKELY),
        ("Prices under common random numbers", Confidence.POSSIBLE),
        ("All strikes see the same random numbers on purpose", Confidence.POSSIBLE),
    ],
)
def test_the_module_that_draws_says_what_its_numbers_are_for(said: str, expected: Confidence) -> None:
    source = [module("engine", ENGINE.format(said=said)), module("prices", PRICES)]
    events = deeply(source, Options()).events
    assert {e.place.confidence for e in events if isinstance(e, KeyReuse)} == {expected}


CLIENTS = """
import jax

def by_client(rng, clients):
    return [jax.random.normal(key) for _, key in clients]

def twice(rng, clients):
    first = jax.random.normal(rng)
    return first, jax.random.uniform(rng)
"""
GIVEN = """
import jax
from library import by_client, twice

def run():
    clients = [("a", jax.random.key(1)), ("b", jax.random.key(2)), ("c", jax.random.key(2))]
    return {name}(jax.random.key(1), clients)

run()
"""


@pytest.mark.parametrize(
    ("name", "is_test", "expected"),
    [
        ("by_client", True, {Confidence.POSSIBLE}),
        ("by_client", False, {Confidence.LIKELY}),
        ("twice", True, {Confidence.LIKELY}),
    ],
)
def test_two_keys_of_one_seed_that_a_test_hands_over(
    name: str, is_test: bool, expected: set[Confidence]
) -> None:
    source = [module("library", CLIENTS), module("given", GIVEN.format(name=name), is_test=is_test)]
    events = deeply(source, Options()).events
    reused = [e.place for e in events if isinstance(e, KeyReuse) and e.place.function == name]
    assert {place.confidence for place in reused} == expected
