"""What calls of libraries and of Python itself give, where no domain asks for more."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a slice of one bound": (
        """
        @jit
        def f(x, n):
            return x[slice(n)]
        f(jnp.ones(3), 2)
        """,
        ["BadIndex problem=slice in f: certain"],
    ),
    "a slice of two bounds": (
        """
        @jit
        def f(x, n):
            return x[slice(0, 2)], x[slice(n, 2)]
        f(jnp.ones(3), 2)
        """,
        ["BadIndex problem=slice in f: certain"],
    ),
    "the union with an empty set": (
        """
        @jit
        def f(x):
            s = set().union([1], ())
            for n in s:
                x = x * n
            return 1 if s and x > 0 else 2
        f(2.)
        """,
        ["Truth form=ternary in f: likely"],
    ),
    "the fourth of four bodies": (
        """
        class A: pass
        class B: pass
        class C: pass
        class D: pass
        @functools.singledispatch
        def go(a, x):
            return x
        @go.register(A)
        def _(a, x):
            return x
        @go.register(B)
        def _(a, x):
            return x
        @go.register(C)
        def _(a, x):
            return x
        @go.register(D)
        def _(a, x):
            return bool(x > 0)
        @jit
        def f(x):
            return go(D(), x)
        f(2.)
        """,
        ["Truth form=bool in _: certain"],
    ),
    "the body for all others": (
        """
        class A: pass
        class F: pass
        @functools.singledispatch
        def go(a, x):
            return bool(x > 1)
        @go.register(A)
        def _(a, x):
            return x
        @jit
        def f(x):
            return go(F(), x)
        f(2.)
        """,
        ["Truth form=bool in go: certain"],
    ),
    "a class that an unknown library is behind has no body that is known": (
        """
        from elsewhere import Base
        class A: pass
        class One(Base): pass
        class Two(One): pass
        class Three(Two): pass
        class Four(Three): pass
        @functools.singledispatch
        def go(a, x):
            return bool(x > 1)
        @go.register(A)
        def _(a, x):
            return x
        @jit
        def f(x):
            return go(Four(), x)
        f(2.)
        """,
        [],
    ),
    "a cached function gets all its arguments": (
        """
        @functools.lru_cache
        def choose(flag, n):
            return flag
        @jit
        def f(x):
            if choose(False, 3):
                return bool(x > 0)
            return choose(True, 3)
        f(2.)
        """,
        [],
    ),
    "a dtype that converts": (
        """
        @jit
        def f(x):
            return 2 if jnp.float32(x) > 0 else 3
        f(2.)
        """,
        ["Truth form=ternary in f: certain"],
    ),
    "a transformed function with state gives a pair": (
        """
        import haiku as hk
        def net(x):
            return x
        model = hk.transform_with_state(net)
        @jit
        def f(params, state, rng, x):
            found = model.apply(params, state, rng, x)
            out, state = found
            while len(found) == 3:
                out = out + bool(x)
            return out if out > 0 else state
        f(1, 2, 3, 4.)
        """,
        ["Truth form=ternary in f: certain"],
    ),
    "what apply is told is not told the module": (
        """
        import flax.linen as nn
        class Net(nn.Module):
            def __call__(self, x, mutable=False):
                if mutable:
                    return bool(x > 0)
                return x
        @jit
        def f(params, x):
            return Net().apply(params, x, mutable=True)
        f({"params": {}}, 2.)
        """,
        ["Truth form=bool in Net.__call__: possible catalogue"],
    ),
    "a layer of a library is applied to an array": (
        """
        import flax.linen as nn
        @jit
        def f(params, x):
            layer = nn.Dense(3)
            out = layer.apply(params, x)
            return out if out.sum() > 0 else x
        f(1, jnp.ones(3))
        """,
        ["Truth form=ternary in f: certain"],
    ),
    "an object of a library of which little is known is called": (
        """
        import flax.linen as nn
        @jit
        def f(params, x):
            layer = nn.SelfAttention(1)
            out = layer.apply(params, x)
            return out if out.sum() > 0 else x
        f(1, jnp.ones(3))
        """,
        ["Truth form=ternary in f: possible"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
