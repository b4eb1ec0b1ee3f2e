"""A remembered call stands for another one only when nothing that the function can read differs."""

from __future__ import annotations

import pytest

from jitlint.infer.events import Convert, Truth
from tests.link.sources import run

PATH = '["model"]["encoder"]["attention"]["block"]["steps"]'


def nested(leaf: str) -> str:
    """A dict of dicts of parameters with one number at the bottom."""
    return '{"model": {"encoder": {"attention": {"block": {"steps": ' + leaf + "}}}}}"


def long_tuple(leaf: str) -> str:
    """A tuple whose 18th item differs."""
    return "(" + "0, " * 17 + leaf + ")"


CONFIG = "class Config:\n    def __init__(self, last):\n" + "".join(
    f"        self.a{i} = {i}\n" for i in range(33)
)

CALLEES = {
    "nested dicts": ("", f"p{PATH}", nested),
    "a long tuple": ("", "p[17]", long_tuple),
    "many attributes": (CONFIG + "        self.last = last\n", "p.last", "Config({})".format),
    "many entries": ("", 'p["k39"]', lambda leaf: f"{{{_ENTRIES}**{{'k39': {leaf}}}}}"),
    "a default": ("", "p()", "(lambda n={}: n)".format),
    "what a partial application holds": ("def same(n): return n\n", "p()", "partial(same, {})".format),
}
_ENTRIES = "".join(f"'k{i}': {i}, " for i in range(39))


def program(made: str, read: str, first: str, second: str) -> str:
    """A traced function that calls one helper twice."""
    return f"""
{made}

def steps(p):
    total = 0
    for _ in range({read}):
        total = total + 1
    return total

@jit
def root(x):
    return steps({first}) + steps({second})

root(2)
"""


@pytest.mark.parametrize("name", CALLEES)
@pytest.mark.parametrize("order", ["3x", "x3"])
def test_calls_that_differ_deep_inside_are_kept_apart(name: str, order: str) -> None:
    made, read, wrap = CALLEES[name]
    first, second = [wrap(leaf) for leaf in order]
    found = run(program(made, read, first, second))
    assert [type(e) for e in found.events] == [Convert]
    assert {e.place.function for e in found.events} == {"steps"}


@pytest.mark.parametrize("name", CALLEES)
def test_static_calls_stay_silent(name: str) -> None:
    made, read, wrap = CALLEES[name]
    assert run(program(made, read, wrap("3"), wrap("4"))).events == []


def test_results_of_calls_that_differ_deep_inside_are_their_own() -> None:
    found = run(f"""
        def read(p):
            return p{PATH}

        @jit
        def root(x):
            traced = read({nested("x")})
            number = read({nested("3")})
            return x + 1 if number > 2 else traced

        root(2)
        """)
    assert found.events == []


def test_a_closure_whose_variable_was_bound_anew_is_another_call() -> None:
    found = run("""
        @jit
        def root(x):
            n = 3
            def steps():
                total = 0
                for _ in range(n):
                    total = total + 1
                return total
            first = steps()
            n = x
            return first + steps()

        root(2)
        """)
    assert [(type(e), e.place.function) for e in found.events] == [(Convert, "root.<locals>.steps")]


def test_a_closure_reached_through_another_one_is_another_call() -> None:
    found = run("""
        @jit
        def root(x):
            n = 3
            def number():
                return n
            def steps():
                return [i for i in range(number())]
            first = steps()
            n = x
            return first, steps()

        root(2)
        """)
    assert [(type(e), e.place.function) for e in found.events] == [(Convert, "root.<locals>.steps")]


def test_a_closure_that_is_handed_on_is_another_argument() -> None:
    found = run("""
        def apply(f):
            return 1 if f() else 2

        @jit
        def root(x):
            n = 3
            def number():
                return n
            first = apply(number)
            n = x
            return first + apply(number)

        root(2)
        """)
    assert [(type(e), e.place.function) for e in found.events] == [(Truth, "apply")]


def test_what_a_closed_over_container_holds_counts() -> None:
    found = run("""
        @jit
        def root(x):
            box = [3]
            def steps():
                return 1 if box[0] else 2
            first = steps()
            box[0] = x
            return first + steps()

        root(2)
        """)
    assert [(type(e), e.place.function) for e in found.events] == [(Truth, "root.<locals>.steps")]


@pytest.mark.parametrize("order", [1, -1])
def test_two_names_of_one_list_are_no_two_lists(order: int) -> None:
    calls = "\n            ".join(["first = fill(one, one, x)", "second = fill([1], [1], x)"][::order])
    found = run(f"""
        def fill(a, b, x):
            a[0] = x
            return 1 if b[0] else 2

        @jit
        def root(x):
            one = [1]
            {calls}
            return first + second

        root(2)
        """)
    assert [(type(e), e.place.function) for e in found.events] == [(Truth, "fill")]


@pytest.mark.parametrize("calls", [("k, k", "k1, k2"), ("k1, k2", "k, k")])
def test_one_key_given_twice_is_not_two_keys(calls: tuple[str, str]) -> None:
    found = run(f"""
        def draw(a, b):
            return jax.random.normal(a), jax.random.normal(b)

        def main(seed):
            k, k1, k2 = jax.random.split(jax.random.key(seed), 3)
            first = draw({calls[0]})
            return first, draw({calls[1]})

        main(3)
        """)
    assert [type(e).__name__ for e in found.events] == ["KeyReuse"]


ALIKE = """
class Bag:
    def __init__(self, size):
        self.size = size
        self.items = []
        self.named = {{}}

@jax.jit
def f(x):
    first = Bag(1)
    first.items.append(x)
    first.named["a"] = x
    second = Bag(1)
    {more}
    return float(x) if second.{held} else x

f(1.0)
"""


@pytest.mark.parametrize("held", ["items", "named"])
def test_objects_that_are_made_alike_do_not_share_what_they_hold(held: str) -> None:
    more = f"second.{held}{'.append(x)' if held == 'items' else '[0] = x'}"
    assert not [e for e in run(ALIKE.format(held=held, more="")).events if isinstance(e, Convert)]
    assert [e for e in run(ALIKE.format(held=held, more=more)).events if isinstance(e, Convert)]
