"""What was fixed runs under real JAX, and gives what the code gives without tracing."""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tests.fix.repairing import PROGRAMS, repaired_fixtures

# Another result is what these fixes are for: an update that counts, other random numbers, an answer that is right. What
# the last one returns is times.
_OTHERWISE = ("JIT403", "JIT601", "JIT112", "JIT701")


def _module(path: Path, text: str) -> types.ModuleType:
    module = types.ModuleType(f"fixed_{path.parent.name}_{path.stem}")
    sys.modules[module.__name__] = module
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


@functools.cache
def _run(path: Path, case: str, fixed: bool, jitted: bool) -> tuple[str, int, Any]:
    """What was raised and at which line, and what was returned."""
    outcome = repaired_fixtures()
    text = outcome.texts[path] if fixed else outcome.before[path]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            module = _module(path, text)
            with contextlib.nullcontext() if jitted else jax.disable_jit():
                result = getattr(module, case)()
                jax.block_until_ready(result)
    except Exception as error:
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == str(path)]
        return type(error).__name__, frames[-1].lineno or 0 if frames else 0, None
    return "", 0, result


def _cases() -> list[Any]:
    outcome = repaired_fixtures()
    return [
        pytest.param(path, case, id=f"{path.parent.name}/{path.name}::{case}")
        for path, text in sorted(outcome.texts.items())
        for case in re.findall(r"^def (case_\w+)\(\)", text, re.MULTILINE)
    ]


@pytest.mark.parametrize(("path", "case"), _cases())
def test_fixed_code_does_what_the_code_says(path: Path, case: str) -> None:
    """What ran gives the same as before; what JAX refused gives what it gives without tracing, or is still reported."""
    was_raised, _, before = _run(path, case, False, True)
    raised, line, result = _run(path, case, True, True)
    if raised:
        left = [each for each in repaired_fixtures().left if Path(each.path).absolute() == path]
        places = {number for each in left for number in range(each.span.line, each.span.end_line + 1)}
        assert line in places or raised == was_raised, f"{raised} at line {line} of the fixed text"
        return
    if path.parent.name[:6] in _OTHERWISE:
        return
    if was_raised:
        was_raised, _, before = _run(path, case, False, False)
    if was_raised:
        was_raised, _, before = _run(path, case, True, False)
    if not was_raised:
        _assert_close(result, before)


def _assert_close(a: Any, b: Any) -> None:
    left, right = jax.tree.leaves(a), jax.tree.leaves(b)
    numbers = [
        each for each in (*left, *right) if isinstance(each, (jax.Array, np.ndarray, int, float, complex))
    ]
    if len(numbers) != len(left) + len(right) or any(_is_key(each) for each in numbers):
        return
    np.testing.assert_allclose(
        np.concatenate([np.ravel(each) for each in left] or [np.zeros(0)]),
        np.concatenate([np.ravel(each) for each in right] or [np.zeros(0)]),
        rtol=1e-5,
    )


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


@pytest.mark.parametrize(
    "case", re.findall(r"^def (case_\w+)", (PROGRAMS / "more.py").read_text(), re.MULTILINE)
)
def test_programs_run_through(case: str) -> None:
    """The programs of this folder hold what can be fixed, so all of it has to run."""
    raised, line, _ = _run(PROGRAMS / "more.py", case, True, True)
    assert not raised, f"{raised} at line {line}"


def test_messages_are_those_that_print_would_give(capfd: pytest.CaptureFixture[str]) -> None:
    path = PROGRAMS / "printing.py"
    outcome = repaired_fixtures()
    module = _module(path, outcome.texts[path])
    module.case_print()
    jax.effects_barrier()
    shown = capfd.readouterr().out.splitlines()
    assert sorted(shown) == sorted(
        [
            "x 1.5",
            "1.5, 2.0",
            "{braces} 1.5.",
            "1.5 and 2.000 1.5",
            "1.5 of 2.00 is 100% 1.5",
            "1.5 then 2.0",
            "3.5",
            'quoted "twice" 1.5',
            "a1.5 1.5",
        ]
    )


@pytest.mark.parametrize(("case", "at"), [("guarded", 4.0), ("grades", 0.5)])
def test_gradients_are_those_without_tracing(case: str, at: float) -> None:
    path = PROGRAMS / "more.py"
    fixed = getattr(_module(path, repaired_fixtures().texts[path]), case)
    original = getattr(_module(path, repaired_fixtures().before[path]), case)
    with jax.disable_jit():
        expected = jax.grad(original)(at)
    np.testing.assert_allclose(jax.grad(fixed)(at), expected)
