"""Changes and other effects of traced code: which are worth a word, and how sure it is."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a list of the module": (
        """
        calls = []
        @jit
        def f(x):
            calls.append(1)
            return x
        f(2.)
        """,
        ["Mutation target=method what=append in f: certain"],
    ),
    "a count of traces that is held against a limit": (
        """
        def once(function):
            count = 0
            def inner(x):
                nonlocal count
                count += 1
                if count > 1:
                    raise AssertionError("traced again")
                return function(x)
            return inner
        def counted(function):
            count = 0
            def inner(x):
                nonlocal count
                count += 1
                return function(x)
            return inner
        jit(once(lambda x: x))(2.), jit(counted(lambda x: x))(2.)
        """,
        ["Mutation target=nonlocal name=count in counted.<locals>.inner: certain"],
    ),
    "a list made in the trace": (
        """
        @jit
        def f(x):
            calls = []
            calls.append(1)
            return x
        f(2.)
        """,
        [],
    ),
    "a counter": (
        """
        count = 0
        @jit
        def f(x):
            global count
            count += 1
            return x
        f(2.)
        """,
        ["Mutation target=global name=count in f: certain"],
    ),
    "a name bound anew": (
        """
        mode = 0
        @jit
        def f(x):
            global mode
            mode = 3
            return x
        f(2.)
        """,
        ["Mutation target=global name=mode in f: likely"],
    ),
    "a setting that functions share": (
        """
        def kernel():
            steps = None
            def init(x, n):
                nonlocal steps
                steps = n
                return x
            def sample(x):
                return x * steps
            return init, sample
        init, sample = kernel()
        sample(jit(init, static_argnums=1)(2., 3))
        """,
        ["Mutation target=nonlocal name=steps in kernel.<locals>.init: possible"],
    ),
    "under a lock": (
        """
        import threading
        lock = threading.Lock()
        count = 0
        @jit
        def f(x):
            global count
            with lock:
                count += 1
            return x
        f(2.)
        """,
        [],
    ),
    "under a context manager that is no lock": (
        """
        count = 0
        @jit
        def f(x):
            global count
            with open("a") as stream:
                count += 1
            return x
        f(2.)
        """,
        [
            "Effect effect=file what=builtins.open in f: certain",
            "Mutation target=global name=count in f: certain",
        ],
    ),
    "in a context manager": (
        """
        import contextlib
        depth = 0
        @contextlib.contextmanager
        def deeper():
            global depth
            depth += 1
            yield
            depth -= 1
        @jit
        def f(x):
            with deeper():
                return x * 2
        f(2.)
        """,
        [],
    ),
    "taken back in the end": (
        """
        depth = 0
        @jit
        def f(x):
            global depth
            depth += 1
            try:
                return x * 2
            finally:
                depth -= 1
        f(2.)
        """,
        [],
    ),
    "the hits of a cache": (
        """
        cache_hits = 0
        @jit
        def f(x):
            global cache_hits
            cache_hits += 1
            return x
        f(2.)
        """,
        [],
    ),
    "a registry and a cell": (
        """
        registry = []
        cell = []
        @jit
        def f(x):
            registry.append(1)
            cell.append(1)
            return x
        f(2.)
        """,
        [],
    ),
    "an element that is missing yet": (
        """
        known = {}
        @jit
        def f(x):
            if "a" not in known:
                known["a"] = 3
            return x
        f(2.)
        """,
        [],
    ),
    "elements counted on and replaced": (
        """
        known = {"a": 1}
        @jit
        def f(x):
            known["a"] += 1
            known["b"] = 2
            return x
        f(2.)
        """,
        ["Mutation target=element in f: certain", "Mutation target=element in f: likely"],
    ),
    "methods of a dictionary": (
        """
        known = {}
        @jit
        def f(x):
            known.update(a=3)
            known.get("a")
            known.clear()
            return x
        f(2.)
        """,
        [
            "Mutation target=element in f: likely",
            "Mutation target=method what=update in f: certain",
            "Mutation target=method what=clear in f: certain",
        ],
    ),
    "methods of a set": (
        """
        known = set()
        @jit
        def f(x):
            known.add(3)
            known.union({3})
            return x
        f(2.)
        """,
        ["Mutation target=method what=add in f: certain"],
    ),
    "methods of a list": (
        """
        moves = []
        @jit
        def f(x):
            moves.extend([1])
            moves.insert(0, 2)
            moves.index(2)
            moves.sort()
            return x
        f(2.)
        """,
        [
            "Mutation target=method what=extend in f: certain",
            "Mutation target=method what=insert in f: certain",
        ],
    ),
    "elements that are deleted": (
        """
        known = {"a": 1}
        items = [1]
        @jit
        def f(x):
            del known["a"]
            del items[0]
            return x
        f(2.)
        """,
        ["Mutation target=delete in f: certain", "Mutation target=delete in f: certain"],
    ),
    "before an error": (
        """
        calls = []
        @jit
        def f(x):
            if x.ndim > 3:
                calls.append(1)
                raise ValueError
            return x
        f(2.)
        """,
        [],
    ),
    "code that asks for tracers": (
        """
        calls = []
        @jit
        def f(x):
            if isinstance(x, jax.core.Tracer):
                calls.append(1)
            return x
        f(2.)
        """,
        [],
    ),
    "a copy that its caller reads": (
        """
        @jit
        def f(d):
            d["a"] = d["a"] + 1
            return d["b"]
        d = {"a": jnp.ones(3), "b": 1.}
        f(d)
        print(d["a"])
        """,
        ["Mutation target=element name=d lost=True in f: likely"],
    ),
    "a copy that is given back": (
        """
        @jit
        def f(d):
            d["a"] = d["a"] + 1
            return d
        d = {"a": jnp.ones(3), "b": 1.}
        d2 = f(d)
        print(d["a"])
        """,
        [],
    ),
    "a copy that nobody reads": (
        """
        @jit
        def f(d):
            d["a"] = d["a"] + 1
            return d["b"]
        d = {"a": jnp.ones(3), "b": 1.}
        f(d)
        """,
        [],
    ),
    "attributes of an object": (
        """
        class C:
            def __init__(self):
                self.n = 0
            @partial(jit, static_argnums=0)
            def f(self, x):
                self.n += 1
                self.mode = 3
                return x
        C().f(2.)
        """,
        ["Mutation name=C.n in C.f: certain", "Mutation name=C.mode in C.f: possible"],
    ),
    "code that nothing traces": (
        """
        class C:
            def __init__(self):
                self.n = 0
            def f(self, x):
                self.n += 1
                return x
        C().f(2.)
        """,
        [],
    ),
    "print": (
        """
        @jit
        def f(x):
            print("called")
            print(x)
            print("x is", x.shape)
            return x
        f(2.)
        """,
        [
            "Effect what=builtins.print in f: likely",
            "Effect what=builtins.print in f: certain",
            "Effect what=builtins.print in f: possible",
        ],
    ),
    "logs, clocks and files": (
        """
        import logging, time
        @jit
        def f(x):
            logging.info("hi %s", x)
            t = time.time()
            open("a", "w").write("s")
            n = np.random.normal()
            return x
        f(2.)
        """,
        [
            "Effect effect=log what=logging.info in f: certain",
            "Effect effect=clock what=time.time in f: certain",
            "Effect effect=file what=builtins.open in f: certain",
            "Effect effect=file what=io.TextIOWrapper.write in f: certain",
        ],
    ),
    "a handler that never runs": (
        """
        @jit
        def f(x):
            try:
                y = 1 / x
            except ZeroDivisionError:
                y = 0
            return y
        f(2.)
        """,
        ["Handler problem=never exception=ZeroDivisionError in f: likely"],
    ),
    "a handler that hides the error": (
        """
        @jit
        def f(x):
            try:
                return 1 if x > 0 else 2
            except Exception:
                return 0
        f(2.)
        """,
        ["Handler in f: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
