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

from jitlint.base.outcome import Raises
from jitlint.driver.registry import rules
from jitlint.fix.cures import CURES
from tests.fix.repairing import PROGRAMS, repaired_fixtures

# Another result is what these fixes are for: an update that counts, other random numbers, an answer that is right. What
# the last one returns is times.
OTHERWISE = ("JIT403", "JIT601", "JIT112", "JIT701")
# Rules whose own fixtures show a comment, a name, a program that is not run, or lack what the file has to import.
_IN_PROGRAMS = {
    "JIT004": ("comments.py", "case_comment"),
    "JIT103": ("more.py", "case_assert"),
    "JIT206": ("forms.py", "case_lists_of_turns"),
    "JIT702": ("names.py", "case_norm"),
}


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


def all_cases() -> list[tuple[Path, str]]:
    return [
        (path, case)
        for path, text in sorted(repaired_fixtures().texts.items())
        for case in re.findall(r"^def (case_\w+)\(\)", text, re.MULTILINE)
    ]


@pytest.mark.parametrize(
    ("path", "case"),
    [pytest.param(path, case, id=f"{path.parent.name}/{path.name}::{case}") for path, case in all_cases()],
)
def test_fixed_code_does_what_the_code_says(path: Path, case: str) -> None:
    """What ran gives the same as before; what JAX refused gives what it gives without tracing, or is still reported."""
    was_raised, _, _ = _run(path, case, False, True)
    raised, line, result = _run(path, case, True, True)
    if raised:
        left = [each for each in repaired_fixtures().left if Path(each.path).absolute() == path]
        places = {number for each in left for number in range(each.span.line, each.span.end_line + 1)}
        assert line in places or raised == was_raised, f"{raised} at line {line} of the fixed text"
        return
    if path.parent.name[:6] in OTHERWISE:
        return
    wanted, before = _expected(path, case)
    if wanted:
        _assert_close(result, before)


def _expected(path: Path, case: str) -> tuple[bool, Any]:
    """Whether it is known what a case gives, and what: as before, without tracing, or fixed without tracing."""
    for fixed, jitted in ((False, True), (False, False), (True, False)):
        raised, _, result = _run(path, case, fixed, jitted)
        if not raised:
            return True, result
    return False, None


def _compares(path: Path, case: str) -> bool:
    """Whether the results of a case are numbers that were compared."""
    is_known, before = _expected(path, case)
    return is_known and are_numbers(_run(path, case, True, True)[2], before)


def _assert_close(a: Any, b: Any) -> None:
    if not are_numbers(a, b):
        return
    np.testing.assert_allclose(_flat(a), _flat(b), rtol=1e-5)


def are_numbers(a: Any, b: Any) -> bool:
    leaves = [*jax.tree.leaves(a), *jax.tree.leaves(b)]
    kinds = (jax.Array, np.ndarray, np.generic, int, float, complex)
    return all(isinstance(each, kinds) and not _is_key(each) for each in leaves)


def _flat(tree: Any) -> Any:
    return np.concatenate([np.ravel(each) for each in jax.tree.leaves(tree)] or [np.zeros(0)])


def _is_key(value: Any) -> bool:
    return isinstance(value, jax.Array) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


@pytest.mark.parametrize(
    ("name", "case"),
    [
        (name, case)
        for name in ("forms.py", "more.py")
        for case in re.findall(r"^def (case_\w+)", (PROGRAMS / name).read_text(), re.MULTILINE)
    ],
)
def test_programs_run_through(name: str, case: str) -> None:
    """The programs of this folder hold what can be fixed, so all of it has to run."""
    raised, line, _ = _run(PROGRAMS / name, case, True, True)
    assert not raised, f"{raised} at line {line}"


@pytest.mark.parametrize("code", sorted(CURES))
def test_each_rule_is_shown_to_cure(code: str) -> None:
    """Of each rule, a mistake that JAX refuses runs when it is fixed, and gives what the code gives without tracing; one
    that it lets pass gives the same as before."""
    is_refused = isinstance(rules()[code].outcome, Raises)
    cases = [(path, case) for path, case in all_cases() if path.parent.name[:6] == code]
    if code in _IN_PROGRAMS:
        name, case = _IN_PROGRAMS[code]
        cases = [(PROGRAMS / name, case)]
    shown = [
        case
        for path, case in cases
        if (_raises(path, case) or not is_refused)
        and not _run(path, case, True, True)[0]
        and (code in OTHERWISE or _compares(path, case))
    ]
    assert shown


def _raises(path: Path, case: str) -> bool:
    return bool(_run(path, case, False, True)[0])


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
