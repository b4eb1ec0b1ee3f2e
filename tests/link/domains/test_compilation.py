"""Functions compiled again and again: made anew, or called with other arguments."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "made in a loop": (
        """
        def main(x):
            for i in range(10):
                x = jax.jit(lambda v: v + 1)(x)
            return x
        main(2.)
        """,
        ["JitCreation what=lambda in main: certain eager"],
    ),
    "made per call, called in a loop": (
        """
        def apply(x):
            return jax.jit(lambda v: v + 1)(x)
        def main(x):
            for i in range(10):
                x = apply(x)
            return x
        main(2.)
        """,
        ["JitCreation repeated=call what=lambda in apply: certain eager"],
    ),
    "made per call, called at two places": (
        """
        def apply(x):
            return jax.jit(lambda v: v + 1)(x)
        def main(x):
            apply(x)
            return apply(x)
        main(2.)
        """,
        ["JitCreation repeated=call what=lambda in apply: likely eager"],
    ),
    "made per call of the same function": (
        """
        def plain(x):
            return x + 1
        def apply(x):
            return jax.jit(plain)(x)
        def main(x):
            for i in range(10):
                x = apply(x)
            return x
        main(2.)
        """,
        ["JitCreation repeated=call retraces=False in apply: possible eager"],
    ),
    "made per call, called on two sides of a choice": (
        """
        def apply(x):
            return jax.jit(lambda v: v + 1)(x)
        def main(x, first):
            if first:
                return apply(x)
            return apply(x * 2)
        main(2., True)
        """,
        ["JitCreation repeated=call what=lambda in apply: possible eager"],
    ),
    "made per call of what calls a compiled function in a loop": (
        """
        @jax.jit
        def step(x):
            return x * 2
        def train(n):
            x = jax.jit(lambda: jnp.ones(n))()
            for i in range(100):
                x = step(x)
            return x
        for n in range(2, 4):
            train(n)
        """,
        ["JitCreation repeated=call what=lambda in train: possible eager"],
    ),
    "made per call of what is called for each variant": (
        """
        def train(n):
            return jax.jit(lambda: jnp.ones(n))()
        for n in (2, 3):
            train(n)
        """,
        [],
    ),
    "made per call, called once": (
        """
        def apply(x):
            return jax.jit(lambda v: v + 1)(x)
        apply(2.)
        """,
        [],
    ),
    "a static argument that counts": (
        """
        @partial(jit, static_argnums=1)
        def f(x, n):
            return x * n
        def main(x):
            for i in range(100):
                x = f(x, i)
            return x
        main(2.)
        """,
        ["VaryingArgument parameter=n how=`i`, which changes at every turn in main: certain eager"],
    ),
    "a static argument that counts, numbered from the end": (
        """
        @partial(jit, static_argnums=-1)
        def f(x, n):
            return x * n
        def main(x):
            for i in range(100):
                x = f(x, i)
            return x
        main(2.)
        """,
        ["VaryingArgument parameter=n how=`i`, which changes at every turn in main: certain eager"],
    ),
    "a static argument that is a new lambda": (
        """
        @partial(jit, static_argnames="g")
        def f(x, g):
            return g(x)
        def main(x):
            for i in range(100):
                x = f(x, g=lambda v: v)
            return x
        main(2.)
        """,
        ["VaryingArgument problem=fresh parameter=g how=a new lambda in main: certain eager"],
    ),
    "a slice that grows": (
        """
        @jit
        def f(x):
            return x.sum()
        def main(x):
            out = []
            for i in range(1, 100):
                out.append(f(x[:i]))
            return out
        main(jnp.ones(100))
        """,
        ["VaryingArgument problem=shape parameter=x how=a slice whose length changes in main: certain eager"],
    ),
    "a list that grows": (
        """
        @jit
        def f(x):
            return x.sum()
        def main():
            seen = []
            for i in range(1, 100):
                seen.append(i)
                f(jnp.array(seen))
        main()
        """,
        ["VaryingArgument problem=shape parameter=x how=`seen`, a list that grows in main: certain eager"],
    ),
    "a slice that the caller makes longer": (
        """
        @jit
        def f(x):
            return x.sum()
        def one(x, n):
            return f(x[:n])
        def main(x):
            for i in range(1, 100):
                one(x, i)
        main(jnp.ones(100))
        """,
        ["VaryingArgument problem=shape parameter=x how=a slice whose length changes in one: certain eager"],
    ),
    "a static constant": (
        """
        @partial(jit, static_argnums=1)
        def f(x, n):
            return x * n
        def main(x):
            for i in range(100):
                x = f(x, 3)
            return x
        main(2.)
        """,
        [],
    ),
    "a loop that is left at once": (
        """
        def main(x):
            for i in range(10):
                x = jax.jit(lambda v: v + 1)(x)
                break
            return x
        main(2.)
        """,
        [],
    ),
    "a loop over two functions": (
        """
        def main(x):
            for g in [lambda v: v, lambda v: v + 1]:
                x = jax.jit(g)(x)
            return x
        main(2.)
        """,
        [],
    ),
    "a length of four parts, the last of which grows": (
        """
        @jit
        def f(x):
            return x.sum()
        def main(x, a, b, c):
            for i in range(1, 100):
                f(x[:a + b + c + i])
        main(jnp.ones(100), 1, 2, 3)
        """,
        ["VaryingArgument problem=shape parameter=x how=a slice whose length changes in main: certain eager"],
    ),
    "buffers on several devices, made when a program begins": (
        """
        def buffers(n, place):
            return [jax.jit(lambda: jnp.zeros(3), out_shardings=place)() for _ in range(n)]
        def pool(n, place):
            made = []
            for _ in range(n):
                made.append(jax.jit(lambda: jnp.zeros(3), out_shardings=place)())
            for i in range(n):
                made[i] = jax.jit(lambda x: x + 1, out_shardings=place)(made[i])
            return made
        buffers(8, place), pool(8, place)
        """,
        [
            "JitCreation what=lambda in buffers: possible eager",
            "JitCreation what=lambda in pool: certain eager",
            "JitCreation what=lambda in pool: possible eager",
        ],
    ),
    "a branch in a function that somebody decorates": (
        """
        from elsewhere import compiled
        def made(choice):
            @compiled(donate=0)
            def f(x):
                return jax.lax.cond(x > 0, lambda y: y, lambda y: -y, x)
            return f
        def plain(x):
            return jax.lax.cond(x > 0, lambda y: y, lambda y: -y, x)
        def main(xs):
            f = made(1)
            for x in xs:
                f(x)
                plain(x)
        main([1.0, 2.0])
        """,
        ["JitCreation repeated=call what=lambda api=jax.lax.cond in plain: likely eager"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
