"""Keys: what consumes them, and what counts as the same one."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "two draws": (
        """
        def f(seed):
            k = jax.random.key(seed)
            a = jax.random.normal(k)
            return a, jax.random.uniform(k)
        f(3)
        """,
        ["KeyReuse api=jax.random.uniform in f: likely eager"],
    ),
    "a draw after the split": (
        """
        def f(seed):
            k = jax.random.key(seed)
            a, b = jax.random.split(k)
            return jax.random.normal(k)
        f(3)
        """,
        ["KeyReuse api=jax.random.normal how=split in f: likely eager"],
    ),
    "draws from both halves": (
        """
        def f(seed):
            k = jax.random.key(seed)
            k, b = jax.random.split(k)
            return jax.random.normal(k), jax.random.normal(b)
        f(3)
        """,
        [],
    ),
    "one seed for each of a few things, and a state that hands its key on": (
        """
        def start(k):
            k, own = jax.random.split(k)
            return {"x": jax.random.normal(own), "key": k}
        def advance(state):
            k, own = jax.random.split(state["key"])
            return {"x": jax.random.normal(own), "key": k}
        for name in ("a", "b"):
            state = start(jax.random.key(0))
            for _ in range(3):
                state = advance(state)
        """,
        ["LimitMet limit=turns times=2 in <module>: certain eager"],
    ),
    "the same numbers for each of a few things that are compared": (
        """
        def run(name, k):
            return jax.random.normal(k)
        k = jax.random.key(seed())
        for name in ("a", "b"):
            run(name, k)
        """,
        ["KeyReuse how=loop in <module>: possible eager"],
    ),
    "one key for each of a few layers": (
        """
        def layer(k, size):
            return jax.random.normal(k, (size,))
        k = jax.random.key(seed())
        for size in (64, 64, 10):
            w = layer(k, size)
        sizes = [(2, 3), (3, 4)]
        for shape in sizes:
            w = layer(k, shape)
        """,
        [
            "KeyReuse how=loop in <module>: likely eager",
            "KeyReuse in <module>: likely eager",
        ],
    ),
    "one key for each of a few shapes": (
        """
        k = jax.random.key(seed())
        for shape in ((2, 3), (3, 4)):
            w = jax.random.normal(k, shape)
        """,
        ["KeyReuse api=jax.random.normal how=loop in <module>: likely eager"],
    ),
    "a function and its derivative": (
        """
        def loss(x, k):
            return x * jax.random.normal(k)
        def other(x, k):
            return x * jax.random.normal(k)
        def f(x, seed):
            k = jax.random.key(seed)
            return loss(x, k), jax.grad(loss)(x, k)
        def g(x, seed):
            k = jax.random.key(seed)
            return loss(x, k), jax.grad(other)(x, k)
        f(1.0, 3), g(1.0, 3)
        """,
        ["KeyReuse in g: likely"],
    ),
    "a split whose keys are thrown away": (
        """
        def ready(k, n):
            k, *ks = jax.random.split(k, n)
            return jax.jit(lambda key: jax.random.normal(key)), jnp.stack(ks)
        def f(seed, n):
            k = jax.random.key(seed)
            draw, ks = ready(k, n)
            k, *ks = jax.random.split(k, n)
            return draw(ks[0])
        f(3, 4)
        """,
        [],
    ),
    "a split whose keys are used before they are thrown away": (
        """
        def ready(k, n):
            k, *ks = jax.random.split(k, n)
            return jax.jit(lambda key: jax.random.normal(key)), jnp.stack(ks)
        def f(seed, n):
            k = jax.random.key(seed)
            draw, ks = ready(k, n)
            first = draw(ks[0])
            k, *ks = jax.random.split(k, n)
            return first, draw(ks[0])
        f(3, 4)
        """,
        ["KeyReuse api=jax.random.split in f: likely eager"],
    ),
    "a split whose keys were drawn from where it was made": (
        """
        def ready(k, n):
            k, *ks = jax.random.split(k, n)
            return jax.random.normal(k), jnp.stack(ks)
        def f(seed, n):
            k = jax.random.key(seed)
            first, ks = ready(k, n)
            k, *ks = jax.random.split(k, n)
            return first, jax.random.normal(k), ks
        f(3, 4)
        """,
        ["KeyReuse api=jax.random.split in f: likely eager"],
    ),
    "numbers that only stand for others": (
        """
        def fake_batch(seed):
            k = jax.random.key(seed)
            inputs = jax.random.normal(k)
            return inputs, jax.random.normal(k)
        def f(seed):
            k = jax.random.key(seed)
            inputs = jax.random.normal(k)
            dummy_target = jax.random.normal(k)
            return inputs, dummy_target
        fake_batch(3)
        f(3)
        """,
        [],
    ),
    "a compiled function that runs once for its time": (
        """
        @jit
        def draw(k):
            return jax.random.normal(k), k
        def f(seed):
            k = jax.random.key(seed)
            _, _ = draw(k)
            return draw(k)
        f(3)
        """,
        [],
    ),
    "a compiled function whose second result is kept": (
        """
        @jit
        def draw(k):
            return jax.random.normal(k), k
        def f(seed):
            k = jax.random.key(seed)
            _, first = draw(k)
            return first, draw(k)
        f(3)
        """,
        ["KeyReuse in f: likely"],
    ),
    "an evaluation that draws the same in every turn": (
        """
        def evaluate(k):
            return jax.random.normal(k)
        def f(seed, n):
            k = jax.random.key(seed)
            return [evaluate(k) for _ in range(n)]
        f(3, 4)
        """,
        ["KeyReuse how=loop in f: possible eager"],
    ),
    "a draw that is the same in every turn": (
        """
        def perturb(k):
            return jax.random.normal(k)
        def f(seed, n):
            k = jax.random.key(seed)
            return [perturb(k) for _ in range(n)]
        f(3, 4)
        """,
        ["KeyReuse how=loop in f: likely eager"],
    ),
    "a function and its inverse": (
        """
        def rotate(x, k):
            return x * jax.random.rademacher(k, x.shape)
        def inverse_rotate(x, k):
            return x * jax.random.rademacher(k, x.shape)
        def rotate_back(x, k):
            return x * jax.random.rademacher(k, x.shape)
        def f(x, seed):
            k = jax.random.key(seed)
            return inverse_rotate(jnp.round(rotate(x, k)), k)
        def g(x, seed):
            k = jax.random.key(seed)
            return rotate_back(jnp.round(rotate(x, k)), k)
        f(jnp.ones(3), 3)
        g(jnp.ones(3), 3)
        """,
        ["KeyReuse in g: likely eager"],
    ),
    "a key that a function was only compiled or measured with": (
        """
        def init(k):
            a, b = jax.random.split(k)
            return jax.random.normal(a), jax.random.normal(b)
        def shape(make):
            return jax.jit(make).eval_shape()
        def f(seed):
            k = jax.random.key(seed)
            shapes = shape(partial(init, k))
            return shapes, jax.jit(partial(init, k))()
        def g(seed):
            k = jax.random.key(seed)
            fast = jax.jit(init).lower(k).compile()
            return fast(k)
        def h(seed):
            k = jax.random.key(seed)
            first = jax.jit(init)(k)
            return first, jax.jit(init)(k)
        f(3)
        g(3)
        h(3)
        """,
        ["KeyReuse in h: likely"],
    ),
    "one item twice": (
        """
        def f(seed):
            k = jax.random.split(jax.random.key(seed), 3)
            return jax.random.normal(k[0]), jax.random.normal(k[1]), jax.random.normal(k[0])
        f(3)
        """,
        ["KeyReuse api=jax.random.normal in f: likely eager"],
    ),
    "an item, then all of them": (
        """
        def f(seed):
            k = jax.random.split(jax.random.key(seed), 3)
            a = jax.random.normal(k[0])
            return a, jax.vmap(jax.random.normal)(k)
        f(3)
        """,
        ["KeyReuse api=jax.random.normal in f: likely"],
    ),
    "the same number folded in twice": (
        """
        def f(seed):
            k = jax.random.key(seed)
            a = jax.random.normal(jax.random.fold_in(k, 1))
            b = jax.random.normal(jax.random.fold_in(k, 2))
            c = jax.random.normal(jax.random.fold_in(k, 1))
            return a, b, c
        f(3)
        """,
        ["KeyReuse api=jax.random.normal in f: likely eager"],
    ),
    "a comprehension": (
        """
        def f(seed):
            k = jax.random.key(seed)
            return [jax.random.normal(k) for _ in range(3)]
        f(3)
        """,
        ["KeyReuse api=jax.random.normal how=loop in f: likely eager"],
    ),
    "a loop": (
        """
        def f(seed):
            k = jax.random.key(seed)
            out = []
            for i in range(3):
                out.append(jax.random.normal(k))
            return out
        f(3)
        """,
        ["KeyReuse api=jax.random.normal how=loop in f: likely eager"],
    ),
    "a draw on either branch": (
        """
        def f(seed, flag):
            k = jax.random.key(seed)
            if flag:
                a = jax.random.normal(k)
            else:
                a = jax.random.uniform(k)
            return a
        f(3, unknown)
        """,
        [],
    ),
    "a draw on one branch, and one after it": (
        """
        def f(seed, flag):
            k = jax.random.key(seed)
            a = 0
            if flag:
                a = jax.random.normal(k)
            return a + jax.random.normal(k)
        f(3, unknown)
        """,
        ["KeyReuse api=jax.random.normal in f: likely eager"],
    ),
    "a function that draws, called twice": (
        """
        def draw(k):
            return jax.random.normal(k)
        def f(seed):
            k = jax.random.key(seed)
            return draw(k) + draw(k)
        f(3)
        """,
        ["KeyReuse in f: likely eager"],
    ),
    "a constant key under jit": (
        """
        @jit
        def f(x):
            return x + jax.random.normal(jax.random.key(0))
        f(2.)
        """,
        ["ConstantKey in f: certain"],
    ),
    "two arrays permuted alike": (
        """
        def f(seed, x, y):
            k = jax.random.key(seed)
            return jax.random.permutation(k, x), jax.random.permutation(k, y)
        f(3, jnp.ones(3), jnp.ones(3))
        """,
        [],
    ),
    "a permutation and a draw": (
        """
        def f(seed, x):
            k = jax.random.key(seed)
            return jax.random.permutation(k, x), jax.random.normal(k)
        f(3, jnp.ones(3))
        """,
        ["KeyReuse api=jax.random.normal in f: likely eager"],
    ),
    "one key for every row": (
        """
        def f(seed):
            k = jax.random.key(seed)
            return jax.vmap(lambda x: x + jax.random.normal(k))(jnp.ones(3))
        f(3)
        """,
        ["KeyReuse api=jax.random.normal how=many in f.<locals>.<lambda>: likely"],
    ),
    "the same key in every turn of a scan": (
        """
        def body(carry, x):
            k, y = carry
            return (k, y + jax.random.normal(k)), x
        def f(seed):
            return lax.scan(body, (jax.random.key(seed), 0.), jnp.ones(3))
        f(3)
        """,
        ["KeyReuse api=jax.random.normal how=many in body: likely"],
    ),
    "a carried key that is split in each turn": (
        """
        def body(carry, x):
            k, y = carry
            k, now = jax.random.split(k)
            return (k, y + jax.random.normal(now)), x
        def f(seed):
            return lax.scan(body, (jax.random.key(seed), 0.), jnp.ones(3))
        f(3)
        """,
        [],
    ),
    "two keys made of one number": (
        """
        def f():
            a = jax.random.normal(jax.random.key(0))
            b = jax.random.normal(jax.random.key(0))
            return a, b
        f()
        """,
        ["KeyReuse api=jax.random.normal how=seed in f: likely eager"],
    ),
    "an attribute that one method replaces and another one does not": (
        """
        class Agent:
            def __init__(self, seed):
                self.k = jax.random.key(seed)
            def good(self):
                self.k, now = jax.random.split(self.k)
                return jax.random.normal(now)
            def bad(self):
                return jax.random.normal(self.k)
        a = Agent(3)
        a.good(); a.good(); a.bad(); a.bad()
        """,
        ["KeyReuse in <module>: likely eager"],
    ),
    "two splits": (
        """
        def f(seed):
            k = jax.random.key(seed)
            a, b = jax.random.split(k)
            c, d = jax.random.split(k)
            return a, c
        f(3)
        """,
        ["KeyReuse api=jax.random.split how=split in f: likely eager"],
    ),
    "three of a split": (
        """
        def f(seed):
            a, b, c = jax.random.split(jax.random.key(seed), 3)
            return jax.random.normal(a), jax.random.normal(b), jax.random.normal(c)
        f(3)
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
