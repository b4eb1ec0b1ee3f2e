"""Loops in staged code: how many turns are many, and whose rows count."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a loop that counts up": (
        """
        @jit
        def f(x):
            i = 0
            while i < 1000:
                x = x * 2
                i += 1
            return x
        f(2.)
        """,
        ["UnrolledLoop count=1000 in f: certain"],
    ),
    "a loop with large steps": (
        """
        @jit
        def f(x):
            i = 0
            while i < 1000:
                x = x * 2
                i += 100
            return x
        f(2.)
        """,
        [],
    ),
    "a loop that counts down": (
        """
        @jit
        def f(x):
            i = 1000
            while i > 0:
                x = x * 2
                i -= 10
            return x
        f(2.)
        """,
        ["UnrolledLoop count=100 in f: certain"],
    ),
    "49 turns of a counting loop": (
        """
        @jit
        def f(x):
            i = 1
            while i < 50:
                x = x * 2
                i += 1
            return x
        f(2.)
        """,
        [],
    ),
    "50 turns of a counting loop": (
        """
        @jit
        def f(x):
            i = 1
            while i <= 51:
                x = x * 2
                i += 1
            return x
        f(2.)
        """,
        ["UnrolledLoop count=50 in f: certain"],
    ),
    "a counting loop that is left in its first turn": (
        """
        @jit
        def f(x):
            i = 0
            while i < 1000:
                x = x * 2
                i += 1
                break
            return x
        f(2.)
        """,
        [],
    ),
    "the parts of a split": (
        """
        @jit
        def f(x):
            out = 0.
            for part in jnp.split(x, 4):
                out = out + part.sum()
            return out
        f(jnp.ones(8))
        """,
        [],
    ),
    "the rows of an array": (
        """
        @jit
        def f(x):
            out = 0.
            for part in x:
                out = out + part.sum()
            return out
        f(jnp.ones(80))
        """,
        ["UnrolledLoop count=array in f: likely"],
    ),
    "seven rows": (
        """
        @jit
        def f(x):
            out = 0.
            for part in x:
                out = out + part.sum()
            return out
        f(jnp.ones(7))
        """,
        [],
    ),
    "eight rows": (
        """
        @jit
        def f(x):
            out = 0.
            for part in x:
                out = out + part.sum()
            return out
        f(jnp.ones(8))
        """,
        ["UnrolledLoop count=array in f: likely"],
    ),
    "seven rows here, seventy there": (
        """
        @jit
        def f(x):
            out = 0.
            for part in x:
                out = out + part.sum()
            return out
        f(jnp.ones(7))
        f(jnp.ones(70))
        """,
        ["UnrolledLoop count=array in f: likely"],
    ),
    "turns that do not feed each other": (
        """
        @jit
        def f(x):
            out = []
            for part in x:
                out.append(part.sum())
            return out
        f(jnp.ones(80))
        """,
        ["UnrolledLoop problem=iteration count=array in f: likely"],
    ),
    "a range over the length": (
        """
        @jit
        def f(x):
            out = 0.
            for i in range(len(x)):
                out = out + x[i]
            return out
        f(jnp.ones(80))
        """,
        ["UnrolledLoop count=shape in f: likely"],
    ),
    "a range over three rows": (
        """
        @jit
        def f(x):
            out = 0.
            for i in range(x.shape[0] - 1):
                out = out + x[i]
            return out
        f(jnp.ones(4))
        """,
        [],
    ),
    "a range over the last axis": (
        """
        @jit
        def f(x):
            out = 0.
            for i in range(x.shape[-1]):
                out = out + x[i]
            return out
        f(jnp.ones(80))
        """,
        [],
    ),
    "a range over the size, kept in a variable": (
        """
        @jit
        def f(x):
            out = 0.
            n = x.size
            for i in range(n):
                out = out + x[i]
            return out
        f(jnp.ones(80))
        """,
        ["UnrolledLoop count=shape in f: likely"],
    ),
    "a range over an unpacked shape": (
        """
        @jit
        def f(x):
            out = 0.
            n, m = x.shape
            for i in range(n):
                out = out + x[i]
            for i in range(m):
                out = out + x[i]
            return out
        f(jnp.ones((80, 80)))
        """,
        ["UnrolledLoop count=shape in f: likely", "UnrolledLoop count=80 in f: certain"],
    ),
    "comprehensions": (
        """
        @jit
        def f(x):
            a = [row * 2 for row in x]
            b = [x * i for i in range(100)]
            c = [i for i in range(100)]
            d = [x for _ in range(100)]
            return a, b, c, d
        f(jnp.ones((80, 80)))
        """,
        ["UnrolledLoop count=100 in f: likely", "UnrolledLoop problem=iteration count=array in f: likely"],
    ),
    "49 and 50 turns": (
        """
        @jit
        def f(x):
            for i in range(49):
                x = x * 2
            for i in range(50):
                x = x * 2
            return x
        f(jnp.ones((80, 80)))
        """,
        ["UnrolledLoop count=50 in f: certain"],
    ),
    "ranges with a start and a step": (
        """
        @jit
        def f(x):
            for i in range(10, 70, 2):
                x = x * 2
            for i in range(10, 70):
                x = x * 2
            for i in reversed(range(100)):
                x = x * 2
            return x
        f(jnp.ones((80, 80)))
        """,
        ["UnrolledLoop count=60 in f: certain", "UnrolledLoop count=100 in f: certain"],
    ),
    "turns that compute, and turns that only pick": (
        """
        @jit
        def f(x):
            out = []
            for i in range(100):
                y = x * i
                out.append(y)
            for i in range(100):
                z = x
            return out, z
        f(jnp.ones((80, 80)))
        """,
        ["UnrolledLoop count=100 in f: likely"],
    ),
    "rows by enumerate and zip": (
        """
        @jit
        def f(x, y):
            out = 0.
            for i, part in enumerate(x):
                out = out + part.sum()
            for a, b in zip(x, y):
                out = out + a * b
            for a, b in zip([1, 2], y):
                out = out + a * b
            return out
        f(jnp.ones(80), jnp.ones(80))
        """,
        [
            "UnrolledLoop count=array in f: likely",
            "UnrolledLoop count=array in f: likely",
            "UnrolledLoop count=array in f: likely",
        ],
    ),
    "a loop of the host": (
        """
        def f(x):
            for i in range(100):
                x = x * 2
            return x
        f(jnp.ones(80))
        """,
        [],
    ),
    "a loop under grad alone": (
        """
        def f(x):
            for i in range(100):
                x = x * 2
            return x.sum()
        jax.grad(f)(jnp.ones(80))
        """,
        [],
    ),
    "a value that goes on under another name": (
        """
        @jit
        def f(x):
            y = x
            for i in range(100):
                z = y * 2
                y = z
            return y
        f(jnp.ones(80))
        """,
        ["UnrolledLoop count=100 in f: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
