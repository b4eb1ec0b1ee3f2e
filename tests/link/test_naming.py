"""What names say."""

from __future__ import annotations

import pytest

from jitlint.link.tables.naming import begins_with


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("load", True),
        ("_load", True),
        ("load_weights", True),
        ("loadWeights", True),
        ("load2", True),
        ("loader", False),
        ("reload", False),
        ("set_up_once", True),
        ("__set_up__", True),
        ("setupper", False),
    ],
)
def test_words_that_a_name_begins_with(name: str, begins: bool) -> None:
    assert begins_with(name, {"load", "set_up", "set"}) is begins
