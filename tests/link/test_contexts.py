"""`analyse` on programs that call a function in many ways, or functions that only a library calls."""

from __future__ import annotations

from jitlint.infer.events import Truth
from tests.link.sources import run, run_all


def test_many_calls_from_the_host_do_not_hide_those_of_a_trace() -> None:
    """Contexts are limited, but apart: what the host calls often is still followed inside a trace."""
    calls = "\n".join(f"helper({n}, {n + 1})" for n in range(200))
    source = f"""
def helper(a, b):
    return a if a > b else b

{calls}

@jit
def root(x):
    return helper(x, 1)

root(2.0)
"""
    assert [e.place.function for e in run(source).events if isinstance(e, Truth)] == ["helper"]


def test_a_function_that_is_handed_functions_may_have_many_contexts() -> None:
    """A project's own `cond` is called with other branches each time."""
    branches = "\n".join(f"    x = choose(x, lambda v: v * {n})" for n in range(70))
    source = f"""
def choose(x, branch):
    return lax.cond(True, branch, lambda v: v, x)

@jit
def root(x):
{branches}
    return choose(x, last)

def last(v):
    return v if v > 0 else -v

root(2.0)
"""
    assert [e.place.function for e in run(source).events if isinstance(e, Truth)] == ["last"]


LIBRARY = """
def filter_jit(fun):
    return _Wrapped(_split(fun))

class _Wrapped:
    def __init__(self, parts):
        self.parts = parts

    def __call__(self, *args):
        return jax.jit(_joined)(self.parts, _split(args))

def _joined(parts, args):
    return _together(parts)(*_together(args))
"""


def test_transforms_that_the_project_defines_and_the_catalogue_describes() -> None:
    use = "import equinox as eqx\n\n@eqx.filter_jit\ndef f(x):\n    return bool(x + 1)\n\nf(1.0)\n"
    found = run_all(equinox=LIBRARY, test_use=use)
    assert {(f.module, f.qualname) for f in found.traced} == {("test_use", "f"), ("equinox", "_joined")}


def test_functions_that_decide_what_a_leaf_is() -> None:
    found = run(
        """
        @jit
        def f(x):
            def whole(node):
                return node is None
            return jax.tree_util.tree_leaves_with_path((x, x), is_leaf=whole)
        """
    )
    assert "f.<locals>.whole" in {function.qualname for function in found.traced}


def test_a_method_of_many_classes_is_seen_in_each() -> None:
    classes = "".join(
        f"class Game{i}(Base):\n    @property\n    def players(self):\n        return {i}\n\n"
        for i in range(30)
    )
    found = run(
        """
class Base:
    def step(self, x):
        return lax.cond(x.sum() > 0, lambda: self.penalty(x), lambda: x)

    def penalty(self, x):
        return x * self.players

"""
        + classes
        + "\n".join(f"jit(Game{i}().step)(jnp.ones({'1, ' * rank}))" for i in range(30) for rank in (1, 2, 3))
        + "\n"
    )
    assert {f.qualname for f in found.traced} >= {f"Game{i}.players" for i in range(30)}
