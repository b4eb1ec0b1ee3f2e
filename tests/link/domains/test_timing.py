"""Clocks that are read before the work is done."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "nobody waits": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            y = step(x)
            end = time.time()
            return end - start
        main(jnp.ones(3))
        """,
        ["UnsyncedClock callee=<lambda> in main: certain"],
    ),
    "the result is waited for": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            y = step(x)
            y.block_until_ready()
            return time.time() - start
        main(jnp.ones(3))
        """,
        [],
    ),
    "JAX waits": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            y = jax.block_until_ready(step(x))
            return time.time() - start
        main(jnp.ones(3))
        """,
        [],
    ),
    "the result is printed": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            y = step(x)
            print(y)
            return time.time() - start
        main(jnp.ones(3))
        """,
        [],
    ),
    "the result is converted": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            y = float(step(x))
            return time.time() - start
        main(jnp.ones(()))
        """,
        [],
    ),
    "a lambda that starts it": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            run = lambda: step(x)
            start = time.time()
            y = run()
            return time.time() - start
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=<lambda> in main: likely"],
    ),
    "a helper that waits, and one that does not": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def work(x):
            return step(x)
        def waits(x):
            return step(x).block_until_ready()
        def main(x):
            start = time.time()
            y = work(x)
            a = time.time() - start
            start = time.time()
            y = waits(x)
            b = time.time() - start
            return a, b
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=<lambda> in main: likely"],
    ),
    "waited for on one branch": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x, flag):
            start = time.time()
            y = step(x)
            if flag:
                y.block_until_ready()
            return time.time() - start
        main(jnp.ones(()), unknown)
        """,
        [],
    ),
    "a loop": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            start = time.time()
            for _ in range(10):
                x = step(x)
            return time.time() - start
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=<lambda> in main: certain"],
    ),
    "an operation without jit": (
        """
        import time
        def main(x):
            start = time.time()
            y = jnp.dot(x, x)
            return time.time() - start
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=jax.numpy.dot in main: likely"],
    ),
    "a conversion": (
        """
        import time
        def main(x):
            start = time.time()
            y = jnp.asarray(x)
            return time.time() - start
        main(jnp.ones(()))
        """,
        [],
    ),
    "timeit": (
        """
        import timeit
        step = jax.jit(lambda x: x + 1)
        def main(x):
            def good():
                step(x).block_until_ready()
            def bad():
                step(x)
            return timeit.timeit(good), timeit.timeit(bad)
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=<lambda> in main: certain"],
    ),
    "a context manager that reads the clock": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        class Timer:
            def __enter__(self):
                self.start = time.time()
                return self
            def __exit__(self, *args):
                self.seconds = time.time() - self.start
        def main(x):
            with Timer() as t:
                step(x)
            return t.seconds
        main(jnp.ones(()))
        """,
        ["UnsyncedClock callee=<lambda> in main: certain"],
    ),
    "started before": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def main(x):
            y = step(x)
            start = time.time()
            z = 3
            return time.time() - start
        main(jnp.ones(()))
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
