"""JAX raises in exactly those Python cases for which the analysis must observe something."""

from __future__ import annotations

import itertools
import sys
from types import ModuleType

import jax.numpy as jnp
import pytest

from tests.link.python_cases import CASES, Case

_NUMBERS = itertools.count()


def _raised(case: Case) -> TypeError | IndexError | None:
    """What calling ``f`` raises; every tracing error is one of these. Dataclasses look their module up."""
    module = ModuleType(f"python_case_{next(_NUMBERS)}")
    sys.modules[module.__name__] = module
    try:
        exec(compile(case.source, module.__name__, "exec"), module.__dict__)
        x = jnp.array([3.0]) if case.transform == "vmap" else 3.0
        module.f(x, 3, jnp.array([1.0, -2.0, 3.0, 4.0]), jnp.array([0, 2, 1, 2]), True)
    except (TypeError, IndexError) as error:
        return error
    finally:
        del sys.modules[module.__name__]
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.transform}: {case.body}")
def test_jax_agrees(case: Case) -> None:
    assert bool(_raised(case)) is bool(case.events)
