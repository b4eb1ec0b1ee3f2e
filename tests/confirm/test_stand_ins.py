"""Stand-ins take what happens while modules are imported, and refuse to take part in anything else."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from jitlint.confirm.loading import Loader
from jitlint.confirm.stand_ins import StandIns, StandInUsed, missing_module
from jitlint.confirm.testing import _Chosen
from tests.confirm.project import confirmed, write

MODULE = """
from typing import Union

import notthere.deep as deep
from notthere import Base, decorate, settings

LIMIT = settings["limit"]
deep.config.level = 3
register = deep.register("name")


@decorate(fast=True)
def decorated(x):
    return x


class Model(Base):
    def score(self, x):
        return x


def free(x: Union[int, deep.Array, Base] | deep.Array):
    return x + 1 if not isinstance(x, Base) else x


def needs(x):
    return deep.f(x)


def compares(x):
    return x if x > LIMIT else -x
"""


@pytest.fixture
def ins() -> Iterator[StandIns]:
    found = StandIns(lambda file: file.endswith("needing.py"))
    yield found
    found.remove()
    with contextlib.suppress(ValueError):
        sys.meta_path.remove(found)


def _load(folder: Path, text: str = MODULE) -> ModuleType:
    path = folder / "needing.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("needing", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_modules_can_be_imported_and_what_needs_nothing_run(ins: StandIns, tmp_path: Path) -> None:
    with pytest.raises(ModuleNotFoundError) as caught:
        _load(tmp_path)
    missing = missing_module(f"ModuleNotFoundError: {caught.value}")
    assert missing == "notthere"
    assert ins.add(missing) and not ins.add(missing)
    ins.begin(strict=False)
    assert _load(tmp_path).free(1) == 2
    assert ins.used == ""


@pytest.mark.parametrize(
    ("code", "used"),
    [
        ("needs(1)", "notthere.deep.f"),
        ("compares(1)", "notthere.settings"),
        ("decorated(1)", "notthere.decorate"),
        ("Model()", "notthere.Base"),
        ("len(LIMIT)", "notthere.settings"),
    ],
)
def test_using_one_is_an_error_and_noted(ins: StandIns, tmp_path: Path, code: str, used: str) -> None:
    ins.add("notthere")
    module = _load(tmp_path)
    ins.begin(strict=False)
    with pytest.raises(StandInUsed):
        eval(code, vars(module))
    assert ins.used == used
    assert ins.missing == "ModuleNotFoundError: No module named 'notthere'"
    ins.begin(strict=False)
    assert ins.used == ""


def test_nothing_is_compared_with_one_while_modules_are_imported(ins: StandIns, tmp_path: Path) -> None:
    ins.add("notthere")
    with pytest.raises(StandInUsed):
        _load(tmp_path, "import notthere\nif notthere.__version__ > '1':\n    pass\n")


def test_where_importing_is_the_proof_no_use_is_allowed(ins: StandIns, tmp_path: Path) -> None:
    ins.add("notthere")
    ins.begin(strict=True)
    with pytest.raises(StandInUsed):
        _load(tmp_path)


def test_only_what_was_missed_is_there(ins: StandIns) -> None:
    ins.add("notthere")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("notthereeither")
    assert importlib.import_module("notthere.deep").__name__ == "notthere.deep"
    ins.remove()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("notthere.deep")


def test_what_a_test_file_needs_is_told_as_python_says_it() -> None:
    class CollectError(Exception):
        pass

    error = CollectError("ImportError while importing test module")
    error.__cause__ = missing = ModuleNotFoundError("No module named 'notthere'")
    call = SimpleNamespace(excinfo=SimpleNamespace(value=error))
    chosen = _Chosen(["test_f"], cast("Loader", None))
    chosen.pytest_exception_interact(None, call, None)
    assert chosen.error is missing
    assert missing_module(f"ModuleNotFoundError: {missing}") == "notthere"


def test_the_command_goes_on_where_the_function_does_not_need_it(tmp_path: Path) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    write(
        tmp_path,
        {
            "pkg/__init__.py": "from ._version import version\n",
            "pkg/m.py": """
                import jax
                import notthere

                @jax.jit
                def free(x):
                    return x if x > 0 else 0.0

                @jax.jit
                def needs(x):
                    notthere.ask(1)
                    return x if x > 0 else 0.0
                """,
            "test_m.py": """
                from pkg.m import free, needs

                def test_free():
                    free(1.0)

                def test_needs():
                    needs(1.0)
                """,
        },
    )
    plain = confirmed(tmp_path, "--no-cache", "--select", "JIT101", ".")
    assert {item["verdict"] for item in plain} == {"could-not-import"}
    stubbed = confirmed(tmp_path, "--no-cache", "--stub-missing", "--select", "JIT101", ".")
    verdicts = {item["line"]: (item["verdict"], item["inputs"]) for item in stubbed}
    evidence = {item["line"]: item["evidence"] for item in stubbed}
    assert verdicts[7][0] == "confirmed"
    assert "test_free() of test_m.py, with a stand-in for pkg._version and notthere" in verdicts[7][1]
    assert (verdicts[12][0], evidence[12]) == ("not-reached", "it uses `notthere.ask`, which is not there")
