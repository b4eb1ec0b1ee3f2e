"""Variables for JAX that are set before or after it has read them."""

from __future__ import annotations

import pytest

from jitlint.infer.events import LateVariable
from tests.link.domains.telling import told

SAID = ["LateVariable name=JAX_ENABLE_X64 in <module>: likely eager"]
INSIDE = ["LateVariable name=JAX_ENABLE_X64 in main: likely eager"]

CASES: dict[str, tuple[str, list[str]]] = {
    "after the import": ("import os\nos.environ['JAX_ENABLE_X64'] = '1'", SAID),
    "by default": ("import os\nos.environ.setdefault('JAX_ENABLE_X64', '1')", SAID),
    "in a function": ("import os\ndef main():\n    os.environ['JAX_ENABLE_X64'] = '1'\nmain()", INSIDE),
    "a variable of another library": ("import os\nos.environ['XLA_FLAGS'] = '--xla'", []),
    "told to JAX as well": (
        "import os\nos.environ['JAX_ENABLE_X64'] = '1'\njax.config.update('jax_enable_x64', True)",
        [],
    ),
    "for other processes": ("import os, subprocess\nos.environ['JAX_ENABLE_X64'] = '1'", []),
    "a variable that nobody knows": ("import os\nos.environ[given] = '1'", []),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES)
def test_late_variables(body: str, expected: list[str]) -> None:
    assert told(body, LateVariable) == expected
