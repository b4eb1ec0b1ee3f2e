"""What the text of a function sets its variables to (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from jitlint.infer.program import FuncInfo
from jitlint.link.tables.ir_walk import bound_by, bound_names, nodes
from jitlint.syntax import ir


def bindings(fn: FuncInfo | None, name: str) -> list[ir.Assign]:
    """The assignments that bind a variable of a function."""
    return [
        part
        for part in (fn.parts if fn is not None else ())
        if type(part) is ir.Assign and any(target.id == name for target in bound_names(part.targets))
    ]


def is_read(fn: FuncInfo, name: str, but: ir.Node | None = None, after: int = -1) -> bool:
    """Whether a function, or one inside it, does something with a variable besides binding it. but: an expression that does not
    count. after: of the function itself, only what stands behind this counts."""
    aside = {id(part) for part in nodes(but)} if but is not None else set()
    for part in fn.parts:
        targets = part.targets if type(part) is ir.Assign else [part.target] if type(part) is ir.For else []
        aside.update(id(target) for target in bound_names(targets))
    named = (part for part in fn.parts if type(part) is ir.Name and part.id == name and part.at > after)
    return name in fn.captured or any(id(part) not in aside for part in named)


def only_binding(fn: FuncInfo | None, name: str) -> ir.Assign | None:
    """The assignment that binds a variable of a function, None if there are several, or none, or something else sets it, too."""
    found = [part for part in (fn.parts if fn is not None else ()) if name in bound_by(part)]
    return found[0] if len(found) == 1 and type(found[0]) is ir.Assign else None


def written(fn: FuncInfo | None, node: ir.Node | None) -> ir.Node | None:
    """What a variable of a function is set to as a whole, if that is done once, else None; of other expressions, themselves."""
    if type(node) is not ir.Name:
        return node
    binding = only_binding(fn, node.id)
    return binding.value if binding is not None and type(binding.targets[0]) is ir.Name else None
