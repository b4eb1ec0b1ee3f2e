"""The largest number of an array, as a number of Python's (layer: ``link``, room ``values``).

What it does: reads that ``int(x.max())`` is the largest number of an array that has a name. What it does not: so of what was computed
from one just before, which may hold one more than each index.
"""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir


def is_taken(m: Machine, f: Frame, at: int) -> bool:
    """Whether a call turns the largest number of an array into one of Python's."""
    node = bound_once.written(f.fn, derivatives.argument(m.texts.table(f).calls.get(at), 0, "x"))
    if type(node) is not ir.Call or last_name(node.func) not in lexicon().arrays.largest:
        return False
    owner = node.func.obj if type(node.func) is ir.Attr else None
    array = node.args[0].value if len(node.args) == 1 and not node.args[0].name else owner
    made = bound_once.written(f.fn, array) if type(array) is ir.Name else None
    return isinstance(array, (ir.Name, ir.Attr)) and type(made) is not ir.BinOp
