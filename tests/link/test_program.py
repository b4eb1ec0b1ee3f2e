"""`analyse` on small programs in memory: which functions are traced, with what, and what hurts there."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from jitlint.infer.events import AnyEvent, Truth
from jitlint.infer.traced_functions import TracedFunction
from jitlint.link.program import Analysis, Options, analyse
from tests.link.sources import deeply, module, run, run_all


def told(events: list[AnyEvent]) -> list[tuple[str, str]]:
    """Kind of event and function."""
    return sorted((type(event).__name__, event.place.function) for event in events)


def traced(analysis: Analysis) -> dict[str, dict[str, str]]:
    """Function to the status of its parameters."""
    return {one.qualname: {p.name: p.status for p in one.parameters} for one in analysis.traced}


def entry(analysis: Analysis, qualname: str) -> TracedFunction:
    """The traced function of that name."""
    return next(one for one in analysis.traced if one.qualname == qualname)


TWELVE = {
    "decorator": "@jax.jit\ndef f(x):\n    return 1 if x > 0 else 2",
    "imported decorator": "@jit\ndef f(x):\n    return 1 if x > 0 else 2",
    "decorator with options": "@jax.jit(donate_argnums=0)\ndef f(x):\n    return 1 if x > 0 else 2",
    "partial": "@partial(jax.jit, donate_argnums=0)\ndef f(x):\n    return 1 if x > 0 else 2",
    "functools.partial": "@functools.partial(jit)\ndef f(x):\n    return 1 if x > 0 else 2",
    "kept partial": "fast = partial(jax.jit)\n@fast\ndef f(x):\n    return 1 if x > 0 else 2",
    "call": "def f(x):\n    return 1 if x > 0 else 2\ng = jax.jit(f)",
    "keyword": "def f(x):\n    return 1 if x > 0 else 2\ng = jax.jit(fun=f)",
    "called at once": "def f(x):\n    return 1 if x > 0 else 2\njax.jit(f)(1.0)",
    "alias": "make = jax.jit\ndef f(x):\n    return 1 if x > 0 else 2\ng = make(f)",
    "own decorator": (
        "def fast(fun):\n    return jax.jit(fun)\n@fast\ndef f(x):\n    return 1 if x > 0 else 2"
    ),
    "in a container": (
        "def f(x):\n    return 1 if x > 0 else 2\nsteps = {'train': f}\nready = [jax.jit(s) for s in steps.values()]"
    ),
}


@pytest.mark.parametrize("source", TWELVE.values(), ids=TWELVE)
def test_jit_is_found_however_it_is_spelled(source: str) -> None:
    found = run(source)
    assert told(found.events) == [("Truth", "f")]
    assert found.events[0].modes == "S"
    assert traced(found) == {"f": {"x": "traced"}}
    assert (found.jit_sites, found.jit_sites_resolved) == (1, 1)


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return 1 if x > 0 else 2\nf(1.0)",
        "def f(x):\n    return 1 if x > 0 else 2\nf(jnp.ones(()))",
        "def jit(f):\n    return f\n@jit\ndef f(x):\n    return 1 if x > 0 else 2",
        "@jax.jit\ndef f(x):\n    return 1 if x.ndim > 0 else 2",
        "@partial(jax.jit, static_argnums=0)\ndef f(x):\n    return 1 if x > 0 else 2",
        "@partial(jax.jit, static_argnames='x')\ndef f(x):\n    return 1 if x > 0 else 2",
    ],
    ids=["no jit", "an array outside", "another jit", "a static question", "static number", "static name"],
)
def test_silence(source: str) -> None:
    assert run(source).events == []


def test_an_unknown_function_leaves_its_jit_site_unresolved() -> None:
    found = run("import elsewhere\ng = jax.jit(elsewhere.make())")
    assert (found.jit_sites, found.jit_sites_resolved) == (1, 0)


@pytest.mark.parametrize(
    "use",
    [
        "import helpers\n@jax.jit\ndef f(x):\n    return helpers.check(x)",
        "import helpers as h\n@jax.jit\ndef f(x):\n    return h.check(x)",
        "from helpers import check\n@jax.jit\ndef f(x):\n    return check(x)",
        "from helpers import check as c\n@jax.jit\ndef f(x):\n    return c(x)",
        "from helpers import *\n@jax.jit\ndef f(x):\n    return check(x)",
        "import helpers\ng = jax.jit(helpers.check)",
        "from helpers import Checker\n@jax.jit\ndef f(x):\n    return Checker().run(x)",
        "from helpers import table\n@jax.jit\ndef f(x):\n    return table['check'](x)",
    ],
)
def test_code_in_another_module_is_followed(use: str) -> None:
    helpers = """
        def check(x):
            if x > 0:
                return x
            return -x

        class Checker:
            def run(self, x):
                return check(x)

        table = {"check": check}
        """
    found = run_all(main=use, helpers=helpers)
    assert [(event.place.module, event.place.function) for event in found.events] == [("helpers", "check")]
    assert found.events[0].place.steps[0].module == "main"


def test_packages_and_relative_imports() -> None:
    inputs = [
        module("pkg", "from .ops import check", is_package=True),
        module("pkg.ops", "def check(x):\n    return bool(x > 0)"),
        module("pkg.train", "from . import check\nfrom .ops import check as same\nstep = jax.jit(check)"),
    ]
    found = analyse(inputs, Options())
    assert [(event.place.module, event.place.function) for event in found.events] == [("pkg.ops", "check")]


def test_import_cycles_end() -> None:
    found = run_all(
        a="import b\ndef even(x, n):\n    return x if n == 0 else b.odd(x, n - 1)\ng = jax.jit(even, static_argnums=1)",
        b="import a\ndef odd(x, n):\n    return bool(x > 0) if n == 0 else a.even(x, n - 1)",
    )
    assert told(found.events) == [("Truth", "odd")]


def test_the_witness_leads_from_the_transform_to_the_place() -> None:
    found = run("""
        def inner(v):
            return 1 if v else 2

        def middle(u):
            return inner(u + 1)

        @jax.jit
        def outer(x):
            return middle(x)
        """)
    (event,) = found.events
    assert event.place.function == "inner"
    assert event.why == "parameter `x` of `outer`"
    assert len(event.place.steps) == 3
    assert "`outer`" in event.place.steps[0].message and "jit" in event.place.steps[0].message
    assert "`middle`" in event.place.steps[1].message
    assert "`inner`" in event.place.steps[2].message


def test_contexts_are_kept_apart() -> None:
    found = run("""
        def pick(flag, x):
            if flag:
                return x
            return -x

        def both(x):
            return pick(True, x)

        @jax.jit
        def f(x):
            return both(x)

        pick(jnp.ones(()) > 0, 1.0)
        """)
    assert found.events == []
    assert traced(found)["pick"] == {"flag": "static", "x": "traced"}


def test_the_same_function_is_reported_where_one_context_hurts() -> None:
    found = run("""
        def pick(flag, x):
            if flag:
                return x
            return -x

        @jax.jit
        def good(x):
            return pick(True, x)

        @jax.jit
        def bad(x):
            return pick(x > 0, x)
        """)
    (event,) = found.events
    assert event.place.function == "pick"
    assert any("`bad`" in step.message for step in event.place.steps)
    assert traced(found)["pick"] == {"flag": "mixed", "x": "traced"}


def test_results_depend_on_the_context() -> None:
    found = run("""
        def first(pair):
            return pair[0]

        @jax.jit
        def f(x):
            n = first((3, x))
            m = first((x, 3))
            for _ in range(n):
                x = x + 1
            for _ in range(m):
                x = x + 1
            return x
        """)
    assert len(found.events) == 1
    assert told(found.events) == [("Convert", "f")]


RECURSIVE = {
    "itself": "@jax.jit\ndef f(x):\n    return f(x - 1) if x > 0 else x",
    "static depth": (
        "@partial(jax.jit, static_argnums=1)\ndef f(x, n):\n    return x if n == 0 else f(x * 2, n - 1)"
    ),
    "mutual": "def g(x):\n    return f(x)\n@jax.jit\ndef f(x):\n    return g(x)",
    "growing argument": "@jax.jit\ndef f(x):\n    def g(t):\n        return g((t, t))\n    return g(x)",
    "growing closure": (
        "@jax.jit\ndef f(x):\n    def g(h, n):\n        return g(lambda v: h(h(v)), n + 1)\n    return g(lambda v: v, 0)"
    ),
    "growing list": "@jax.jit\ndef f(x):\n    a = []\n    while True:\n        a = [a, x]\n    return a",
    "list in itself": "@jax.jit\ndef f(x):\n    a = [x]\n    a.append(a)\n    return jax.tree.map(bool, a)",
    "Y combinator": "@jax.jit\ndef f(x):\n    return (lambda g: g(g))(lambda g: g(g))",
    "transforms of transforms": (
        "def f(x):\n    return x\nwhile True:\n    f = jax.jit(jax.grad(f))\nf(1.0)"
    ),
    "class that makes itself": "class C:\n    def __init__(self, x):\n        self.a = C(x)\n@jax.jit\ndef f(x):\n    return C(x)",
    "property": (
        "class C:\n    @property\n    def p(self):\n        return self.p\n@jax.jit\ndef f(x):\n    return C().p"
    ),
    "name that is made of itself": (
        "@jax.jit\ndef f(x):\n    def body(a, x):\n        b = a + x\n        x = x + b\n"
        "        return jnp.concatenate([a, x]), x\n    return jax.lax.scan(body, x, x)"
    ),
    "iterator": (
        "class C:\n    def __iter__(self):\n        return self\n@jax.jit\ndef f(x):\n    return [a for a in C()]"
    ),
}


@pytest.mark.parametrize("source", RECURSIVE.values(), ids=RECURSIVE)
def test_recursion_terminates(source: str) -> None:
    found = run(source, Options(include_possible=True))
    assert "f" in traced(found)
    assert found.notes["activations"] < 500


def test_a_tracer_is_found_through_recursion() -> None:
    found = run("""
        def down(tree, x):
            if isinstance(tree, tuple):
                return tuple(down(part, x) for part in tree)
            return bool(x > 0)

        @jax.jit
        def f(x):
            return down((1, (2, 3)), x)
        """)
    assert [event.place.function for event in found.events] == ["down"]


ORDERED = {
    "main": "import ops, more\n@jax.jit\ndef f(x):\n    return ops.a(x) + more.b(x)",
    "ops": "import more\ndef a(x):\n    return more.b(x)\ntable = []\ndef keep(x):\n    table.append(x)",
    "more": "import ops\ndef b(x):\n    ops.keep(x)\n    return 1.0 if x > 0 else 2.0",
}


def test_the_order_of_the_modules_does_not_matter() -> None:
    modules = [module(name, text) for name, text in ORDERED.items()]
    results = [analyse(order, Options(include_possible=True)) for order in itertools.permutations(modules)]
    assert {event.place.function for event in results[0].events} == {"b", "keep"}
    for result in results[1:]:
        assert result.events == results[0].events
        assert result.traced == results[0].traced
        assert result.notes == results[0].notes


def test_a_name_that_occurs_twice_counts_once() -> None:
    first = module("case", "@jax.jit\ndef f(x):\n    return bool(x > 0)")
    assert len(analyse([first, first], Options()).events) == 1


STATUSES = {
    "all": ("@jax.jit\ndef f(a, b):\n    return a", {"f": {"a": "traced", "b": "traced"}}),
    "static": (
        "@partial(jax.jit, static_argnames=('n', 'mode'))\ndef f(a, n, *, mode):\n    return a",
        {"f": {"a": "traced", "n": "static", "mode": "static"}},
    ),
    "bound before": (
        "def f(n, a):\n    return a\ng = jax.jit(partial(f, 3))",
        {"f": {"n": "static", "a": "traced"}},
    ),
    "mixed": (
        "def f(a):\n    return a\n@jax.jit\ndef g(x):\n    return f(x) + f(1)",
        {"f": {"a": "mixed"}, "g": {"x": "traced"}},
    ),
    "container": (
        "def f(a):\n    return a\n@jax.jit\ndef g(x):\n    return f((1, x))",
        {"f": {"a": "mixed"}, "g": {"x": "traced"}},
    ),
    "unknown": (
        "def f(a):\n    return a\n@jax.jit\ndef g(x):\n    return f(unheard_of)",
        {"f": {"a": "unknown"}, "g": {"x": "traced"}},
    ),
    "scan": (
        "def f(carry, step):\n    return carry, step\ndef g(xs):\n    return lax.scan(f, 0.0, xs)\ng(jnp.ones(3))",
        {"f": {"carry": "traced", "step": "traced"}},
    ),
    "not all axes": (
        "def f(a, b):\n    return a\ng = jax.vmap(f, in_axes=(0, None))\ng(jnp.ones(3), 2)",
        {"f": {"a": "traced", "b": "static"}},
    ),
    "method": (
        "class C:\n    @partial(jax.jit, static_argnums=0)\n    def f(self, a):\n        return a\nC().f(1.0)",
        {"C.f": {"self": "static", "a": "traced"}},
    ),
    "wrapped again at each turn of a loop, and called after it": (
        "def f(a, *, b=None):\n    return a\ndef g():\n    h = f\n    for _ in (1, 2):\n"
        "        h = jax.vmap(h)\n    return h(jnp.ones((2, 3)))",
        {"f": {"a": "traced", "b": "static"}},
    ),
    "one of two inner functions of a maker": (
        "def make(n):\n    def f(a, *, b=None):\n        return a + n\n    return jax.jit(f)\n"
        "make(1)(jnp.ones(3))\nmine = make(2)",
        {"make.<locals>.f": {"a": "traced", "b": "mixed"}},
    ),
    "inner function": (
        "@jax.jit\ndef f(a):\n    def g(b):\n        return b\n    return g(a)",
        {"f": {"a": "traced"}, "f.<locals>.g": {"b": "traced"}},
    ),
}


@pytest.mark.parametrize(("source", "expected"), STATUSES.values(), ids=STATUSES)
def test_status_of_parameters(source: str, expected: dict[str, dict[str, str]]) -> None:
    assert traced(run(source)) == expected


def test_functions_that_nothing_traces_are_not_listed() -> None:
    assert traced(run("def f(a):\n    return a\nf(jnp.ones(3))\ndef g(a):\n    return a")) == {}


@pytest.mark.parametrize(
    ("source", "modes"),
    [
        ("def f(a):\n    return a\ng = jax.jit(f)\ng(1.0)", "S"),
        ("def f(a):\n    return a\ng = jax.vmap(f)\ng(jnp.ones(3))", "B"),
        ("def f(a):\n    return a\ng = jax.grad(f)\ng(1.0)", "L"),
        ("def f(a):\n    return a\ng = jax.jit(jax.vmap(jax.grad(f)))\ng(jnp.ones(3))", "SBL"),
        ("def f(a):\n    return a\njax.jit(f)(1.0)\njax.grad(f)(1.0)", "SL"),
    ],
)
def test_modes_of_a_traced_function(source: str, modes: str) -> None:
    assert entry(run(source), "f").modes == modes


def test_why_a_function_is_traced() -> None:
    found = run("def inner(a):\n    return a\n@jax.jit\ndef f(x):\n    return inner(x)")
    assert [step.message for step in entry(found, "f").because] == ["`f` is jitted with `jax.jit` here"]
    assert entry(found, "inner").because[0] == entry(found, "f").because[0]
    assert entry(found, "inner").ground == "jit"


def test_functions_declared_traced() -> None:
    source = "def f(x):\n    return bool(x > 0)\n# jitlint: traced\ndef g(x):\n    return bool(x > 0)"
    assert [event.place.function for event in run(source).events] == ["g"]
    found = run(source, Options(traced=("case.f",)))
    assert sorted(event.place.function for event in found.events) == ["f", "g"]
    assert entry(found, "f").ground == entry(found, "g").ground == "declared"


def test_a_jit_in_a_test_is_the_weaker_ground() -> None:
    lib = module("lib", "def f(x):\n    return bool(x > 0)")
    test = module("test_lib", "import lib\njax.jit(lib.f)(1.0)", is_test=True)
    (event,) = analyse([lib, test], Options()).events
    assert (event.place.module, event.place.ground) == ("lib", "test")


def test_nothing_is_reported_where_an_error_is_expected() -> None:
    found = run("""
        import pytest

        @jax.jit
        def f(x):
            return bool(x > 0)

        def test_f():
            with pytest.raises(TypeError):
                f(1.0)
        """)
    assert found.events == []


def test_truth_keeps_its_form() -> None:
    found = run("@jax.jit\ndef f(x):\n    while x > 0:\n        assert x > 1\n    return x > 2 and 1")
    assert sorted(event.form for event in found.events if isinstance(event, Truth)) == [
        "and",
        "assert",
        "while",
    ]


CELLS = """
def predict(params, x):
    *inner, last = params
    for w in inner:
        x = layer(w, x)
    return jnp.dot(last, x)

def layer(w, x):
    return jnp.sin(w @ x)

{between}

def layer(x, pair):
    w, b = pair
    return [jnp.dot(x, w) + b, x]
"""


@pytest.mark.parametrize(
    ("path", "between", "found"),
    [
        ("case.md", "", 0),
        ("case.ipynb", "", 0),
        ("case.py", "", 1),
        (
            "case.md",
            "def layer(x, pair):\n    return [x, pair]\n\npredict([jnp.ones((2, 2))] * 2, jnp.ones(2))",
            1,
        ),
    ],
)
def test_a_function_of_a_document_reads_what_its_cells_bound_when_it_was_called(
    path: str, between: str, found: int
) -> None:
    """Which cell ran last is not known of a function that none calls; of one that is called, it is."""
    item = dataclasses.replace(module("case", CELLS.format(between=between)), path=path)
    analysis = deeply([item], Options())
    assert sum(type(event).__name__ == "ApiMisuse" for event in analysis.events) == found
