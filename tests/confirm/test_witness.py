"""Each predicted effect is seen where it happens, and not next to it."""

from __future__ import annotations

import pytest

from jitlint.base.outcome import (
    Advisory,
    BakesConstant,
    Cuts,
    DropsResult,
    IgnoresBounds,
    IgnoresVariable,
    JitsAgain,
    LeavesOut,
    MakesNan,
    MakesPairs,
    Narrows,
    NeverHandles,
    Outcome,
    Raises,
    RepeatsDraw,
    Retraces,
    RunsInMode,
    RunsOnce,
    StaysLocal,
    StopsSlope,
    Unrolls,
    Unsynced,
    Widens,
)
from jitlint.confirm.witness import evidence, incident
from tests.confirm.programs import runs

# outcome, program, part of the evidence
_CALLBACK = "def g(x):\n    return np.float32(x)\n\n@jax.jit\ndef f(x):\n"
_MAPPED = (
    "def loss(w, x):\n    return jnp.mean(x * w)\n\ndef step(w, x):\n"
    "    value, grads = jax.value_and_grad(loss)(w, x)\n"
)
_CALLED = "\n\njax.pmap(step, axis_name='i')(jnp.ones((1, 3)), jnp.ones((1, 3)))\n"
_DROPOUT = (
    "import flax.linen as nn\nx = jnp.ones(3)\nkeys = {'dropout': jax.random.key(0)}\n"
    "def drop(off, x):\n    return nn.Dropout(0.5).apply({}, x, deterministic=off, rngs=keys).sum()\n\n"
)
SHOWN: list[tuple[Outcome, str, str]] = [
    (
        Raises(("jax.errors.TracerBoolConversionError",)),
        "@jax.jit\ndef f(x):\n    if x > 0:  # here\n        return x\n    return -x\n\nf(1.0)\n",
        "TracerBoolConversionError",
    ),
    (
        Raises(("jax.errors.TracerBoolConversionError",)),
        "@jax.jit\ndef f(x):\n    try:\n        if x > 0:  # here\n            return x\n    except TypeError:\n"
        "        return x\n\nf(1.0)\n",
        "TracerBoolConversionError",
    ),
    (
        Raises(("jax.errors.UnexpectedTracerError",), later=True),
        "kept = []\n@jax.jit\ndef f(x):\n    kept.append(x)  # here\n    return x\n\nf(1.0)\nkept[0] + 1\n",
        "UnexpectedTracerError",
    ),
    (
        RunsOnce(),
        "@jax.jit\ndef f(x):\n    print(x)  # here\n    return x\n\nfor _ in range(3):\n    f(1.0)\n",
        "ran once; without jit it runs 3 times",
    ),
    (
        RunsOnce(),
        "def body(c, x):\n    print(c)  # here\n    return c + x, x\n\nanswer = jax.lax.scan(body, 0.0, jnp.ones(4))[0]\n",
        "without jit it runs 4 times",
    ),
    (
        BakesConstant(),
        "RATE = 1.0\n@jax.jit\ndef f(x):\n    return x * RATE  # here\n\nf(1.0)\nRATE = 5.0\nanswer = f(1.0)\n",
        "1 with jit, 5 without",
    ),
    (
        BakesConstant(),
        "import random\n@jax.jit\ndef f(x):\n    return x + random.random()  # here\n\nanswer = [f(0.0) for _ in range(3)]\n",
        "the results differ",
    ),
    (
        Retraces(),
        "def f(x):\n    return x\n\nfor _ in range(3):\n    jax.jit(lambda x: f(x))(1.0)  # here\n",
        "`<lambda>` was traced 3 times",
    ),
    (
        Retraces(),
        "def make():\n    return jax.jit(lambda x: x + 1)  # here\n\nfor _ in range(3):\n    g = make()\n    g(1.0)\n",
        "traced 3 times",
    ),
    (
        Retraces("static"),
        "f = jax.jit(lambda x, n: x * n, static_argnums=1)\nfor n in range(4):\n    f(1.0, n)  # here\n",
        "traced 4 times",
    ),
    (
        Retraces(),
        "def f(x):\n    return x\n\nfor _ in range(3):\n    jax.jit(jax.jit(f))(1.0)  # here\n",
        "`f` was traced ",
    ),
    (
        Unrolls(),
        "def f(x):\n    for _ in range(40):  # here\n        x = jnp.sin(x)\n    return x\n\nanswer = jax.make_jaxpr(f)(1.0)\n",
        "took 40 turns while JAX traced, and each of them added 1 equation to",
    ),
    (
        RepeatsDraw(),
        "key = jax.random.key(0)\na = jax.random.normal(key)\nb = jax.random.uniform(key)  # here\n",
        "`uniform` consumed a key that `normal` had consumed",
    ),
    (
        RepeatsDraw(),
        "@jax.jit\ndef f(key):\n    a, b = jax.random.split(key)\n    return jax.random.normal(key)  # here\n\n"
        "f(jax.random.PRNGKey(1))\n",
        "`split` had consumed",
    ),
    (
        RepeatsDraw(),
        "key = jax.random.key(0)\njax.lax.map(lambda x: x + jax.random.normal(key), jnp.ones(3))  # here\n",
        "at the same line",
    ),
    (
        RepeatsDraw(),
        "key = jax.random.key(0)  # here\na = jax.random.normal(key)\nb = jax.random.uniform(key)\n",
        "the key made here was consumed by `normal` at line 6 and by `uniform` at line 7",
    ),
    (IgnoresBounds(), "x = jnp.arange(3)\ny = x[7]  # here\n", "index 7 is out of bounds"),
    (IgnoresBounds(), "x = jnp.arange(3)\ny = x.at[7].set(1)  # here\n", "index 7 is out of bounds"),
    (IgnoresBounds(), "x = jnp.arange(3)\ny = jnp.take(x, 9)  # here\n", "index 9 is out of bounds"),
    (
        IgnoresBounds(),
        "@jax.jit\ndef f(x, i):\n    return x[i]  # here\n\nf(jnp.arange(3), 5)\n",
        "index 5 is out of bounds",
    ),
    (DropsResult(), "x = jnp.zeros(3)\nx.at[0].set(1.0)  # here\n", "`set` made a new array"),
    (Narrows(), "x = jnp.zeros(3, jnp.float64)  # here\n", "Explicitly requested dtype float64"),
    (Cuts(), "x = jnp.arange(3).at[0].add(0.5)  # here\n", "cannot safely cast value from dtype=float32"),
    (Cuts(), "x = jnp.full_like(jnp.arange(3), 0.5)  # here\n", "`full_like` made int32 of float64"),
    (
        Widens(),
        "import numpy as np\n\n@jax.jit\ndef f(x):\n    return x * np.sqrt(2.0)  # here\n\nf(jnp.ones(3, jnp.bfloat16))\n",
        "bfloat16 and a `numpy.float64` gave float32",
    ),
    (
        StopsSlope(),
        "def f(p):\n    return jnp.sum(p['b'] * jnp.round(p['w']))  # here\n\n"
        "jax.jit(jax.grad(f))({'b': jnp.ones(2), 'w': jnp.ones(2)})\n",
        "the derivative ends at `round`, and the gradient at `['w']` is zero at three points",
    ),
    (
        RunsInMode("evaluated"),
        f"{_DROPOUT}y = drop(False, x)  # here\n",
        "`Dropout` ran in the mode for training",
    ),
    (
        RunsInMode("trained"),
        f"{_DROPOUT}y = jax.grad(drop, 1)(True, x)  # here\n",
        "in the mode for evaluation, under",
    ),
    (
        LeavesOut(),
        f"{_CALLBACK}    jax.pure_callback(g, jnp.float32(0), x)  # here\n    return x\n\nf(1.0)\n",
        "never ran",
    ),
    (MakesPairs(), "x = (jnp.ones((3, 1)) - jnp.ones(3)).sum()  # here\n", "rank promotion for subtract"),
    (
        StaysLocal(),
        f"{_MAPPED}    value = jax.lax.pmean(value, 'i')\n    return w - grads, value  # here{_CALLED}",
        "went through `pmean`, none of 1 gradients did",
    ),
    (
        MakesPairs(),
        "@jax.jit\ndef f(x, y):\n    return x * y  # here\n\nf(jnp.ones(4), jnp.ones((4, 1)))\n",
        "shapes",
    ),
    (Narrows(), "x = jnp.zeros(3, jnp.float64)\ny = jnp.ones(2, jnp.int64)  # here\n", "dtype int64"),
    (Narrows(), "@jax.jit\ndef f(x):\n    return x.astype('int64')  # here\n\nf(1)\n", "dtype int64"),
    (
        IgnoresVariable(),
        "import os\nos.environ['JAX_EXPLAIN_CACHE_MISSES'] = '0'  # here\n",
        "`jax.config.jax_explain_cache_misses` is False as before",
    ),
    (DropsResult(), "x = jnp.zeros(3)\njnp.sort(x)  # here\n", "`sort` made a new array"),
    (
        MakesNan(),
        "def f(x):\n    return jnp.where(x > 0, jnp.log(x), 0.0)  # here\n\njax.jit(jax.grad(f))(0.0)\n",
        "going back through line 6 raises FloatingPointError",
    ),
    (
        Unsynced(),
        "f = jax.jit(jnp.sin)\nt = time.perf_counter()\nf(1.0)\nspent = time.perf_counter() - t  # here\n",
        "nothing waited",
    ),
    (
        JitsAgain(),
        "def f(x):\n    return x\n\nfor _ in range(4):\n    jax.jit(f)(1.0)  # here\n",
        "`f` was jitted 4 times here, traced once, compiled once: JAX found its program again",
    ),
    (
        Retraces(),
        "def make(n):\n    return jax.jit(lambda x: x + n)\n\nfor n in range(3):\n    g = make(n)  # here\n    g(1.0)\n",
        "`<lambda>` was traced 3 times and compiled 3 times",
    ),
    (
        NeverHandles(),
        "@jax.jit\ndef f(x, y):\n    try:\n        return x / y\n    except ZeroDivisionError:  # here\n"
        "        return x\n\nf(1.0, 0.0)\n",
        "with Python's own values line 8 raises ZeroDivisionError",
    ),
    (
        Unrolls(),
        "@jax.jit\ndef f(x):\n    for row in x:  # here\n        x = x + row\n    return x\n\nf(jnp.eye(3))\n",
        "took 3 turns while JAX traced, and each of them added ",
    ),
    (
        Unsynced(),
        "import datetime\nf = jax.jit(jnp.sin)\nt = datetime.datetime.now()\nf(1.0)\n"
        "spent = datetime.datetime.now() - t  # here\n",
        "nothing waited for a result between",
    ),
    (  # what is compiled already runs no Python
        Unsynced(),
        "x = jnp.eye(7)\njnp.linalg.norm(x)\nt = time.time()\njnp.linalg.norm(x)\nspent = time.time() - t  # here\n",
        "nothing waited for a result between",
    ),
    (
        Unsynced(),
        "import timeit\nf = jax.jit(jnp.sin)\nspent = timeit.timeit(lambda: f(1.0), number=3)  # here\n",
        "nothing waited for a result between the clock readings at line 7",
    ),
    (
        Unsynced(),
        "f = jax.jit(jnp.sin)\nt = time.time()\ny = f(1.0).block_until_ready()\nz = f(y)\nspent = time.time() - t  # here\n",
        "nothing waited for `z` between",
    ),
    (Advisory("it is odd"), "x = 1  # here\n", "ran"),
]

