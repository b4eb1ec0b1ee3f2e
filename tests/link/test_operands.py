"""What loops and branches get that is no array: said of the code that hands it over, if that is what it will be given."""

from __future__ import annotations

import pytest

from jitlint.infer.events import TransformMisuse
from jitlint.link.program import Options
from tests.link.sources import deeply, module

UPDATE = """
def update(state, grads):
    return lax.cond(True, lambda pair: pair, lambda pair: pair, (state, [grads]))
"""
CALL = """
class Fake:
    def __init__(self):
        self.step = 1

import library
library.update({argument})
"""


@pytest.mark.parametrize("argument", ["Fake(), 1.0", "1.0, Fake()", "1.0, {'a': Fake()}"])
def test_an_object_that_a_program_hands_over_is_refused(argument: str) -> None:
    assert _refused(argument, is_test=False) == ["Fake"]


@pytest.mark.parametrize("argument", ["Fake(), 1.0", "1.0, Fake()", "1.0, {'a': Fake()}"])
def test_an_object_that_a_test_makes_up_says_nothing_of_the_library(argument: str) -> None:
    """It stands in for what others hand over, and the test may have replaced what refuses it."""
    assert _refused(argument, is_test=True) == []


def _refused(argument: str, is_test: bool) -> list[str]:
    user = module("test_user" if is_test else "user", CALL.format(argument=argument), is_test=is_test)
    found = deeply([module("library", UPDATE), user], Options())
    return [e.detail for e in found.events if type(e) is TransformMisuse and e.problem == "non-array-operand"]
