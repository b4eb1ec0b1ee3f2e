"""Keys that are consumed again on purpose, or where nobody sees it, next to mistakes that look like it."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import KeyReuse
from jitlint.link.program import Options
from tests.link.domains.telling import lines, told
from tests.link.sources import deeply, module

CASES: dict[str, tuple[str, list[str]]] = {
    "draws that are told apart by a case": (
        """
        def f(kind, other, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k) * (kind == 0)
            b = jax.random.uniform(k) * (kind == 1)
            return a + b
        def g(kind, other, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k) * (kind == 0)
            b = jax.random.uniform(k) * (other == 1)
            return a + b
        f(1, 2, 3), g(1, 2, 3)
        """,
        ["KeyReuse api=jax.random.uniform in g: likely eager"],
    ),
    "draws of which one is chosen": (
        """
        def f(c, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k)
            b = jax.random.uniform(k)
            return jnp.where(c, a, b)
        def g(c, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k)
            b = jax.random.uniform(k)
            return jnp.where(c, a, b) + b
        def inner(c, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k)
            b = jax.random.uniform(k)
            return jnp.where(c, a, b), lambda: b
        def both(c, seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k)
            return jnp.where(c, a + jax.random.uniform(k), 0.0)
        f(1, 3), g(1, 3), inner(1, 3), both(1, 3)
        """,
        [
            "KeyReuse api=jax.random.uniform in both: likely eager",
            "KeyReuse api=jax.random.uniform in g: likely eager",
            "KeyReuse api=jax.random.uniform in inner: likely eager",
        ],
    ),
    "an input that only shows a module its shape": (
        """
        def f(module, seed):
            k = jax.random.key(seed)
            x = jax.random.normal(k, (2,))
            a, b = jax.random.split(k)
            rngs = {"params": a, "dropout": b}
            return module.init(rngs, x)
        def g(module, seed):
            k = jax.random.key(seed)
            x = jax.random.normal(k, (2,))
            a, b = jax.random.split(k)
            return module.init({"params": a, "dropout": b}, x), x
        def solver(module, seed):
            k = jax.random.key(seed)
            x = jax.random.normal(k, (2,))
            a, b = jax.random.split(k)
            return module.init(jax.random.normal(a), x)
        f(module, 3), g(module, 3), solver(module, 3)
        """,
        [
            "KeyReuse api=jax.random.split in g: likely eager",
            "KeyReuse api=jax.random.split in solver: likely eager",
        ],
    ),
    "a run that warms up": (
        """
        def run(k):
            return jax.random.normal(k)
        def f(seed):
            k = jax.random.key(seed)
            out = run(k)
            out.block_until_ready()
            start = time.time()
            out = run(k)
            return out, time.time() - start
        def g(seed):
            k = jax.random.key(seed)
            out = run(k)
            both = [out]
            out = run(k)
            return both, out
        def mask(x, k):
            return x * jax.random.normal(k)
        def h(x, seed):
            k = jax.random.key(seed)
            x = mask(x, k)
            x = mask(x, k)
            return x
        f(3), g(3), h(1.0, 3)
        """,
        ["KeyReuse in g: likely eager", "KeyReuse in h: likely eager"],
    ),
    "an object that fills itself with keys of one constant": (
        """
        class Layer:
            def __init__(self):
                self.a = jax.random.normal(jax.random.key(0))
                self.b = jax.random.normal(jax.random.key(0))
        class Other:
            def __init__(self):
                k = jax.random.key(0)
                self.a = jax.random.normal(k)
                self.b = jax.random.normal(k)
        Layer(), Other()
        """,
        [
            "KeyReuse api=jax.random.normal how=seed in Layer.__init__: possible eager",
            "KeyReuse api=jax.random.normal in Other.__init__: likely eager",
        ],
    ),
    "a key that every turn makes again, for another thing or the next step": (
        """
        def each(names):
            for name in names:
                k = jax.random.key(0)
                k, own = jax.random.split(k)
                print(name, jax.random.normal(own))
        def train(params, batches, step):
            for batch in batches:
                k = jax.random.key(0)
                params = step(params, batch, jax.random.normal(k))
            return params
        each(names), train(1.0, batches, step)
        """,
        [
            "KeyReuse api=jax.random.normal how=loop in train: likely eager",
            "KeyReuse api=jax.random.split how=loop in each: possible eager",
            "LimitMet limit=turns times=1 in each: certain eager",
        ],
    ),
    "calls that leave their key to its default": (
        """
        def fit(x, key=jax.random.key(0)):
            return x + jax.random.normal(key)
        def f():
            return fit(1.0) + fit(2.0)
        def g(key):
            return fit(1.0, key) + fit(2.0, key)
        def h(x, key=jax.random.key(1)):
            return fit(1.0, key) + fit(2.0, key)
        f(), g(jax.random.key(2)), h(1.0)
        """,
        ["KeyReuse in f: possible eager", "KeyReuse in g: likely eager", "KeyReuse in h: likely eager"],
    ),
    "an evaluation before and after": (
        """
        def run_eval(params, key):
            return params + jax.random.normal(key)
        def step(params, key):
            return params + jax.random.normal(key)
        def f(params, seed):
            k = jax.random.key(seed)
            before = run_eval(params, k)
            return before, run_eval(params + 1, k)
        def g(params, seed):
            k = jax.random.key(seed)
            before = run_eval(params, k)
            return before, step(params + 1, k)
        f(1.0, 3), g(1.0, 3)
        """,
        ["KeyReuse in f: possible eager", "KeyReuse in g: likely eager"],
    ),
    "two points with the same noise": (
        """
        def loss(x, k):
            return x * jax.random.normal(k)
        def f(x, seed):
            k = jax.random.key(seed)
            up = loss(x + 1, k)
            down = loss(x - 1, k)
            return (up - down) / 2
        def g(x, seed):
            k = jax.random.key(seed)
            a = loss(x, k)
            b = loss(x, k)
            return a - b
        def h(x, seed):
            k = jax.random.key(seed)
            a = loss(x, k)
            b = loss(x, k)
            assert jnp.allclose(a, b)
            return a
        f(1.0, 3), g(1.0, 3), h(1.0, 3)
        """,
        ["KeyReuse in g: likely eager"],
    ),
    "a function and the same one compiled": (
        """
        def noise(k):
            return jax.random.normal(k)
        def other(k):
            return jax.random.normal(k)
        def f(seed):
            k = jax.random.key(seed)
            return noise(k), jax.jit(noise)(k)
        def g(seed):
            k = jax.random.key(seed)
            return noise(k), jax.jit(other)(k)
        f(3), g(3)
        """,
        ["KeyReuse in g: likely"],
    ),
    "numbers that are only printed": (
        """
        def f(seed):
            k = jax.random.key(seed)
            print(jax.random.normal(k))
            k, own = jax.random.split(k)
            return jax.random.normal(own)
        def g(seed):
            k = jax.random.key(seed)
            x = jax.random.normal(k)
            print(x)
            k, own = jax.random.split(k)
            return x, jax.random.normal(own)
        f(3), g(3)
        """,
        ["KeyReuse api=jax.random.split in g: likely eager"],
    ),
    "the two sides of one condition": (
        """
        def f(mask, seed):
            k = jax.random.key(seed)
            a = jnp.where(mask, jax.random.normal(k), 0.0)
            return a + jnp.where(mask, 0.0, jax.random.uniform(k))
        def g(mask, other, seed):
            k = jax.random.key(seed)
            a = jnp.where(mask, jax.random.normal(k), 0.0)
            return a + jnp.where(other, 0.0, jax.random.uniform(k))
        f(True, 3), g(True, False, 3)
        """,
        ["KeyReuse api=jax.random.uniform in g: likely eager"],
    ),
    "a module that is told to draw nothing": (
        """
        import flax.linen as nn
        class Net(nn.Module):
            @nn.compact
            def __call__(self, x, train=False):
                return nn.Dropout(0.5, deterministic=not train)(x)
        def f(params, x, seed):
            k = jax.random.key(seed)
            a = Net().apply(params, x, train=True, rngs={"dropout": k})
            return a, Net().apply(params, x, train=False, rngs={"dropout": k})
        def g(params, x, seed):
            net = Net()
            k = jax.random.key(seed)
            a = net.apply(params, x, train=True, rngs={"dropout": k})
            return a, net.apply(params, x, train=True, rngs={"dropout": k})
        f({}, jnp.ones(3), 3), g({}, jnp.ones(3), 3)
        """,
        ["KeyReuse api=flax.linen.Module.apply in g: likely eager"],
    ),
    "the same noise at several scales": (
        """
        def run(k, scale):
            return scale * jax.random.normal(k)
        def f(seed):
            k = jax.random.key(seed)
            for scale in (1.0, 3.0, 7.5):
                run(k, scale)
        def g(seed):
            k = jax.random.key(seed)
            for size in (1, 3, 7):
                run(k, size)
        def h(seed):
            k = jax.random.key(seed)
            return [run(k, scale) for scale in (1.0, 3.0)]
        def sizes(seed):
            k = jax.random.key(seed)
            return [run(k, size) for size in (1, 3)]
        f(3), g(3), h(3), sizes(3)
        """,
        [
            "KeyReuse how=loop in f: possible eager",
            "KeyReuse how=loop in g: likely eager",
            "KeyReuse how=loop in h: possible eager",
            "KeyReuse how=loop in sizes: likely eager",
        ],
    ),
    "turns that begin with the same parameters": (
        """
        def init_net(k, size=3):
            return jax.random.normal(k)
        def noise(k):
            return jax.random.normal(k)
        def f(seed, rates):
            k = jax.random.key(seed)
            for rate in rates:
                fit(init_net(k), rate)
        def g(seed, sizes):
            k = jax.random.key(seed)
            for size in sizes:
                net.append(init_net(k, size))
        def h(seed, batches):
            k = jax.random.key(seed)
            for batch in batches:
                fit(noise(k), batch)
        def turns(seed, n):
            k = jax.random.key(seed)
            for _ in range(n):
                net.append(init_net(k))
        f(3, rates), g(3, sizes), h(3, batches), turns(3, n)
        """,
        [
            "KeyReuse how=loop in f: possible eager",
            "KeyReuse how=loop in g: likely eager",
            "KeyReuse how=loop in h: likely eager",
            "KeyReuse how=loop in turns: likely eager",
        ],
    ),
    "a key that is named for staying the same": (
        """
        def loss(x, k):
            return x * jax.random.normal(k)
        def f(seed, xs):
            val_key = jax.random.key(seed)
            for x in xs:
                loss(x, val_key)
        def g(seed, xs):
            k = jax.random.key(seed)
            for val in xs:
                loss(val, k)
        f(3, xs), g(3, xs)
        """,
        ["KeyReuse how=loop in f: possible eager", "KeyReuse how=loop in g: likely eager"],
    ),
    "numbers of turns that begin again in each turn of the loop around": (
        """
        def f(seed, epochs, xs):
            k = jax.random.key(seed)
            for epoch in range(epochs):
                for i, x in enumerate(xs):
                    draw(jax.random.fold_in(k, i))
        def things(seed, nets, n):
            k = jax.random.key(seed)
            for net in nets:
                for i in range(n):
                    net(jax.random.fold_in(k, i))
        def ends(seed, epochs, xs):
            k = jax.random.key(seed)
            for epoch in range(epochs):
                for i in range(epoch, epoch + 3):
                    draw(jax.random.fold_in(k, i))
        f(3, 4, xs), things(3, nets, 4), ends(3, 4, xs)
        """,
        ["KeyReuse api=jax.random.fold_in how=epochs in f: likely eager"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)


TEST = """
    def test_pairs():
        one, other = jax.random.split(jax.random.key(0))
        x = jax.random.normal(one, (3,))
        y = jax.random.normal({key}, (3,))
        assert kernel(x, y) == kernel(y, x)
    """


def test_a_test_that_leaves_a_part_of_its_split_over_hardly_means_to() -> None:
    """Tests may compare what equal keys give; who made another key for the second draw did not want that."""
    findings = {}
    for key in ("one", "other"):
        source = module("test_it", TEST.format(key=key), is_test=True)
        findings[key] = lines(deeply([source], Options()))
    assert findings == {"one": ["KeyReuse api=jax.random.normal in test_pairs: likely eager"], "other": []}


LIBRARY = """
class Features:
    def __init__(self, first, second):
        self.first, self.second = first, second

    def both(self, x):
        a = self.first(x)
        return a, self.second(x)

    def given(self, key, x):
        a = self.first(x, key)
        return a, self.second(x, key)
"""

MOCKED = """
import jax
import jax.numpy as jnp
from library import Features

class Mock:
    def __init__(self, key):
        self.key = key

    def __call__(self, x, key=None):
        return x + jax.random.normal(self.key if key is None else key, x.shape)

def use_features():
    key, other = jax.random.split(jax.random.key(0))
    features = Features(Mock(key), Mock(key))
    return {call}

use_features()
"""


def test_what_a_mock_of_a_test_holds_is_no_slip_of_who_calls_it() -> None:
    found = {}
    for name, call in (
        ("held", "features.both(jnp.ones(2))"),
        ("given", "features.given(other, jnp.ones(2))"),
    ):
        for is_test in (True, False):
            mocked = module("mocked", MOCKED.format(call=call), is_test=is_test)
            source = [module("library", LIBRARY), mocked]
            events = deeply(source, Options()).events
            found[name, is_test] = {e.place.confidence for e in events if isinstance(e, KeyReuse)}
    assert found["held", True] == {Confidence.POSSIBLE}
    assert found["held", False] == found["given", True] == found["given", False] == {Confidence.LIKELY}
