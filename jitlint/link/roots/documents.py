"""What functions of a document read that no cell calls (layer: ``link``, room ``roots``).

A module that is imported has run to its end when somebody calls its functions, so these read what was bound last. The cells
of a notebook or a text are run one after the other: a function is called between them, and a name that a later cell
binds again meant something else then. What it does: forgets such names while functions run that no cell has called.
"""

from __future__ import annotations

from collections import Counter

from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import UNKNOWN, Arr, Value
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names
from jitlint.link.values import pytrees
from jitlint.syntax import ir
from jitlint.syntax.children import below
from jitlint.syntax.documents import is_document


class Rebound:
    """What names of documents mean that several of their cells bind is not known to functions that run later."""

    def __init__(self) -> None:
        self._kept: list[tuple[dict[str, Value], str, Value]] = []

    def forget(self, m: Machine) -> None:
        """Before functions run that no cell calls. What is an array at last is taken for one of any shape before."""
        for info in m.modules.values():
            for name in _rebound(info) if is_document(info.path) else ():
                if name in info.scope.vars:
                    value = info.scope.vars[name]
                    self._kept.append((info.scope.vars, name, value))
                    info.scope.vars[name] = pytrees.with_rank(value, None) if type(value) is Arr else UNKNOWN

    def restore(self, m: Machine) -> None:
        """When they have run: the cells themselves are still to be judged."""
        for variables, name, value in self._kept:
            variables[name] = value


def _rebound(info: ModuleInfo) -> list[str]:
    """The names of several values, or of functions that take other things; variants of one function are as good as it."""
    found = below(info.tree.body)
    takes: dict[str, set[tuple[str, ...]]] = {}
    for node in found:
        if type(node) is ir.FuncDef:
            parameters = info.functions[node.function].node.params
            takes.setdefault(node.name, set()).add(tuple([param.name for param in parameters]))
    given = Counter(
        target.id for node in found if type(node) is ir.Assign for target in bound_names(node.targets)
    )
    made = Counter(node.name for node in found if type(node) is ir.ClassDef)
    several = {name for names in (given, made) for name, times in names.items() if times > 1}
    return sorted(several | {name for name, ways in takes.items() if len(ways) > 1})
