"""`analyse` on programs that call a function in many ways, or functions that only a library calls."""

from __future__ import annotations

import pytest

from jitlint.infer.events import ApiMisuse, Truth
from jitlint.link.engine import budgets
from tests.link.sources import run, run_all


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    """These programs are small, and are to meet the limits of large ones."""
    monkeypatch.setattr(budgets, "MOST_ROOM", 1)


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


def test_a_parameter_that_is_bound_anew_keeps_what_the_call_changed() -> None:
    """Beyond its contexts, too, the caller's list gets what the function appended before it took another one."""
    calls = "\n".join(f"    grow([], x, lambda v: v * {n})" for n in range(84))
    source = f"""
def grow(items, x, scale):
    items.append(scale(x))
    items = missing(items)
    return items

@jit
def root(x):
{calls}
    entries = []
    grow(entries, x, lambda v: v)
    return 1 if entries[-1] > 0 else 2

root(2.0)
"""
    found = run(source)
    assert not found.failures
    assert [e.place.function for e in found.events if isinstance(e, Truth)] == ["root"]


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


def test_what_the_coarsest_contexts_have_forgotten_decides_no_test() -> None:
    """A helper that many call with a word and a function: whose derivative it takes is not known any more."""
    calls = "\n".join(f"check(lambda v: v * {n}, 'plain', {n}.0)" for n in range(60))
    source = f"""
def check(function, how, x, a=0, b=0, c=0, d=0, e=0):
    if how == "plain":
        return function(x)
    if how == "derivative":
        return jax.grad(function)(x)
    return jax.grad(lambda v: function(v) + a + b + c + d + e)(x)

{calls}

def step(x):
    return lax.while_loop(lambda v: v < 10.0, lambda v: v + 1.0, x)

check(step, "plain", 1.0)
check(step, "plain", 2.0)
"""
    found = [e for e in run(source).events if type(e).__name__ == "TransformMisuse"]
    assert all(e.place.confidence.value == "possible" for e in found), found


def test_what_a_call_beyond_all_contexts_may_have_filled_is_not_missing_for_sure() -> None:
    """The first call of an object fills it, and happens on the host; that this one was not followed changes nothing."""
    calls = "\n".join(
        f"""
class Other{n}:
    def __call__(self, x):
        return x * {n}

drive(Other{n}(), {n}.0, "name {n}", ({n}, [{n}]))
"""
        for n in range(40)
    )
    source = f"""
class Guide:
    def __init__(self):
        self.table = None

    def fill(self, x):
        self.table = jnp.zeros_like(x)

    def __call__(self, x):
        if self.table is None:
            self.fill(x)
        return x + self.table

def drive(model, x, name, parts):
    for part in parts:
        if name == part:
            raise ValueError(name)
    y = model(x)
    for other in parts:
        if other == name:
            raise ValueError(other)
        if other is y:
            y = x
    return y

{calls}

def main():
    guide = Guide()
    drive(guide, 1.0, "guide", (1,))

    @jit
    def step(x):
        return guide(x)

    step(2.0)
    print(guide.table + 1)

main()
"""
    found = [e for e in run(source).events if type(e).__name__ == "Leak"]
    assert [e.place.confidence.value for e in found] == ["possible"]


def test_what_a_decorator_makes_that_was_not_followed_may_get_something_else() -> None:
    """A factory of decorators, called more often than there are contexts: kernels get references, not arrays."""
    kernels = "\n".join(
        f"""
def use_{n}():
    x = jnp.arange({n + 3})

    @device.kernel(jax.ShapeDtypeStruct(({n + 3},), x.dtype))
    def kernel(x_ref, o_ref):
        x_ref[...] = x_ref[...] * {n + 1}
        o_ref[...] = x_ref[...] + {n}

    return kernel(x)

use_{n}()
"""
        for n in range(20)
    )
    source = f"""
from jax.experimental import pallas as pl

class Device:
    def kernel(self, out, scratch=()):
        if len(scratch) > 3:
            raise ValueError("too much scratch memory")
        mode = "compiled" if jax.default_backend() == "tpu" else "interpreted"

        def decorator(function):
            def wrapper(*refs):
                taken = refs[: len(refs) - len(scratch)] if scratch else refs
                function(*taken)

            return pl.pallas_call(wrapper, out_shape=out, interpret=mode == "interpreted")

        return decorator

device = Device()
{kernels}
"""
    assert [e for e in run(source).events if type(e).__name__ == "ArrayStore"] == []


def test_what_a_decorator_makes_is_as_many_functions_as_it_decorates() -> None:
    """One wrapper stands for all functions that it wraps, and is called with something else each time."""
    wrapped = "\n".join(f"@logged\ndef one_{n}(x):\n    return x" for n in range(90))
    calls = "\n".join(f"    one_{n}([x] * {n}, '{n}')" for n in range(90))
    source = f"""
def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)
    return wrapper

{wrapped}

@logged
def last(x):
    return 1 if x > 0 else 2

@jit
def root(x):
{calls}
    return last(x)

root(2.0)
"""
    assert "last" in {function.qualname for function in run("import functools\n" + source).traced}


def test_accessors_have_a_context_for_each_that_asks() -> None:
    """What everybody reads through a property is not lost to the many that read it."""
    calls = "\n".join(f'Box({{{{"k{n}": jnp.ones({n})}}}}).value' for n in range(1, 60))
    source = f"""
class Box:
    def __init__(self, value):
        self._value = value

    @property
    def value(self):
        return self._value

{calls}

def positive(x):
    return 1 if x > 0 else 2

jit(Box(positive).value)(1.0)
"""
    assert [e.place.function for e in run(source).events if isinstance(e, Truth)] == ["positive"]


@pytest.mark.parametrize(("size", "found"), [("3", 0), ("0", 1)])
def test_a_constructor_that_is_left_out_may_have_set_its_attributes(size: str, found: int) -> None:
    """Beyond all contexts, a method that the constructor of the base may put another one in the place of is not taken for itself."""
    classes = "".join(
        f"""
class Env{i}(Env):
    def __init__(self, config, size):
        super().__init__(config, size)
        self.number = {i}

    def reset(self, keys):
        return jax.random.normal(keys)
"""
        for i in range(60)
    )
    source = f"""
class Env:
    def __init__(self, config, size):
        self.config = config
        self.size = size
        if size:
            self.reset = jax.vmap(self.reset)
{classes}
"""
    calls = "\n".join(
        f"Env{i}('{i}', {size}).reset(jax.random.split(jax.random.key(0), 3))" for i in range(60)
    )
    events = [e for e in run(source + calls).events if isinstance(e, ApiMisuse)]
    assert bool(events) is bool(found)
