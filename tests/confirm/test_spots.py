"""Which columns an instruction's operand has, whatever the Python's instructions are."""

from __future__ import annotations

import dis
import sys
from types import CodeType

import pytest

from jitlint.confirm.watch.spots import consumed_at

# An expression over `x` and `y`, and the text that something with one operand works on.
OPERANDS = {
    "x + (y or 1.0)": "y",
    "x, not y": "y",
    "x, -y": "y",
    "x, ~y": "y",
    "x, f'{y}'": "y",
    "(x[0] and y)": "x[0]",
}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python before 3.11 knows no columns")
@pytest.mark.parametrize("expression", OPERANDS)
def test_operand_of_an_instruction(expression: str) -> None:
    code = compile(f"def f(x, y):\n    return {expression}\n", "<test>", "exec")
    function = next(constant for constant in code.co_consts if isinstance(constant, CodeType))
    found = {consumed_at(function, instruction.offset) for instruction in dis.get_instructions(function)} - {
        None
    }
    start = len("    return ") + expression.rindex(OPERANDS[expression])
    assert found == {(2, start, 2, start + len(OPERANDS[expression]))}
