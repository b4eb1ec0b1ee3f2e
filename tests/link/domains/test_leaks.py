"""Tracers that get out: where to, and whether somebody looks there."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a list of the module": (
        """
        seen = []
        @jit
        def f(x):
            seen.append(x)
            return x
        f(2.)
        print(seen)
        """,
        ["Leak target=append used=True in f: certain"],
    ),
    "an attribute that is put back": (
        """
        class Box:
            pass
        box = Box()
        box.value = None
        @jit
        def f(x):
            old = box.value
            box.value = x
            y = box.value + 1
            box.value = None
            return y
        f(2.)
        print(box.value)
        """,
        [],
    ),
    "an attribute that nobody reads": (
        """
        class Box:
            pass
        box = Box()
        @jit
        def f(x):
            box.value = x
            return x
        f(2.)
        """,
        ["Leak what=value in f: certain"],
    ),
    "an attribute of this name that objects of another class have": (
        """
        class Box:
            pass
        class Other:
            def __init__(self):
                self.value = 1
        box = Box()
        @jit
        def f(x):
            box.value = x
            return x
        f(2.)
        print(Other().value)
        """,
        ["Leak what=value in f: certain"],
    ),
    "an attribute that a subclass reads": (
        """
        class Box:
            pass
        class Chest(Box):
            def show(self):
                print(self.value)
        box = Chest()
        @jit
        def f(x):
            box.value = x
            return x
        f(2.)
        box.show()
        """,
        ["Leak what=value used=True in f: certain"],
    ),
    "an attribute that is read of another object": (
        """
        class Box:
            def __init__(self, value):
                self.value = value
        box = Box(0.)
        @jit
        def f(x):
            box.value = x
            return x
        f(2.)
        print(Box(1.).value)
        """,
        ["Leak what=value in f: certain"],
    ),
    "an element that is only asked what it is, and removed": (
        """
        def g():
            seen = [None]
            @jit
            def f(x):
                seen[0] = x
                return x
            f(2.)
            assert isinstance(seen[0], jax.core.Tracer)
            del seen[0]
        g()
        """,
        ["Leak target=element in g.<locals>.f: certain"],
    ),
    "a variable that is read under a condition": (
        """
        def g(show):
            seen = None
            @jit
            def f(x):
                nonlocal seen
                seen = x
                return x
            f(2.)
            if show:
                print(seen)
        g(True)
        """,
        ["Leak target=nonlocal what=seen used=True in g.<locals>.f: likely"],
    ),
    "a variable that another function reads, of the same name": (
        """
        def g():
            seen = None
            @jit
            def f(x):
                nonlocal seen
                seen = x
                return x
            f(2.)
        def h(seen):
            print(seen)
        g()
        h(1)
        """,
        ["Leak target=nonlocal what=seen in g.<locals>.f: certain"],
    ),
    "what a file reads that is run": (
        """
        seen = []
        @jit
        def f(x):
            seen.append(x)
            return x
        if __name__ == "__main__":
            f(2.)
            print(seen)
        """,
        ["Leak target=append used=True in f: certain"],
    ),
    "an attribute that is read": (
        """
        class Box:
            pass
        box = Box()
        @jit
        def f(x):
            box.value = x
            return x
        f(2.)
        print(box.value)
        """,
        ["Leak what=value used=True in f: certain"],
    ),
    "a global name": (
        """
        last = None
        @jit
        def f(x):
            global last
            last = x * 2
            return x
        f(2.)
        print(last)
        """,
        ["Leak target=global what=last used=True in f: certain"],
    ),
    "a name of the function around": (
        """
        def outer(y):
            last = None
            @jit
            def f(x):
                nonlocal last
                last = x * 2
                return x
            f(y)
            return last
        outer(2.)
        """,
        ["Leak target=nonlocal what=last used=True in outer.<locals>.f: certain"],
    ),
    "a list made in the trace": (
        """
        @jit
        def f(x):
            seen = []
            seen.append(x)
            return x
        f(2.)
        """,
        [],
    ),
    "a helper that keeps what it gets": (
        """
        seen = []
        def keep(v):
            seen.append(v)
        @jit
        def f(x):
            keep(x)
            keep(x + 1)
            return x
        f(2.)
        print(seen[0])
        """,
        ["Leak target=append used=True in keep: certain"],
    ),
    "a static value in a list": (
        """
        seen = []
        @jit
        def f(x):
            seen.append(x.shape)
            return x
        f(2.)
        print(seen[0])
        """,
        ["Mutation target=method what=append in f: certain"],
    ),
    "an element that is taken out again": (
        """
        stack = []
        @jit
        def f(x):
            stack.append(x)
            y = stack.pop()
            return y
        f(2.)
        print(stack)
        """,
        [],
    ),
    "a cached function": (
        """
        @functools.lru_cache
        def table(n):
            return jnp.arange(n)
        @jit
        def f(x):
            return x + table(3)
        f(2.)
        """,
        ["Leak target=lru_cache what=table in table: certain"],
    ),
    "elements of a dictionary": (
        """
        d = {}
        @jit
        def f(x):
            d["a"] = x
            d["a"] = 1
            d["b"] = x
            return x
        f(2.)
        print(d["b"])
        """,
        ["Leak target=element used=True in f: certain"],
    ),
    "a list that nobody reads": (
        """
        seen = []
        @jit
        def f(x):
            seen.append(x)
            return x
        f(2.)
        """,
        ["Leak target=append in f: certain"],
    ),
    "a dictionary that others only fill": (
        """
        table = {}
        @jit
        def f(x):
            table["a"] = x
            return x
        def fill():
            table["b"] = 2
        f(2.)
        fill()
        """,
        ["Leak target=element in f: certain"],
    ),
    "a list that others only fill": (
        """
        seen = []
        @jit
        def f(x):
            seen.append(x)
            return x
        f(2.)
        seen.append(1)
        seen.clear()
        """,
        ["Leak target=append in f: certain"],
    ),
    "a cached function that was filled before": (
        """
        @functools.lru_cache
        def table(n):
            return jnp.arange(n)
        table(3)
        @jit
        def f(x):
            return x + table(3)
        f(2.)
        """,
        [],
    ),
    "a cached function that was filled before with another argument": (
        """
        @functools.lru_cache
        def table(n):
            return jnp.arange(n)
        table(4)
        @jit
        def f(x):
            return x + table(3)
        f(2.)
        """,
        ["Leak target=lru_cache what=table in table: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
