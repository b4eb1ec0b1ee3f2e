"""Values that hold themselves, or one part very often, are walked through in a moment and keep their tracers."""

from __future__ import annotations

import pytest

from jitlint.infer.sizes import MAX_SIZE, fitting, flat, is_large
from jitlint.infer.values import UNKNOWN, Arr, Map, S, Seq, Tree, Tup, Value
from tests.link.sources import run

KEYS = "".join(f'    d["k{n}"] = d\n' for n in range(10))
OTHER = KEYS.replace("= d", "= d if c else e")
MUTUAL = "".join(f'    d["k{n}"] = e\n    e["k{n}"] = d\n' for n in range(10))
APPENDS = "    t.append(t if x is None else x)\n" * 50
WIDE = "".join(
    f"    a{n + 1} = {{" + ", ".join(f'"k{k}": a{n}' for k in range(10)) + "}\n" for n in range(12)
)
PROGRAMS = {
    "a dict in itself": f"@jit\ndef f(x):\n    d = {{}}\n{KEYS}    return d\nf(1.0)\n",
    "one that a trace is handed": f"def f(d):\n{KEYS}    return d\nd = {{}}\nf(d)\njit(lambda a: a)(d)\n",
    "one that is mapped": (
        f"@jit\ndef f(x):\n    d = {{'x': x}}\n{KEYS}    return jax.tree.map(lambda a: a + 1, d)\nf(1.0)\n"
    ),
    "perhaps in itself": (
        f"@jit\ndef f(x, c=True):\n    d = {{'x': x}}\n    e = {{'y': x}}\n{OTHER}    return d\nf(1.0)\n"
    ),
    "dicts in each other": f"@jit\ndef f(x):\n    d, e = {{'x': x}}, {{}}\n{MUTUAL}    return d, e\nf(1.0)\n",
    "a list in itself": f"@jit\ndef f(x):\n    t = []\n{APPENDS}    return t\nf(1.0)\n",
    "perhaps a list in itself": (
        f"def g(x):\n    t = []\n{APPENDS}    return t\ng(unheard)\n@jit\ndef f(x):\n    return g(unheard), g(x)\nf(1.0)\n"
    ),
    "one part very often": f"@jit\ndef f(x):\n    a0 = {{'x': x}}\n{WIDE}    return jax.tree.map(abs, a12)\nf(1.0)\n",
}


@pytest.mark.parametrize("source", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_end_soon(source: str) -> None:
    found = run(source)
    assert found.traced


def test_an_error_beside_a_dict_in_itself_is_found() -> None:
    found = run(f"@jit\ndef f(x):\n    d = {{'x': x}}\n{KEYS}    return 1 if d['x'] else 2\nf(1.0)\n")
    assert len(found.events) == 1


def test_what_is_cut_keeps_its_tracers() -> None:
    box = Map({"x": Arr(S, level=1)})
    cut = fitting(box, Tup((box,)))
    assert type(cut) is Tree and cut.modes == S and cut.level == 1
    assert fitting(box, Map({})) is not UNKNOWN
    assert flat(Seq("list", [])) is UNKNOWN


def test_size_is_what_there_is_to_walk_through() -> None:
    value: Value = Arr(S)
    for _ in range(7):
        value = Tup((value,) * 10)
    assert is_large(value)
    assert is_large(Tup((value,) * (MAX_SIZE + 1)))
    assert not is_large(Tup((Arr(S),) * 1000))
