"""Every parameter of every library function: where the catalogue says static, the analysis reports and JAX raises;
where it says traceable, the analysis is silent and JAX traces.

The cases are generated from the catalogue and from the calls it was measured with. One run of the analysis reads all
programs; JAX only traces the functions, nothing is compiled.
"""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

jax = pytest.importorskip("jax")

from jitlint.catalogue.load import catalogue  # noqa: E402
from tests.catalogue.differences import AGREES, Book  # noqa: E402
from tests.catalogue.programs import Case, calls, cases, programs, value_of  # noqa: E402
from tests.checking import errors  # noqa: E402

REPORTED = {"JIT104", "JIT201", "JIT204", "JIT402"}
"""`all`, a static argument, a shape that depends on data, `out=`: what a refused tracer is called."""


def by_function() -> dict[str, list[Case]]:
    grouped: dict[str, list[Case]] = defaultdict(list)
    for case in cases():
        grouped[case.function].append(case)
    return grouped


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Name of the jitted function → codes of the errors that the analysis finds in it."""
    folder = tmp_path_factory.mktemp("calls")
    folder.joinpath("pyproject.toml").write_text("", encoding="utf-8")
    owners: dict[tuple[str, int], str] = {}
    for module, text in programs().items():
        folder.joinpath(f"{module}.py").write_text(text, encoding="utf-8")
        owner = ""
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("@jax.jit"):
                owner = text.splitlines()[number].removeprefix("def ").partition("(")[0]
            elif line.startswith("def use_"):
                owner = ""
            owners[f"{module}.py", number] = owner
    found: dict[str, set[str]] = defaultdict(set)
    for item in errors(folder):
        owner = owners[Path(item["path"]).name, item["line"]]
        assert owner, f"a finding outside the cases: {item}"
        found[owner].add(item["code"])
    return found


@functools.cache
def _modules() -> dict[str, ModuleType]:
    """The programs, imported."""
    loaded = {}
    for name, text in programs().items():
        loaded[name] = ModuleType(name)
        try:
            exec(compile(text, f"{name}.py", "exec"), loaded[name].__dict__)
        except ImportError:  # another JAX has no such module
            continue
    return loaded


@functools.cache
def _functions() -> dict[str, Any]:
    return {name: value for module in _modules().values() for name, value in vars(module).items()}


def raised(case: Case) -> str:
    """What tracing the case's function raises: the class's name, "" when it traces."""
    if case.name not in _functions():
        return "ImportError"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jax.eval_shape(_functions()[case.name], value_of(case.value))
    except Exception as error:
        cls = type(error)
        return cls.__qualname__ if cls.__module__ == "builtins" else f"jax.errors.{cls.__qualname__}"
    return ""


@pytest.mark.parametrize("function", list(by_function()))
def test_what_a_tracer_does(function: str, reported: dict[str, set[str]], book: Book) -> None:
    wrong, does = [], {}
    for case in by_function()[function]:
        codes, error = reported[case.name], raised(case)
        if case.refused:
            same = bool(error) and error == (case.exception or error)
        else:
            same = not error
        does[f"{function}({case.parameter})"] = AGREES if same else f"raises {error or 'nothing'}"
        if not (bool(codes) and codes <= REPORTED if case.refused else not codes):
            says = "refuses" if case.refused else "takes"
            wrong.append(
                f"{case.parameter}: {case.call} with {case.value}: the catalogue says it {says} a tracer, "
                f"the analysis reports {sorted(codes)}, JAX raises {error or 'nothing'}"
            )
    assert not wrong, "\n".join(wrong)
    book.check("parameters", does)


def test_the_cases_cover_the_catalogue() -> None:
    """Thousands of cases of both kinds; functions without any are those without parameters or without a call."""
    assert len(cases()) > 3000
    assert sum(case.refused for case in cases()) > 1000
    with_cases = {case.function for case in cases()}
    silent = [name for name, known in calls().items() if known and name not in with_cases]
    data = catalogue()
    for name in silent:
        known = data.function(name) or data.array_method(name.removeprefix("array."))
        assert known is not None
        assert [p.name for p in known.parameters if not p.optional and not p.kind.startswith("var")] == []
