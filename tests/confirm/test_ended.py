"""Where a run ended says the same whichever findings were asked about, and is no trouble with an import."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.confirm.project import confirmed, write

pytest.importorskip("jax", reason="proof needs JAX")

TOP = """
    import jax


    def outer(model):
        @jax.jit
        def inner(x):
            if x > model.limit():
                return x
            return -x

        return inner


    {stop}
    outer(model)(1.0)
    jax.jit(lambda y: float(y))(2.0)
    """


@pytest.mark.parametrize("selected", ["JIT101", "JIT101,JIT108"])
def test_a_script_that_stops_elsewhere(selected: str, tmp_path: Path) -> None:
    write(tmp_path, {"script.py": TOP.format(stop='model = open("/nonexistent/data.txt")')})
    found = confirmed(tmp_path, "--no-cache", "--select", selected, "script.py")
    branch = next(item for item in found if item["code"] == "JIT101")
    assert branch["verdict"] == "not-reached"
    assert branch["evidence"].startswith("the run ended before, at line 15 of script.py: FileNotFoundError: ")


@pytest.mark.parametrize("selected", ["JIT101", "JIT101,JIT108"])
def test_what_is_not_there_is_named_as_such(selected: str, tmp_path: Path) -> None:
    write(tmp_path, {"script.py": TOP.format(stop="from not_installed_anywhere import model")})
    found = confirmed(tmp_path, "--no-cache", "--select", selected, "script.py")
    branch = next(item for item in found if item["code"] == "JIT101")
    assert branch["verdict"] == "could-not-import"
    assert branch["evidence"] == "ModuleNotFoundError: No module named 'not_installed_anywhere'"
