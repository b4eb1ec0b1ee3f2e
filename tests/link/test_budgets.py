"""Budgets never change an answer in silence: calls beyond them are coarser, whatever came first."""

from __future__ import annotations

import itertools
import random

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import LimitMet, Truth
from jitlint.link.engine import budgets
from jitlint.link.program import Analysis
from tests.link.sources import run, run_all


@pytest.fixture(autouse=True)
def cramped(monkeypatch: pytest.MonkeyPatch) -> None:
    """These programs are small, and are to meet the limits of large ones."""
    monkeypatch.setattr(budgets, "MOST_ROOM", 1)


HELPERS = {
    "factory": """
def make(config, scale):
    def step(x):
        y = x * scale
        return config.check(y) if config.checked else y
    a = b = c = d = e = scale
    print(a + b + c + d + e, [a, b, c, d, e], {"a": a, "b": b, "c": c})
    return step

class Config:
    def __init__(self, checked):
        self.checked = checked

    def check(self, y):
        return y if y.sum() > 0 else -y
""",
    "helper": """
def choose(x, n, flag):
    y = x * n
    return y if flag else -y
""",
}
HARMLESS = {
    "factory": "from helpers import make, Config\n"
    + "".join(f"f{n} = make(Config(False), {n})\nf{n}(jnp.ones(3))\n" for n in range(30)),
    "helper": "from helpers import choose\n@jit\ndef use(x):\n    out = x\n"
    + "".join(f"    out = out + choose(x, {n}, True)\n" for n in range(90))
    + "    return out\nuse(jnp.ones(3))\n",
}
REAL = {
    "factory": "from helpers import make, Config\ntrain = jit(make(Config(True), 99))\ntrain(jnp.ones(3))\n",
    "helper": (
        "from helpers import choose\n@jit\ndef train(x):\n    return choose(x, 99, x > 0)\ntrain(jnp.ones(3))\n"
    ),
}


def told(found: Analysis) -> list[tuple[str, str, Confidence]]:
    """What is found, and how sure it is."""
    return sorted(
        (type(e).__name__, e.place.function, e.place.confidence)
        for e in found.events
        if not isinstance(e, LimitMet)
    )


@pytest.mark.parametrize("case", HELPERS)
@pytest.mark.parametrize(("harmless", "real"), [("a_use", "z_train"), ("z_use", "a_train")])
def test_many_harmless_calls_hide_no_error(case: str, harmless: str, real: str) -> None:
    found = run_all(**{"helpers": HELPERS[case], harmless: HARMLESS[case], real: REAL[case]})
    function = {"factory": "Config.check", "helper": "choose"}[case]
    assert [(name, where) for name, where, _ in told(found)] == [("Truth", function)]
    assert all(level is not Confidence.POSSIBLE for _, _, level in told(found))


def test_the_order_of_the_functions_does_not_matter() -> None:
    calls = [f"@jit\ndef f{n}(x):\n    return choose(x, {n}, {n % 2 == 0})\nf{n}(2.0)\n" for n in range(60)]
    calls += ["@jit\ndef real(x):\n    return choose(x, 0, x > 0)\nreal(2.0)\n"]
    answers = set()
    for seed in range(4):
        random.Random(seed).shuffle(calls)
        answers.add(tuple(told(run(HELPERS["helper"] + "\n".join(calls)))))
    assert answers == {(("Truth", "choose", Confidence.CERTAIN),)}


def test_what_only_lost_numbers_decide_is_no_finding() -> None:
    calls = "".join(f"    out = out + power(x, {n})\n" for n in range(90))
    found = run(f"""
def power(x, n):
    if n > 1000:
        return bool(x)
    return x ** n

@jit
def use(x):
    out = x
{calls}
    return out

use(2.0)
""")
    assert {level for _, _, level in told(found)} <= {Confidence.POSSIBLE}
    assert ("contexts", "power") in {
        (e.limit, e.place.function) for e in found.events if isinstance(e, LimitMet)
    }
    assert found.notes["limits met: contexts"] > 0


def test_an_error_behind_a_long_chain_of_calls_is_found() -> None:
    chain = "\n".join(f"def f{n}(x):\n    return f{n + 1}(x)\n" for n in range(70))
    found = run(f"{chain}\ndef f70(x):\n    return bool(x)\n\njit(f0)(2.0)\n")
    assert [(name, where) for name, where, _ in told(found)] == [("Truth", "f70")]