ABSENT: list[tuple[Outcome, str]] = [
    (
        Raises(("jax.errors.TracerBoolConversionError",)),
        "@jax.jit\ndef f(x):\n    y = x + 1  # here\n    return x if y > 0 else -x\n\nf(1.0)\n",
    ),
    (RunsOnce(), "def f(x):\n    print(x)  # here\n    return x\n\nfor _ in range(3):\n    f(1.0)\n"),
    (RunsOnce(), "@jax.jit\ndef f(x):\n    print(x)  # here\n    return x\n\nf(1.0)\n"),
    (
        BakesConstant(),
        "RATE = 1.0\n@jax.jit\ndef f(x):\n    return x * RATE  # here\n\nanswer = [f(1.0), f(2.0)]\n",
    ),
    (
        BakesConstant(),
        "@jax.jit\ndef f(x):\n    y = x + 1  # here\n    return y if y > 0 else 0.0\n\nanswer = f(1.0)\n",
    ),
    (BakesConstant(), "import random\nx = 1  # here\nanswer = random.random()\n"),
    (
        Retraces(),
        "f = jax.jit(lambda x, n: x * n)\nfor n in range(4):\n    f(1.0, n)  # here\n",
    ),
    (
        Retraces(),
        "def f(x):\n    return x\n\nfor _ in range(3):\n    jax.jit(f)(1.0)  # here\n    jax.jit(lambda x: f(x))(1.0)\n",
    ),
    (
        Unrolls(),
        "def f(x):\n    for _ in range(40):  # here\n        pass\n    return jnp.sin(x)\n\nanswer = jax.make_jaxpr(f)(1.0)\n",
    ),
    (
        RepeatsDraw(),
        "a, b = jax.random.split(jax.random.key(0))\nx = jax.random.normal(a)\ny = jax.random.normal(b)  # here\n",
    ),
    (
        RepeatsDraw(),
        "key = jax.random.key(0)\na = jax.random.fold_in(key, 1)\nb = jax.random.fold_in(key, 2)  # here\n",
    ),
    (Retraces(), "def f(x):\n    return x\n\nfor _ in range(4):\n    jax.jit(f)(1.0)  # here\n"),
    (JitsAgain(), "for _ in range(4):\n    jax.jit(lambda x: x)(1.0)  # here\n"),
    (
        NeverHandles(),
        "@jax.jit\ndef f(x, y):\n    try:\n        return x / y\n    except ZeroDivisionError:  # here\n"
        "        return x\n\nf(1.0, 2.0)\n",
    ),
    (
        NeverHandles(),
        "@jax.jit\ndef f(x):\n    try:\n        return float(x)\n    except TypeError:  # here\n"
        "        return x\n\nf(1.0)\n",
    ),
    (
        Unrolls(),
        "@jax.jit\ndef f(x):\n    for row in x:  # here\n        pass\n    return x + 1\n\nf(jnp.eye(1))\n",
    ),
    (
        Unsynced(),
        "import timeit\nf = jax.jit(jnp.sin)\nspent = timeit.timeit(lambda: f(1.0).block_until_ready(), number=3)  # here\n",
    ),
    (
        Unsynced(),
        "f = jax.jit(jnp.sin)\nt = time.time()\ny = f(1.0)\nz = f(y).block_until_ready()\nspent = time.time() - t  # here\n",
    ),
    (
        RepeatsDraw(),
        "key = jax.random.key(0)\nother = jax.random.key(1)  # here\na = jax.random.normal(key)\n"
        "b = jax.random.uniform(key) + jax.random.normal(other)\n",
    ),
    (IgnoresBounds(), "x = jnp.arange(3)\ny = x[-3]  # here\n"),
    (DropsResult(), "x = jnp.zeros(3)\nx = x.at[0].set(1.0)  # here\n"),
    (Narrows(), "x = jnp.zeros(3, jnp.float32)  # here\ny = jnp.zeros(3, jnp.float64)\n"),
    (Cuts(), "x = jnp.arange(3).at[0].add(2)  # here\ny = jnp.arange(3).at[0].add(0.5)\n"),
    (Cuts(), "x = jnp.full_like(jnp.arange(3), 0.5, dtype=float)  # here\n"),
    (
        Widens(),
        "import numpy as np\n\nx = jnp.ones(3, jnp.bfloat16)\ny = x * 2.0 * jnp.ones(3)  # here\nz = x * np.float32(2)\n",
    ),
    (StopsSlope(), "def f(x):\n    return jnp.sum(x - jnp.round(x))  # here\n\njax.grad(f)(jnp.ones(2))\n"),
    (StopsSlope(), "y = jnp.round(jnp.ones(2))  # here\njax.grad(lambda x: jnp.sum(jnp.round(x)))(y)\n"),
    (StopsSlope(), "jax.grad(lambda x: jnp.sum(jax.nn.relu(x) + jnp.round(x)))(-jnp.ones(2) / 9)  # here\n"),
    (RunsInMode("evaluated"), f"{_DROPOUT}y = drop(True, x)  # here\nz = drop(False, x)\n"),
    (RunsInMode("trained"), f"{_DROPOUT}y = jax.grad(drop, 1)(False, x)  # here\n"),
    (RunsInMode("trained"), f"{_DROPOUT}y = drop(True, x)  # here\n"),
    (LeavesOut(), f"{_CALLBACK}    return jax.pure_callback(g, jnp.float32(0), x)  # here\n\nf(1.0)\n"),
    (
        LeavesOut(),
        f"{_CALLBACK}    y = jax.pure_callback(g, jnp.float32(0), x)\n    return x  # here\n\nf(1.0)\n",
    ),
    (MakesPairs(), "x = jnp.ones((3, 1)) - jnp.ones(4)  # here\ny = jnp.ones((3, 1)) - jnp.ones(3)\n"),
    (MakesPairs(), "x = jnp.ones((3, 1)) - jnp.ones((3, 1))  # here\n"),
    (StaysLocal(), f"{_MAPPED}    return w - grads, value  # here{_CALLED}"),
    (
        StaysLocal(),
        f"{_MAPPED}    value, grads = jax.lax.pmean((value, grads), 'i')\n    return w - grads, value  # here{_CALLED}",
    ),
    (
        StaysLocal(),
        f"{_MAPPED}    value = jax.lax.pmean(value, 'i')\n    return w - jax.lax.pmean(2 * grads, 'i'), value  # here{_CALLED}",
    ),
    (Narrows(), "import warnings\nx = jnp.zeros(3)  # here\nwarnings.warn('dtype float64')\n"),
    (DropsResult(), "x = jnp.zeros(3)\nprint(x.at[0].set(1.0))  # here\n"),
    (IgnoresVariable(), "import os\nos.environ['MY_EXPLANATION'] = '0'  # here\n"),
    (
        MakesNan(),
        "def f(x):\n    safe = jnp.where(x > 0, x, 1.0)\n    return jnp.where(x > 0, jnp.log(safe), 0.0)  # here\n\n"
        "jax.grad(f)(0.0)\n",
    ),
    (
        MakesNan(),
        "def f(x):\n    y = x * 2.0  # here\n    return jnp.where(y > 0, jnp.log(y), x)\n\njax.grad(f)(0.0)\n",
    ),
    (MakesNan(), "def f(x):\n    return jnp.where(x > 0, 1 / x, 0.0)  # here\n\nf(jnp.zeros(2))\n"),
    (
        Unsynced(),
        "f = jax.jit(jnp.sin)\nt = time.perf_counter()\nf(1.0).block_until_ready()\nspent = time.perf_counter() - t  # here\n",
    ),
    (
        Unsynced(),
        "f = jax.jit(jnp.sin)\nt = time.perf_counter()\nnp.asarray(f(1.0))\nspent = time.perf_counter() - t  # here\n",
    ),
]


