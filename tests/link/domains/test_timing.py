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
    "compilation is timed": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def precompile(x):
            start = time.time()
            step(x)
            return time.time() - start
        def named(x):
            start = time.time()
            step(x)
            compile_time = time.time() - start
            return compile_time
        def told(x):
            start = time.time()
            step(x)
            end = time.time()
            print("compiled in", end - start)
            start = time.time()
            step(x)
            end = time.time()
            print("without compilation", end - start)
        precompile(jnp.ones(3)), named(jnp.ones(3)), told(jnp.ones(3))
        """,
        [
            "UnsyncedClock callee=<lambda> in named: possible",
            "UnsyncedClock callee=<lambda> in precompile: possible",
            "UnsyncedClock callee=<lambda> in told: certain",
            "UnsyncedClock callee=<lambda> in told: possible",
        ],
    ),
    "handing work over is timed, and then the wait": (
        """
        import time
        step = jax.jit(lambda x: x + 1)
        def apart(x):
            start = time.time()
            y = step(x)
            between = time.time()
            y.block_until_ready()
            return between - start, time.time() - between
        def laps(x):
            start = time.time()
            y = step(x)
            between = time.time()
            y = step(y)
            y.block_until_ready()
            return between - start, time.time() - between
        apart(jnp.ones(3)), laps(jnp.ones(3))
        """,
        [
            "UnsyncedClock callee=<lambda> in apart: possible",
            "UnsyncedClock callee=<lambda> in laps: certain",
        ],
    ),
    "a compiled function that only fills": (
        """
        import time
        def make(shape):
            start = time.time()
            y = jax.jit(jnp.zeros, static_argnums=0)(shape)
            return y, time.time() - start
        make((3,))
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
