"""What a test runner hands to a test reaches its body."""

from __future__ import annotations

import textwrap

import pytest

from jitlint.link.program import Options
from tests.link.sources import deeply, module

LIBRARY = """
@partial(jax.jit, static_argnames="n")
def f(x, n):
    if n == 3 and x > 0:
        return x
    return -x
"""

PARAMETERS = "from absl.testing import parameterized\n"

TESTS = {
    "rows of parametrize": ("import pytest\n@pytest.mark.parametrize('n', [1, 3])", "def test(n): ...", True),
    "rows without the number": (
        "import pytest\n@pytest.mark.parametrize('n', [1, 2])",
        "def test(n): ...",
        False,
    ),
    "several rows": (
        "import pytest\n@pytest.mark.parametrize('n', [1, 2, 4, 5, 6, 3])",
        "def test(n): ...",
        True,
    ),
    "a table of parametrize": (
        "import pytest\nROWS = [('a', 3)]\n@pytest.mark.parametrize(['name', 'n'], ROWS)",
        "def test(name, n): ...",
        True,
    ),
    "positional rows": (PARAMETERS + "@parameterized.parameters(1, 3)", "def test(n): ...", True),
    "named rows": (
        PARAMETERS + "@parameterized.named_parameters(('one', 1), ('three', 3))",
        "def test(n): ...",
        True,
    ),
    "one named row": (PARAMETERS + "@parameterized.named_parameters(('one', 3))", "def test(n): ...", True),
    "one row": (PARAMETERS + "@parameterized.parameters((3, 1))", "def test(n, other): ...", True),
    "rows by names": (
        PARAMETERS + "@parameterized.named_parameters(dict(testcase_name='a', n=3))",
        "def test(n): ...",
        True,
    ),
    "columns": (PARAMETERS + "@parameterized.product(n=[1, 3], other=[2])", "def test(n, other): ...", True),
    "a fixture": (
        "import pytest\n@pytest.fixture\ndef n():\n    return 3\n",
        "def test(n): ...",
        True,
    ),
    "a fixture with variants": (
        "import pytest\n@pytest.fixture(params=[1, 3])\ndef n(request):\n    return request.param\n",
        "def test(n): ...",
        True,
    ),
    "more rows than are looked at": (
        "import pytest\n@pytest.mark.parametrize('n', [1, 2, 4, 5, 6, 7, 3])",
        "def test(n): ...",
        False,
    ),
    "a fixture in variants of other numbers": (
        "import pytest\n@pytest.fixture(params=[1, 2])\ndef n(request):\n    yield request.param\n",
        "def test(n): ...",
        False,
    ),
}


def _found(before: str, test: str) -> list[str]:
    body = test.replace("...", "f(jnp.ones(()), n=n)")
    source = f"from library import f\n{before}\n{body}\n"
    modules = [module("library", LIBRARY), module("test_it", textwrap.dedent(source), is_test=True)]
    analysis = deeply(modules, Options())
    assert analysis.failures == {}
    return [type(event).__name__ for event in analysis.events if event.place.module == "library"]


@pytest.mark.parametrize("name", TESTS)
def test_parameters_are_filled(name: str) -> None:
    before, test, hurts = TESTS[name]
    assert ("Truth" in _found(before, test)) is hurts
