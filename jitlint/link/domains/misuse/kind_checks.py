"""Checks of what kind of thing something is, which refuse every tracer (layer: ``link``, room ``domains``).

``if not isinstance(rate, float): raise TypeError`` lets a Python number pass until somebody compiles the code: then it is a tracer.
What it does: reads of a test that is decided, and whose side raises, whether a traced value has decided it. What it does not: speak of
classes of the program, of which a number would be no instance either.
Source: https://docs.jax.dev/en/latest/key-concepts.html#tracing
"""

from __future__ import annotations

from typing import Final, NamedTuple

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import REFUSALS, KindCheck
from jitlint.infer.values import Arr, Ext, Py, Tup, Value, alternatives
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import paths
from jitlint.syntax import ir

_IS: Final = {"is": True, "==": True, "in": True, "is not": False, "!=": False, "not in": False}


class _Asked(NamedTuple):
    """What a test asks: whether a value is of some classes. text: these as they are called."""

    value: Value
    text: str


def check(m: Machine, f: Frame, node: ir.If | ir.Assert, truth: Value) -> None:
    """Look at the test of an ``if``, one side of which raises, or of an assertion. truth: of the test, as far as it is known."""
    known = truth.const if type(truth) is Py and type(truth.const) is bool else None
    if type(node) is ir.Assert:
        asked = _decides(m, f, node.test, False, known)
        if asked is not None:
            _record(m, f, node.at, asked, "AssertionError")
        return
    for side, block in ((True, node.body), (False, node.orelse)) if type(node) is ir.If else ():
        raised = block[-1] if block else None
        exception = _class(raised.exc) if type(raised) is ir.Raise else ""
        asked = (
            _decides(m, f, node.test, side, known) if raised is not None and exception in REFUSALS else None
        )
        if raised is not None and asked is not None:
            _record(m, f, raised.at, asked, exception)


def _class(exc: ir.Expr | None) -> str:
    return last_name(exc.func if type(exc) is ir.Call else exc)


def _record(m: Machine, f: Frame, at: int, asked: _Asked, exception: str) -> None:
    m.emit(f, KindCheck, at, asked.value, classes=asked.text, exception=exception)


def _decides(m: Machine, f: Frame, test: ir.Expr, wanted: bool, known: bool | None) -> _Asked | None:
    """What makes a test come out as wanted, whatever else it asks: that a traced value is of none of some classes."""
    if type(test) is ir.UnaryOp and test.op == "not":
        return _decides(m, f, test.operand, not wanted, None if known is None else not known)
    if type(test) is ir.BoolOp:
        sides = [_decides(m, f, side, wanted, None) for side in (test.left, test.right)]
        enough = known is wanted or (test.op == "or") is wanted or all(sides)
        return next(filter(None, sides), None) if enough else None
    return _refuses(m, f, test, wanted)


def _refuses(m: Machine, f: Frame, test: ir.Expr, wanted: bool) -> _Asked | None:
    """What a test comes out by, if it asks for the class of one value alone, which is traced."""
    node, classes, positive = _question(m, f, test)
    if node is None or classes is None or positive is wanted:
        return None
    value = paths.peek(m, f, node)
    alts = alternatives(value) if value is not None else []
    traced = all(type(alt) is Arr and alt.modes for alt in alts)
    text = _numbers(m, f, classes) if alts and traced else ""
    return _Asked(alts[0], text) if text else None


def _question(m: Machine, f: Frame, test: ir.Expr) -> tuple[ir.Expr | None, ir.Expr | None, bool]:
    """The value and the classes that a test asks about, and whether it holds for their instances."""
    if (
        type(test) is ir.Call
        and len(test.args) == 2
        and paths.dotted(m, f, test.func) == "builtins.isinstance"
    ):
        return test.args[0].value, test.args[1].value, True
    left = test.left if type(test) is ir.Compare and len(test.ops) == 1 else None
    if (
        type(test) is not ir.Compare
        or type(left) is not ir.Call
        or test.ops[0] not in _IS
        or len(left.args) != 1
    ):
        return None, None, False
    asks = paths.dotted(m, f, left.func) == "builtins.type"
    return (left.args[0].value, test.rights[0], _IS[test.ops[0]]) if asks else (None, None, False)


def _numbers(m: Machine, f: Frame, classes: ir.Expr) -> str:
    """Names of classes, no tracer is an instance of any; "" unless some of them are those of numbers or of arrays of NumPy."""
    value = evaluator.evaluate(m, f, classes)
    types = lexicon().types
    names = [
        one.dotted if type(one) is Ext else "" for one in (value.items if type(value) is Tup else (value,))
    ]
    known = types.python.keys() | types.host_arrays
    numeric = [name for name in names if name in known and name not in ("builtins.str", "builtins.bytes")]
    if not numeric or not all(name in known or name in types.containers for name in names):
        return ""
    return " or ".join(f"`{name.removeprefix('builtins.').replace('numpy.', 'np.')}`" for name in numeric)
