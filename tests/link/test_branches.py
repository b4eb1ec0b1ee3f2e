"""Which side of a test is doubted, which is decided, and what that makes of the confidence."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "None where nobody knows the value is doubted": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if v is None:
                return bool(x > 0)
            return x
        f(2., 3.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "the other side of a doubted None is sure": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if v is not None:
                return bool(x > 0)
            return x
        f(2., 3.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "the else of not None is doubted": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if v is not None:
                return x
            else:
                return bool(x > 0)
        f(2., 3.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "what a doubted side left is as doubtful while the same is asked again": (
        """
        def halves(x):
            return x / 2, x
        @jit
        def f(x, y):
            v = unheard_of(y)
            if v is not None:
                x, last = halves(x)
            else:
                x = halves(x)
            z = jnp.abs(x)
            if v is not None:
                z = z + last
            return z
        f(2., 3.)
        """,
        ["ApiMisuse api=jax.numpy.abs problem=list-argument parameter=x exception=TypeError in f: possible"],
    ),
    "doubt survives a negation": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if not v is not None:
                return bool(x > 0)
            return x
        f(2., 3.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "doubt in a conditional expression": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            return bool(x > 0) if v is None else x
        f(2., 3.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "another question about an unknown value raises no doubt": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if v == 3:
                return bool(x > 0)
            return x
        f(2., 3.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "the kind of an unknown value is doubted": (
        """
        @jit
        def f(x, y):
            v = unheard_of(y)
            if isinstance(v, str):
                return bool(x > 0)
            return x
        f(2., 3.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "a flag that nobody sets decides": (
        """
        flag = False
        @jit
        def f(x):
            if flag:
                return bool(x > 0)
            return x
        f(2.)
        """,
        [],
    ),
    "an absent value decides": (
        """
        @jit
        def f(x, y=None):
            if y is None:
                return x
            return bool(x > 0)
        f(2.)
        """,
        [],
    ),
    "a given value decides": (
        """
        @jit
        def f(x, y=None):
            if y is None:
                return x
            return bool(x > 0)
        f(2., 3.)
        """,
        ["Truth form=bool in f: certain"],
    ),
    "an object that lacks the attribute is doubted where it asks for None": (
        """
        class Empty:
            pass
        @jit
        def f(x):
            holder = Empty()
            if holder.value is None:
                return bool(x > 0)
            return x
        f(2.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "a method is not None": (
        """
        class Model:
            def loss(self, x):
                return x
        @jit
        def f(x):
            run = Model().loss
            if run is None:
                return bool(x > 0)
            return run(x)
        f(2.)
        """,
        [],
    ),
    "nothing is reached after None was ordered": (
        """
        @jit
        def f(x, slot=None):
            if slot < 0 or slot > 3:
                raise ValueError
            return bool(x > 0)
        f(2.)
        """,
        ["Truth form=bool in f: possible"],
    ),
    "a number was ordered": (
        """
        @jit
        def f(x, slot=None):
            slot = slot or 2
            if slot < 0 or slot > 3:
                raise ValueError
            return bool(x > 0)
        f(2.)
        """,
        ["Truth form=bool in f: certain"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
