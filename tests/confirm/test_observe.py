"""Observing disturbs neither the program nor what runs afterwards."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import jax
import pytest

from jitlint.confirm.watch.observe import observe
from tests.confirm.programs import runs


def test_everything_is_as_before() -> None:
    before = (
        time.time,
        jax.jit,
        jax.lax.scan,
        sys.gettrace(),
        sys.stdout,
        jax.config.jax_traceback_filtering,
    )
    for jit in (True, False):
        observe(lambda: jax.jit(lambda x: x)(1.0), lambda name: True, jit=jit)
    assert before == (
        time.time,
        jax.jit,
        jax.lax.scan,
        sys.gettrace(),
        sys.stdout,
        jax.config.jax_traceback_filtering,
    )
    assert not jax.config.jax_disable_jit


def test_output_is_kept_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    seen = observe(lambda: print("hello"), lambda name: False)
    assert seen.output == "hello\n"
    assert capsys.readouterr().out == ""


def test_endless_output_is_cut() -> None:
    def talk() -> None:
        for _ in range(100):
            print("x" * 100_000)

    assert len(observe(talk, lambda name: False).output) < 3_000_000


def test_leaving_the_program_is_recorded() -> None:
    raised = runs("import sys\nsys.exit(3)\n")[0].jitted.raised
    assert raised is not None
    assert (raised.kind, raised.message) == ("SystemExit", "3")


def test_exceptions_that_are_handled_are_recorded() -> None:
    seen = runs("try:\n    {}['k']\nexcept KeyError:\n    pass\nanswer = 1\n")[0].jitted
    assert seen.value == 1
    assert [error.kind for error in seen.errors] == ["KeyError"]


def test_what_a_library_refuses_is_recorded_where_it_was_used_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project may be the library itself, with its examples beside it."""
    (tmp_path / "refusing").mkdir()
    (tmp_path / "refusing" / "__init__.py").write_text("from refusing.deep import ask, Refused\n")
    deep = "class Refused(Exception):\n    pass\n\ndef ask():\n    inner()\n\ndef inner():\n    raise Refused('no')\n"
    (tmp_path / "refusing" / "deep.py").write_text(deep)
    use = "from refusing import ask, Refused\n\ndef run():\n    try:\n        outer()\n    except Refused:\n        pass\n\ndef outer():\n    ask()\n"
    (tmp_path / "use_refusing.py").write_text(use)
    monkeypatch.syspath_prepend(str(tmp_path))
    run = importlib.import_module("use_refusing").run
    seen = observe(run, lambda name: name.startswith(str(tmp_path)))
    assert [(error.kind, Path(error.places[0][0]).name, error.places[0][1]) for error in seen.errors] == [
        ("refusing.deep.Refused", "deep.py", 8),
        ("refusing.deep.Refused", "use_refusing.py", 10),
    ]


def test_numbers_are_arrays_without_jit_too() -> None:
    observed, _ = runs(
        "@jax.jit\ndef f(x):\n    return x.shape == () and x * 2\n\nanswer = f(1.5).block_until_ready()\n"
    )
    assert observed.eager.raised is None
    assert float(observed.eager.value) == float(observed.jitted.value) == 3.0


def test_static_arguments_stay_what_they_are_without_jit() -> None:
    source = (
        "from functools import partial\n@partial(jax.jit, static_argnames='n')\ndef f(x, n):\n"
        "    return jnp.zeros(n).sum() + x\n\nanswer = f(1.0, 3) + f(1.0, n=2)\n"
    )
    observed, _ = runs(source)
    assert observed.eager.raised is None


def test_a_container_stays_the_callers_own_without_jit() -> None:
    source = "state = {'n': 0}\n@jax.jit\ndef f(s):\n    s['n'] = 1\n    return 0\n\nf(state)\nanswer = state['n']\n"
    observed, _ = runs(source)
    assert (observed.jitted.value, observed.eager.value) == (0, 1)
