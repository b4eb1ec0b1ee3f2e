"""What traced code reads of the world outside, and who changes it later."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "written between two calls": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        f(2.)
        scale = 2.0
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "written before the calls": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        scale = 2.0
        f(2.)
        f(2.)
        """,
        [],
    ),
    "written as it was": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        f(2.)
        scale = 1.0
        f(2.)
        """,
        [],
    ),
    "not called after it": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        f(2.)
        scale = 2.0
        """,
        [],
    ),
    "written by a function": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        def change(v):
            global scale
            scale = v
        f(2.)
        change(3.)
        f(2.)
        """,
        ["Capture writer=change in f: certain"],
    ),
    "written by a function that nobody calls": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        def change(v):
            global scale
            scale = v
        """,
        ["Capture writer=change in f: possible"],
    ),
    "written by a function that sets up": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        def setup_scale(v):
            global scale
            scale = v
        """,
        [],
    ),
    "another element": (
        """
        d = {"a": 1.0, "b": 2.0}
        @jit
        def f(x):
            return x * d["a"]
        f(2.)
        d["b"] = 3.0
        f(2.)
        """,
        [],
    ),
    "the element itself": (
        """
        d = {"a": 1.0, "b": 2.0}
        @jit
        def f(x):
            return x * d["a"]
        f(2.)
        d["a"] = 3.0
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "an update of the dictionary": (
        """
        d = {"a": 1.0, "b": 2.0}
        @jit
        def f(x):
            return x * d["a"]
        f(2.)
        d.update(a=3.0)
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "an attribute": (
        """
        class Config:
            pass
        c = Config()
        c.a = 1.0
        @jit
        def f(x):
            return x * c.a
        f(2.)
        c.a = 2.0
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "another attribute": (
        """
        class Config:
            pass
        c = Config()
        c.a = 1.0
        @jit
        def f(x):
            return x * c.a
        f(2.)
        c.b = 2.0
        f(2.)
        """,
        [],
    ),
    "an attribute that a method counts on": (
        """
        class Model:
            def __init__(self):
                self.w = 1.0
                self.step = jax.jit(self._step)
            def _step(self, x):
                return x * self.w
            def fit(self, x):
                y = self.step(x)
                self.w = self.w + 1
                return y
        m = Model()
        m.fit(2.)
        m.fit(2.)
        """,
        ["Capture writer=Model.fit in Model._step: certain"],
    ),
    "an element of an array of NumPy": (
        """
        import numpy as np
        table = np.zeros(3)
        @jit
        def f(x):
            return x + table
        f(2.)
        table[0] = 1
        f(2.)
        """,
        ["Capture kind=array in f: certain"],
    ),
    "a method of NumPy": (
        """
        import numpy as np
        table = np.zeros(3)
        @jit
        def f(x):
            return x + table
        f(2.)
        table.fill(1)
        f(2.)
        """,
        ["Capture kind=array in f: certain"],
    ),
    "an array of a function": (
        """
        import numpy as np
        def main():
            table = np.zeros(3)
            @jit
            def f(x):
                return x + table
            f(2.)
            table[0] = 1
            return f(2.)
        main()
        """,
        ["Capture kind=array writer=main in main.<locals>.f: certain"],
    ),
    "an attribute of a class": (
        """
        class C:
            scale = 1.0
        @jit
        def f(x):
            return x * C.scale
        f(2.)
        C.scale = 2.0
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "written where nothing was called": (
        """
        scale = 1.0
        @jit
        def f(x):
            return x * scale
        def main(flag):
            global scale
            if flag:
                f(2.)
            else:
                scale = 2.0
                f(2.)
        main(unknown)
        """,
        [],
    ),
    "the last of four": (
        """
        import numpy as np
        class A:
            def __init__(self): self.v = 1.0
        a, b, c, d = A(), A(), A(), A()
        @jit
        def f(x, *_):
            return x * a.v * b.v * c.v * d.v
        f(2.)
        d.v = 2.0
        f(2.)
        """,
        ["Capture in f: certain"],
    ),
    "read by a helper that was called before": (
        """
        scale = 1.0
        def helper(x):
            return x * scale
        @jit
        def f(x):
            return helper(x)
        @jit
        def g(x):
            return helper(x)
        g(1.)
        f(2.)
        scale = 2.0
        f(2.)
        """,
        ["Capture in helper: certain"],
    ),
    "state of a thread": (
        """
        import threading
        class S(threading.local):
            pass
        s = S()
        s.v = 1.0
        @jit
        def f(x):
            return x * s.v
        f(2.)
        s.v = 2.0
        f(2.)
        """,
        [],
    ),
    "state of a thread behind three other bases": (
        """
        import threading
        class A: pass
        class B: pass
        class C: pass
        class State(A, B, C, threading.local):
            pass
        s = State()
        s.v = 1.0
        @jit
        def f(x):
            return x * s.v
        f(2.)
        s.v = 2.0
        f(2.)
        """,
        [],
    ),
    "the second of two objects that one call stands for": (
        """
        class C:
            def __init__(self):
                self.v = 1.0
        def read(c):
            return c.v
        a, b = C(), C()
        @jit
        def f(x):
            return x * read(a) * read(b)
        f(2.)
        b.v = 2.0
        f(2.)
        """,
        ["Capture in read: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
