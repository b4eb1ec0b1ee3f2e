"""Questions that are asked in one place only, and that are easily answered wrongly: one program for each side."""

from __future__ import annotations

import pytest

from jitlint.catalogue.schema import VAR_POSITIONAL, Parameter
from jitlint.infer.grounds import GUESSED
from jitlint.infer.values import STATIC, STR, Arr, S, Tree, Tup, Union, alternatives
from jitlint.link.engine import events
from jitlint.link.models.arrays.results import described
from jitlint.link.program import Options
from jitlint.link.tables.ir_walk import nodes
from jitlint.link.values.pytrees import rebuild
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from tests.link.domains.telling import lines, told
from tests.link.sources import run, run_all

CASES: dict[str, tuple[str, list[str]]] = {
    "both parts of an `and` were taken": (
        """
        @partial(jit, static_argnames=("a", "b"))
        def f(x, a, b):
            if a:
                if b:
                    if a and b:
                        return x
                    return bool(x > 0)
            return -x
        f(1., unheard_of(), unheard_of())
        """,
        [],
    ),
    "neither part of an `or` was taken": (
        """
        @partial(jit, static_argnames=("a", "b"))
        def f(x, a, b):
            if not a:
                if not b:
                    if a or b:
                        return bool(x > 0)
            return -x
        f(1., unheard_of(), unheard_of())
        """,
        [],
    ),
    "the side of a test that the function around took": (
        """
        def outer(x, flag):
            if flag:
                @jit
                def inner(y):
                    if flag:
                        return y
                    return bool(y > 0)
                return inner(x)
            return x
        outer(1., unheard_of())
        """,
        [],
    ),
    "a buffer that a method of a base class gave away": (
        """
        class Base:
            def __init__(self):
                self.state = jnp.ones(3)
                self.step = jax.jit(lambda s: s + 1, donate_argnums=0)
            def advance(self):
                return self.step(self.state)
        class Derived(Base):
            def mean(self):
                return self.state.mean()
        def main():
            d = Derived()
            d.advance()
            return d.mean()
        main()
        """,
        [
            "DonatedRead name=self.state callee=Base.__init__.<locals>.<lambda> form=method in Derived.mean: certain"
        ],
    ),
    "a buffer that a method of a derived class gave away": (
        """
        class Base:
            def __init__(self):
                self.state = jnp.ones(3)
                self.step = jax.jit(lambda s: s + 1, donate_argnums=0)
            def mean(self):
                return self.state.mean()
        class Derived(Base):
            def advance(self):
                return self.step(self.state)
        def main():
            d = Derived()
            d.advance()
            return d.mean()
        main()
        """,
        [
            "DonatedRead name=self.state callee=Base.__init__.<locals>.<lambda> form=method in Base.mean: certain"
        ],
    ),
    "printing on the way to an exception": (
        """
        @jit
        def f(x, n=3):
            if x.shape[0] != n:
                print("wrong shape")
                raise ValueError(n)
            return x
        """,
        [],
    ),
    "printing on the way to a result": (
        """
        @jit
        def f(x):
            print("called")
            return x
        f(1.)
        """,
        ["Effect what=builtins.print in f: likely"],
    ),
    "a class registered by position": (
        """
        class Box:
            def __init__(self, w, name):
                self.w = w
                self.name = name
        jax.tree_util.register_dataclass(Box, ["w"], ["name"])
        @jit
        def f(box):
            if box.name:
                return box.w
            return bool(box.w > 0)
        @jit
        def g(box):
            return bool(box.w > 0)
        f(Box(jnp.ones(()), 3))
        g(Box(jnp.ones(()), 3))
        """,
        ["Truth form=bool in g: certain"],
    ),
    "a text for an argument of pmap": (
        """
        f = jax.pmap(lambda x: x)
        f("text")
        """,
        [
            "TransformMisuse transform=jax.pmap problem=non-array-argument parameter=x detail=str in <module>: certain eager"
        ],
    ),
    "a tracer that only stands second": (
        """
        import numpy as np
        @jit
        def f(x):
            return np.maximum(1.0, x)
        f(1.)
        """,
        ["Convert to=numpy what=numpy.maximum in f: certain"],
    ),
    "one method of a module draws twice with a key, two methods once each": (
        """
        import flax.linen as nn
        class Model(nn.Module):
            def encode(self, x):
                return x
            def decode(self, x):
                return x
        def twice(x):
            key, model = jax.random.key(0), Model()
            a = model.apply({}, x, rngs={"dropout": key}, method=Model.encode)
            return a, model.apply({}, x, rngs={"dropout": key}, method=Model.encode)
        def once(x):
            key, model = jax.random.key(0), Model()
            a = model.apply({}, x, rngs={"dropout": key}, method=Model.encode)
            return a, model.apply({}, x, rngs={"dropout": key}, method=Model.decode)
        twice(jnp.ones(2)), once(jnp.ones(2))
        """,
        ["KeyReuse api=flax.linen.Module.apply in twice: likely eager"],
    ),
    "a table that is filled while it is empty, and one that is replaced": (
        """
        table, other, ready = None, None, unheard_of()
        def fill(n):
            global table
            if not table:
                table = n
        def replace(n):
            global other
            if ready:
                other = n
        @jit
        def f(x):
            return x * table
        @jit
        def g(x):
            return x * other
        fill(2.0), f(1.), fill(3.0), f(1.)
        replace(2.0), g(1.), replace(3.0), g(1.)
        """,
        ["Capture writer=replace in g: certain"],
    ),
    "whoever waits for the last of many arguments waits": (
        """
        import time
        step = jit(lambda a: a + 1)
        def wait(a, b, c, d, e, g, h):
            h.block_until_ready()
        def measure(x):
            start = time.time()
            y = step(x)
            wait(x, x, x, x, x, x, y)
            return time.time() - start
        measure(1.)
        """,
        [],
    ),
    "a size that only stands second": (
        """
        import numpy as np
        @jit
        def f(x, n):
            return np.reshape(x, n)
        f(jnp.ones(4), 4)
        """,
        ["ApiMisuse api=numpy.reshape exception=jax.errors.TracerIntegerConversionError in f: certain"],
    ),
    "nobody knows whether an object of a library is true": (
        """
        import numpy as np
        rng = np.random.default_rng(0)
        @jit
        def f(x):
            if rng:
                return x
            return bool(x > 0)
        f(1.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "the last of many iterables": (
        """
        import itertools
        @jit
        def f(x):
            return [bool(part) for part in itertools.chain.from_iterable([[1], [2], [3], [4], [x]])]
        f(1.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "what lies beside a static field is no leaf": (
        """
        import dataclasses
        @partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["name"])
        @dataclasses.dataclass
        class Box:
            w: object
            name: str
        def positive(a, b):
            return bool(b > 0)
        @jit
        def f(x):
            return jax.tree.map(positive, Box(x, "a"), Box(x, "a"))
        f(1.)
        """,
        ["Truth form=bool in positive: certain"],
    ),
    "what is cached on an instance that the trace made": (
        """
        class Lazy:
            def __init__(self, x):
                self.x = x
            @functools.cached_property
            def double(self):
                return self.x * 2
        @jit
        def f(x):
            return Lazy(x).double
        f(1.)
        """,
        [],
    ),
    "a wrapper that only hands on": (
        """
        def same(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @jit
        @same
        def f(x):
            return bool(x > 0)
        f(1.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "a wrapper that only hands on is no other caller": (
        """
        def same(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            return inner
        @same
        def measure(x):
            step = jit(lambda y: y + 1)
            return step(x)
        def main():
            measure(1.)
        """,
        [],
    ),
    "a wrapper of something else by then": (
        """
        def other(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs)
            f = unheard_of(f)
            return inner
        @jit
        @other
        def f(x):
            return bool(x > 0)
        f(1.)
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert told(source) == expected


def test_what_no_transform_made_a_tracer_may_be_an_array_of_numpy() -> None:
    assert Tree(0).leaf().kind is GUESSED
    assert Tree(0).leaf().traced is GUESSED
    assert Tree(1).leaf().kind is not GUESSED


def test_a_pattern_that_no_function_matches_is_told_apart_from_one_that_some_match() -> None:
    found = run("def f(x): return x\ndef g(x): return x", Options(traced=("case.f", "case.nothing")))
    assert found.unmatched == ["case.nothing"]


def test_as_many_arrays_as_are_given_decide_the_rank() -> None:
    many = Parameter("xi", VAR_POSITIONAL)
    assert described([(many, STATIC), (many, STATIC), (many, STATIC)], None)["xi"].length == 3
    assert described([(many, STATIC)], None)["xi"].length is None


def test_a_module_of_the_project_is_refused_as_an_argument() -> None:
    found = run_all(
        settings="size = 1",
        main="""
        import settings
        f = jit(lambda x: 1)
        f(settings)
        """,
    )
    assert lines(found) == [
        "TransformMisuse problem=non-array-argument parameter=x detail=function in <module>: certain eager"
    ]


def test_a_function_reads_what_each_part_of_a_try_reads() -> None:
    tree = lower(
        "def f():\n    try:\n        a\n    except b:\n        c\n    else:\n        d\n    finally:\n        e\n"
    )
    assert isinstance(tree, ir.Module)
    (function,) = tree.functions
    assert {n.id for n in nodes(ir.decode_body(function.body)) if type(n) is ir.Name} == set("abcde")


def test_a_message_shows_a_tracer_only_if_it_surely_is_one() -> None:
    """What is perhaps traced may as well be a setting, and its message is meant for the time of tracing."""
    guessed = Arr(S, None, 0, "", 1, GUESSED)
    assert events.text_of([STR, guessed]) is STR
    assert events.text_of([STR, Arr(S, None, 0, "", 1)]) is events.TRACED_TEXT


def test_tracers_are_known_where_jax_itself_is_the_project() -> None:
    """Its class of tracers is one of the project there; what is none of them is handed back as it is."""
    found = run_all(
        jax___src__core="""
            class Tracer:
                def concrete(self):
                    return None

            def concrete(x):
                return x.concrete() if isinstance(x, Tracer) else x
        """,
        use="""
            from jax._src.core import concrete

            @jit
            def check(i):
                value = concrete(i)
                if value is not None and value > 3:
                    raise ValueError(i)
                return i

            check(2)
        """,
    )
    assert [event for event in found.events if type(event).__name__ == "Truth"] == []


def test_a_mapped_tree_that_may_be_one_of_two_is_no_leaf() -> None:
    leaf = Arr(S)
    either = Union((Tree(S), Tup((Arr(S), Arr(S)))))
    assert {type(alternative) for alternative in alternatives(rebuild(either, leaf))} == {Tree, Tup}
