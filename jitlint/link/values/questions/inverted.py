"""``~`` of a Python bool, which is an integer that counts as true (layer: ``link``, room ``values``).

``~True`` is -2. What it does: speaks of values that are certainly True or False. What it does not: so beside ``&``, where the
integer comes to the same truth as an array of booleans would.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import InvertedBool
from jitlint.infer.values import Py
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import code_of, path_text
from jitlint.syntax import ir


def check(m: Machine, f: Frame, at: int, op: str, operand: Py) -> None:
    """Record that the bits of a truth value are turned round."""
    const = operand.const
    if op != "~" or type(const) is not bool:
        return
    code = code_of(f.module, f.fn)
    node = next((part for part in code if type(part) is ir.UnaryOp and part.at == at), None)
    if node is None or any(
        type(part) is ir.BinOp and part.op == "&" and node in (part.left, part.right) for part in code
    ):
        return
    m.emit(
        f, InvertedBool, at, None, Confidence.LIKELY, operand=path_text(node.operand), truth=str(const),
        result=~int(const),
    )  # fmt: skip
