"""Buffers that are read after they were given away."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a read": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            y = step(x)
            return x + y
        main()
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "a name bound to the result": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            x = step(x)
            return x + 1
        main()
        """,
        [],
    ),
    "the last argument, counted from the end": (
        """
        step = jax.jit(lambda a, x: x + a, donate_argnums=-1)
        def main():
            a, x = jnp.ones(3), jnp.ones(3)
            y = step(a, x)
            return a + 1, y
        def other():
            a, x = jnp.ones(3), jnp.ones(3)
            y = step(a, x)
            return x + 1, y
        main(); other()
        """,
        ["DonatedRead name=x callee=<lambda> in other: certain"],
    ),
    "an argument by name": (
        """
        step = jax.jit(lambda a, x: x + a, donate_argnames="x")
        def main():
            a, x = jnp.ones(3), jnp.ones(3)
            y = step(a, x)
            return a + 1, x + 1
        main()
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "given away on one branch": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(flag):
            x = jnp.ones(3)
            y = 0
            if flag:
                y = step(x)
            return x + y
        main(unknown)
        """,
        [],
    ),
    "given away on both branches": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(flag):
            x = jnp.ones(3)
            if flag:
                y = step(x)
            else:
                y = step(x)
            return x + y
        main(unknown)
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "given away again in the next turn": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            for _ in range(3):
                y = step(x)
            return y
        main()
        """,
        ["DonatedRead name=x callee=<lambda> form=again in main: certain"],
    ),
    "read by another name": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            z = x
            y = step(x)
            return z + 1
        main()
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "a part of what was given away": (
        """
        step = jax.jit(lambda x: {"a": x["a"] + 1}, donate_argnums=0)
        def main():
            d = {"a": jnp.ones(3)}
            y = step(d)
            return d["a"] + 1
        main()
        """,
        ["DonatedRead name=d callee=<lambda> in main: likely"],
    ),
    "read in a handler": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            try:
                y = step(x)
            except ValueError:
                return x + 1
            return y
        main()
        """,
        [],
    ),
    "given away under a lock": (
        """
        import threading
        lock = threading.Lock()
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            with lock:
                y = step(x)
            return x + 1
        main()
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "where an error is expected": (
        """
        import pytest
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            with pytest.raises(ValueError):
                y = step(x)
            return x + 1
        main()
        """,
        [],
    ),
    "given away by a helper": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def update(v):
            return step(v)
        def main():
            x = jnp.ones(3)
            y = update(x)
            return x + 1
        main()
        """,
        ["DonatedRead name=v callee=<lambda> in main: certain"],
    ),
    "an attribute that another method reads": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        class Box:
            def __init__(self):
                self.x = jnp.ones(3)
            def update(self):
                return step(self.x)
            def read(self):
                return self.x + 1
        b = Box()
        b.update()
        b.read()
        """,
        ["DonatedRead name=self.x callee=<lambda> form=method in Box.read: certain"],
    ),
    "a result too small to take the buffer over": (
        """
        step = jax.jit(lambda x: x.sum(), donate_argnums=0)
        def main():
            x = jnp.ones(3)
            y = step(x)
            return x + 1
        main()
        """,
        [],
    ),
    "an argument that is never looked at": (
        """
        step = jax.jit(lambda a, x: x + 1, donate_argnums=0)
        def main():
            a, x = jnp.ones(3), jnp.ones(3)
            y = step(a, x)
            return a + 1
        main()
        """,
        [],
    ),
    "an element of a dictionary": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            d = {}
            d["a"] = jnp.ones(3)
            y = step(d["a"])
            return d["a"] + 1
        main()
        """,
        ["DonatedRead name=d['a'] callee=<lambda> in main: certain"],
    ),
    "one of two arrays, the other given away": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(flag):
            a, b = jnp.ones(3), jnp.ones(3)
            if flag:
                c = a
            else:
                c = b
            y = step(a)
            return c + 1
        main(unknown)
        """,
        [],
    ),
    "one of two arrays given away on its branch": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(flag):
            a, b = jnp.ones(3), jnp.ones(3)
            if flag:
                c = a
                step(a)
            else:
                c = b
            return c + 1
        main(unknown)
        """,
        [],
    ),
    "two arrays, each given away on its branch": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(flag):
            a, b = jnp.ones(3), jnp.ones(3)
            if flag:
                c = a
                step(a)
            else:
                c = b
                step(b)
            return c + 1
        main(unknown)
        """,
        ["DonatedRead name=a callee=<lambda> in main: certain"],
    ),
    "an array of NumPy": (
        """
        import numpy as np
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = np.ones(3)
            y = step(x)
            return x + 1
        main()
        """,
        [],
    ),
    "two arguments": (
        """
        step = jax.jit(lambda x, y: (x + 1, y), donate_argnums=(0, 1))
        def main():
            x, y = jnp.ones(3), jnp.ones(3)
            z = step(x, y)
            return y + 1
        main()
        """,
        ["DonatedRead name=y callee=<lambda> in main: certain"],
    ),
    "a part of a tuple": (
        """
        step = jax.jit(lambda t: (t[0] + 1, t[1] + 2), donate_argnums=0)
        def main():
            x, y = jnp.ones(3), jnp.ones(3)
            step((x, y))
            return x + 1
        main()
        """,
        ["DonatedRead callee=<lambda> in main: likely"],
    ),
    "a part of a list": (
        """
        step = jax.jit(lambda t: (t[0] + 1, t[1] + 2), donate_argnums=0)
        def main():
            x, y = jnp.ones(3), jnp.ones(3)
            step([x, y])
            return y + 1
        main()
        """,
        ["DonatedRead callee=<lambda> in main: likely"],
    ),
    "given away again in a tuple": (
        """
        step = jax.jit(lambda t: (t[0] + 1, t[1] + 2), donate_argnums=0)
        def main():
            x, y, z = jnp.ones(3), jnp.ones(3), jnp.ones(3)
            step((x, z))
            step((y, x))
        main()
        """,
        ["DonatedRead callee=<lambda> in main: likely"],
    ),
    "given away again in a list": (
        """
        step = jax.jit(lambda t: (t[0] + 1, t[1] + 2), donate_argnums=0)
        def main():
            x, y, z = jnp.ones(3), jnp.ones(3), jnp.ones(3)
            step([x, z])
            step([y, x])
        main()
        """,
        ["DonatedRead callee=<lambda> in main: likely"],
    ),
    "asked whether it is None": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main():
            x = jnp.ones(3)
            step(x)
            return x is None
        main()
        """,
        [],
    ),
    "asked whether it is another one": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(y):
            x = jnp.ones(3)
            step(x)
            return y is x
        main(3)
        """,
        [],
    ),
    "compared": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(y):
            x = jnp.ones(3)
            step(x)
            return y < x
        main(3)
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
    "compared and asked in one chain": (
        """
        step = jax.jit(lambda x: x + 1, donate_argnums=0)
        def main(y, z):
            x = jnp.ones(3)
            step(x)
            return y is z < x
        main(3, 4)
        """,
        ["DonatedRead name=x callee=<lambda> in main: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