def _id(case: tuple[object, ...]) -> str:
    return f"{type(case[0]).__name__}: {str(case[1])[-40:]}"


@pytest.mark.parametrize("case", SHOWN, ids=_id)
def test_effect_is_seen(case: tuple[Outcome, str, str]) -> None:
    outcome, source, part = case
    observed, statement = runs(source)
    found = evidence(outcome, statement, observed)
    assert found is not None, observed.jitted.raised
    assert part in found


@pytest.mark.parametrize("case", ABSENT, ids=_id)
def test_nothing_is_seen_next_to_it(case: tuple[Outcome, str]) -> None:
    outcome, source = case
    observed, statement = runs(source)
    around = [*statement.places, *statement.tried_places]
    assert any(observed.jitted.lines[place] for place in around), "the line must run"
    assert evidence(outcome, statement, observed) is None


@pytest.mark.parametrize(
    ("outcome", "source"),
    [
        (RunsOnce(), "@jax.jit\ndef f(x):\n    return x\n\nanswer = f(1.0)\n"),
        (Retraces(), "f = jax.jit(lambda x: x)\nfor _ in range(5):\n    f(1.0)\n"),
        (RepeatsDraw(), "answer = jax.random.normal(jax.random.key(0))\n"),
        (IgnoresBounds(), "x = jnp.arange(3)\nanswer = x[1]\n"),
        (Narrows(), "answer = jnp.zeros(3, float)\n"),
        (Cuts(), "answer = jnp.full_like(jnp.ones(3), 0.5).at[0].set(0.2)\n"),
        (StopsSlope(), "answer = jax.grad(lambda x: x - jnp.round(x))(1.0)\n"),
        (MakesNan(), "answer = jax.grad(lambda x: jnp.where(jnp.isnan(x / 0.0 * 0.0), x, x))(1.0)\n"),
    ],
)
def test_clean_programs_are_free_of_incidents(outcome: Outcome, source: str) -> None:
    assert incident(outcome, runs(source)[0]) is None


@pytest.mark.parametrize(
    ("outcome", "source"),
    [
        (
            RunsOnce(),
            "N = 0\n@jax.jit\ndef f(x):\n    global N\n    N += 1\n    return x\n\nf(1.0)\nf(1.0)\nanswer = N\n",
        ),
        (Retraces(), "for _ in range(3):\n    jax.jit(lambda x: x)(1.0)\n"),
        (RepeatsDraw(), "k = jax.random.key(0)\njax.random.normal(k)\njax.random.normal(k)\n"),
        (IgnoresBounds(), "x = jnp.arange(3)\nanswer = x[4]\n"),
        (Narrows(), "answer = jnp.zeros(3, jnp.int64)\n"),
        (StopsSlope(), "answer = jax.grad(lambda x: jnp.round(x))(1.0)\n"),
        (MakesNan(), "answer = jax.grad(lambda x: jnp.sqrt(x * 0.0))(1.0)\n"),
        (Unrolls(), "answer = 1 / 0\n"),
    ],
)
def test_incidents_are_said(outcome: Outcome, source: str) -> None:
    assert incident(outcome, runs(source)[0])
