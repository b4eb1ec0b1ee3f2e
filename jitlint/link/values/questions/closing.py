"""When modules of Flax Linen are closed, so that they get no more attributes (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Inst
from jitlint.link.engine.frame import Frame
from jitlint.syntax import ir

_LINEN: Final = "linen"
_CLOSING: Final = "__post_init__"


def is_closed(f: Frame, owner: Inst) -> bool:
    """Whether what the class inherits has just closed a module that is still being made: ``super().__post_init__()``."""
    fn = f.fn
    if (
        fn is None
        or fn.name != _CLOSING
        or f.recv is not owner
        or owner.cls.role != _LINEN
        or owner.cls.extern
    ):
        return False
    return any(type(part) is ir.ExprStmt and part.at < f.at and _closes(part.value) for part in fn.body)


def _closes(node: ir.Node) -> bool:
    func = node.func if type(node) is ir.Call else None
    inherited = func.obj if type(func) is ir.Attr and func.name == _CLOSING else None
    return type(inherited) is ir.Call and type(inherited.func) is ir.Name and inherited.func.id == "super"
