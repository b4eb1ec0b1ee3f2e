"""What functions of a document read that no cell calls (layer: ``link``, room ``roots``).

A module that is imported has run to its end when somebody calls its functions, so these read what was bound last. The cells
of a notebook or a text are run one after the other: a function is called between them, and a name that a later cell
binds again meant something else then. What it does: forgets such names once all cells have run.
"""

from __future__ import annotations

from collections import Counter

from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import UNKNOWN
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir
from jitlint.syntax.children import below
from jitlint.syntax.documents import is_document


def forget_rebound(m: Machine) -> None:
    """What a name of a document means that several of its cells bind is not known to functions that run later."""
    for info in m.modules.values():
        if is_document(info.path):
            for name in _rebound(info):
                if name in info.scope.vars:
                    info.scope.vars[name] = UNKNOWN


def _rebound(info: ModuleInfo) -> list[str]:
    """The names of several functions, or of several values; a function that is only wrapped stays what it is."""
    found = below(info.tree.body)
    made = Counter(node.name for node in found if isinstance(node, (ir.FuncDef, ir.ClassDef)))
    given = Counter(
        target.id
        for node in found
        if type(node) is ir.Assign
        for whole in node.targets
        for target in (whole.elts if isinstance(whole, (ir.Tuple, ir.List)) else [whole])
        if type(target) is ir.Name
    )
    return sorted(name for names in (made, given) for name, times in names.items() if times > 1)
