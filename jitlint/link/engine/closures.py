"""What functions do to the variables of the function around them (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.link.tables.ir_walk import inner_functions, whole
from jitlint.link.tables.storing import targets_of
from jitlint.syntax import ir


def is_changed_inside(fn: FuncInfo) -> bool:
    """Whether a function written in this one binds one of its variables anew, or changes what one holds where that is written."""
    if fn.fickle is None:
        own = frozenset(fn.captured)
        fn.fickle = bool(own) and any(
            not own.isdisjoint(_changed(inner)) for inner in inner_functions(fn.module, fn.body)
        )
    return fn.fickle


def _changed(fn: FuncInfo) -> set[str]:
    """The names of others that a function binds anew, or whose contents it changes."""
    changing = lexicon().containers.changing
    found: set[str] = set()
    for node in fn.parts:
        targets = node.targets if type(node) is ir.Del else targets_of(node)
        if type(node) is ir.Call and type(node.func) is ir.Attr and node.func.name in changing:
            targets = [node.func]
        roots = [whole(target) for target in targets if isinstance(target, (ir.Attr, ir.Sub))]
        found |= {root.id for root in roots if type(root) is ir.Name}
    return found.difference(fn.node.local_names).union(fn.node.nonlocal_names)
