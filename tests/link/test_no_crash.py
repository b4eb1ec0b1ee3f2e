"""Whatever the program, the analysis ends without an exception and says the same again."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import jax.numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jitlint.driver.processes.deep import on_deep_stack
from jitlint.link.program import Analysis, ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from tests.link.programs import Writer

EVERYTHING = Options(include_possible=True)


def module_of(name: str, source: str) -> ModuleInput:
    """A module to analyse; its text must be Python."""
    module = lower(source)
    assert isinstance(module, ir.Module), (name, module)
    return ModuleInput(name, f"{name}.py", False, ir.encode_module(module), False)


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_no_program_breaks_the_analysis(rng: random.Random) -> None:
    module = module_of("case", Writer(rng).module())
    first, second = (analyse([module], EVERYTHING) for _ in range(2))
    assert first.failures == {}
    assert first.events == second.events
    assert first.traced == second.traced
    assert {event.place.module for event in first.events} <= {"case"}


# What foreign files once broke, reduced.
ODD = {
    "object called through itself": "class A:\n    pass\n\n\nA.__call__ = A()\na = A()\na()\n",
    "the same in a function": "def f():\n    class A:\n        pass\n\n    A.__call__ = A()\n    A()()\n",
    "large array that a loop binds": (
        "import jax\nfor table in [jax.numpy.zeros(9)]:\n    pass\n\n\n"
        "@jax.jit\ndef f(x):\n    return x + table\n\n\nf(1)\n"
    ),
    "list that doubles": "x = [1]\n" + "x = x + x\n" * 60 + "x = x[::-1]\n",
    "hash of tuples that share their parts": (
        "import jax\n\n\n@jax.jit\ndef f(x):\n    a, b = x, 1\n"
        + "    a, b = (a, b), (b, a)\n" * 60
        + "    return {a: 1}\n"
    ),
    "axes in an order that the array does not have": (
        "import jax.numpy as jnp\n\nn = 3\njnp.ones((2, 3)).transpose(0, n)\njnp.transpose(jnp.ones((2, 3)), (0, n))\n"
    ),
    "empty tuple as an index": (
        "import jax\n\n\n@jax.jit\ndef f(x):\n    return x\n\n\nx = jax.numpy.ones(3)\nfor i in range(9):\n    f(x[()])\n"
    ),
    "class method of an unknown receiver": (
        "class A:\n    @classmethod\n    def m(cls): pass\n\n\n"
        "class B(A):\n    def f(self):\n        return super().m()\n\n\nB.f(open('x'))\n"
    ),
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_programs(text: str) -> None:
    assert analyse([module_of("case", text)], EVERYTHING).failures == {}


FOLDERS = {
    "standard library": Path(sysconfig.get_path("stdlib")),
    "jax.numpy": Path(jax.numpy.__file__).parents[1] / "_src" / "numpy",
}


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=FOLDERS)
def test_real_modules_do_not_break_the_analysis(folder: Path) -> None:
    paths = [path for path in sorted(folder.glob("*.py")) if path.stat().st_size < 50_000]
    assert len(paths) > 10
    modules = [module_of(path.stem, path.read_text(encoding="utf-8")) for path in paths[:120]]

    def run() -> Analysis:
        return analyse(modules, EVERYTHING)

    analysis = on_deep_stack(run)
    assert analysis.failures == {}
    assert analysis.notes["functions"] > 200