CHANGES = """
class Count:
    def __init__(self):
        self.total = 0
        self.last = None

    def add(self, n, value):
        self.total = self.total + n
        self.last = value

@jit
def use(x):
    count = Count()
{calls}
    if count.last:
        return x
    return -x

use(2.0)
"""


def test_what_a_coarse_call_changes_is_changed() -> None:
    calls = "".join(f"    count.add({n}, None)\n" for n in range(90)) + "    count.add(90, x)\n"
    assert [e for e in run(CHANGES.format(calls=calls)).events if isinstance(e, Truth)]
    calls += "    count.add(91, None)\n"
    assert [e for e in run(CHANGES.format(calls=calls)).events if isinstance(e, Truth)] == []


def test_a_surer_call_is_not_answered_by_a_less_sure_one() -> None:
    """A guess comes first, then the same call for certain, and the other way around."""
    body = "def check(x):\n    return x if x > 0 else -x\n\n"
    parts = [
        "def guessed(x, flag):\n    if isinstance(unheard(), int):\n        return check(x)\n    return x\njit(guessed, static_argnums=1)(2.0, 1)\n",
        "@jit\ndef sure(x):\n    return check(x)\nsure(2.0)\n",
    ]
    for order in itertools.permutations(parts):
        found = run("from elsewhere import unheard\n" + body + "\n".join(order))
        assert told(found) == [("Truth", "check", Confidence.CERTAIN)]


LIMITED = {
    "trials": (
        "loss",
        "p = {{{leaves}}}\ndef loss(p):\n    return sum(p.values()) + jnp.sign(p['a0'])\njax.grad(loss)(p)\n",
    ),
    "contexts": (
        "f",
        "def f(x, n):\n    a = b = c = d = e = n\n    return x\n@jit\ndef g(x):\n{calls}    return x\ng(1.0)\n",
    ),
    "calls": (
        "f",
        "def f(x, n):\n    a = b = c = d = e = n\n    return x\n@jit\ndef g(x):\n{nested}    return x\ng(1.0)\n",
    ),
    "depth": (
        "f",
        "def f(x, n):\n    return f((x, (n, lambda: n)), lambda: f)\n@jit\ndef g(x):\n    return h0(x)\n{chain}g(1.0)\n",
    ),
    "size": ("f", "def f(x):\n    return x\n@jit\ndef g(x):\n    return f({large})\ng(1.0)\n"),
    "turns": (
        "f",
        "def f(x, n):\n    a = b = c = d = e = 1\n    while n():\n        a, b, c, d, e = x, a, b, c, d\n    return e\nf('', 1)\n",
    ),
}


def _many(limit: str) -> str:
    calls = "".join(f"    f(x, {n})\n" for n in range(90))
    kinds = ["1", "''", "None", "x", "f", "jnp", "True"]
    nested = "".join(f"    f(x, ({a}, {b}, {c}))\n" for a in kinds for b in kinds for c in kinds)
    chain = (
        "".join(f"def h{n}(x):\n    return h{n + 1}(x)\n" for n in range(250))
        + "def f(x):\n    return x\nh250 = f\n"
    )
    large = "(" + ("(" + "(x,), " * 70 + "), ") * 70 + ")"
    leaves = ", ".join(f"'a{n}': 1.0" for n in range(60))
    return LIMITED[limit][1].format(calls=calls, nested=nested, chain=chain, large=large, leaves=leaves)


@pytest.mark.parametrize("limit", LIMITED)
def test_every_limit_is_named_with_its_place(limit: str) -> None:
    found = run(_many(limit))
    met = {e.limit: e for e in found.events if isinstance(e, LimitMet)}
    assert limit in met
    assert met[limit].place.module == "case"
    assert found.notes[f"limits met: {limit}"] >= met[limit].times > 0


def test_small_programs_have_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a large program would merge is told apart, so that no limit is met, and the last of many calls says what it gives."""
    calls = "\n".join(f"fit([{n}, 'name {n}'], {{'n': {n}}}, {n}.0)" for n in range(24))
    source = f"""
def fit(names, table, x):
    print(names, [names, x], {{"names": names}}, x + x + x + x)
    return [x * number for number in table.values()]

{calls}
"""
    met = [run(source).notes.get("limits met: contexts", 0)]
    monkeypatch.undo()
    met.append(run(source).notes.get("limits met: contexts", 0))
    assert met[0] > 0 == met[1]
