"""Numbers that hold where nobody asks for others: defaults of parameters and fields (layer: ``link``, room ``domains``).

What it does: says what an integer is by default, of which the analysis knows no more than that it is one. What it does
not: follow an attribute that anything but a constructor's parameter of its own sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Func, Inst
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fitting, paths
from jitlint.link.values.fields import ordered_fields
from jitlint.link.values.questions.kinds import member
from jitlint.syntax import ir


def by_default(m: Machine, f: Frame, node: ir.Node | None) -> int | None:
    """What a parameter of the running function, or an attribute of an object, is by default."""
    if type(node) is ir.Name and f.fn is not None and node.id not in m.texts.table(f).bound:
        return _of_parameter(f.fn.node.params, node.id)
    owner = paths.peek(m, f, node.obj) if type(node) is ir.Attr else None
    if type(node) is not ir.Attr or type(owner) is not Inst:
        return None
    _, default = ordered_fields(owner.cls).get(node.name, (None, None))
    return fitting.int_of(default) if default is not None else _of_constructor(owner.cls, node.name)


def _of_parameter(params: Sequence[ir.Param], name: str) -> int | None:
    default = next((p.default for p in params if p.name == name), None)
    return default.value if type(default) is ir.Const and type(default.value) is int else None


def _of_constructor(info: ClassInfo, attribute: str) -> int | None:
    """The default of the parameter that ``__init__`` puts into an attribute as it is."""
    made = member(info, "__init__")
    if type(made) is not Func or not made.fn.node.params:
        return None
    own, *params = made.fn.node.params
    stored = [
        node.value
        for node in made.fn.body
        if isinstance(node, (ir.Assign, ir.AnnAssign)) and _sets(node, own.name, attribute)
    ]
    value = stored[0] if len(stored) == 1 else None
    return _of_parameter(params, value.id) if type(value) is ir.Name else None


def _sets(node: ir.Assign | ir.AnnAssign, own: str, attribute: str) -> bool:
    targets = node.targets if isinstance(node, ir.Assign) else [node.target]
    return any(
        type(t) is ir.Attr and t.name == attribute and type(t.obj) is ir.Name and t.obj.id == own
        for t in targets
    )
