"""Plain walks over the intermediate representation, for questions that need no values (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.syntax import children, ir


def code_of(module: ModuleInfo, fn: FuncInfo | None) -> list[ir.Node]:
    """Every node of the body of a function, or of what a module runs itself."""
    return fn.parts if fn is not None else children.below(module.tree.body)


def docstrings(module: ModuleInfo) -> Iterator[str]:
    """What a module, its classes and its functions say of themselves."""
    classes = [part.body for part in children.below(module.tree.body) if type(part) is ir.ClassDef]
    for body in (module.tree.body, *classes, *(fn.body for fn in module.functions)):
        yield docstring(body)


def docstring(body: Sequence[ir.Node]) -> str:
    """What is kept of the documentation that some code begins with, "" if it has none."""
    first = body[0] if body else None
    told = first.value if type(first) is ir.ExprStmt else None
    return str(told.value) if type(told) is ir.Const and told.kind == "str" else ""


def nodes(root: Any) -> Iterator[Any]:
    """Every node below a node or list of nodes, itself included; bodies of inner functions are not entered."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.__class__ is list:
            stack.extend(reversed(node))
        elif node is not None:
            yield node
            read = children.PARTS[node.__class__]
            if read is not None:
                stack.extend(reversed(read(node)))


def inner_functions(module: ModuleInfo, root: Any) -> Iterator[FuncInfo]:
    """The functions and lambdas written below a node, at any depth."""
    for node in nodes(root):
        if type(node) is ir.FuncDef or type(node) is ir.Lambda:
            fn = module.functions[node.function]
            yield fn
            yield from inner_functions(module, fn.body)


def names_read(fn: FuncInfo) -> set[str]:
    """The names that a function or one written in it mentions."""
    found = {node.id for node in nodes(fn.body) if type(node) is ir.Name}
    for inner in inner_functions(fn.module, fn.body):
        found |= {node.id for node in nodes(inner.body) if type(node) is ir.Name}
        found |= {node.id for p in inner.node.params for node in nodes(p.default) if type(node) is ir.Name}
    return found


def path_text(node: ir.Node | None) -> str:
    """A name, attribute path or constant subscript as text, else ""."""
    if type(node) is ir.Name:
        return node.id
    if type(node) is ir.Attr:
        owner = path_text(node.obj)
        return f"{owner}.{node.name}" if owner else ""
    if type(node) is ir.Sub and type(node.index) is ir.Const:
        owner = path_text(node.obj)
        return f"{owner}[{node.index.value!r}]" if owner else ""
    return ""


def whole(node: ir.Node) -> ir.Node:
    """What an expression is a part of: ``f(x)`` of ``f(x)[0].a``."""
    while isinstance(node, (ir.Attr, ir.Sub)):
        node = node.obj
    return node


def makes(node: ir.Node, fn: FuncInfo) -> bool:
    """Whether an expression or a statement is where a function is written."""
    return isinstance(node, (ir.Lambda, ir.FuncDef)) and fn.module.functions[node.function] is fn


def last_name(node: ir.Node | None) -> str:
    """What a name or an attribute is called, else ""."""
    if type(node) is ir.Attr:
        return node.name
    return node.id if type(node) is ir.Name else ""


def is_class_variable(annotation: ir.Node | None) -> bool:
    """Whether an annotation says that a name of a class body is no field: ``ClassVar[int]``, ``AbstractVar[bool]``."""
    named = annotation.obj if type(annotation) is ir.Sub else annotation
    return last_name(named) in ("ClassVar", "AbstractClassVar", "AbstractVar")


def call_at(parts: Iterable[ir.Node], at: int) -> ir.Call | None:
    """The call with an origin among some nodes, if it is there."""
    return next((node for node in parts if type(node) is ir.Call and node.at == at), None)


def same_text(a: object, b: object, alike: Collection[frozenset[str]] = ()) -> bool:
    """Whether two pieces of code are written alike, wherever they stand. alike: variables that are one, two at a time."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same_text(one, other, alike) for one, other in zip(a, b))
    if alike and type(a) is ir.Name and type(b) is ir.Name and frozenset((a.id, b.id)) in alike:
        return True
    if a.__class__ is not b.__class__ or not hasattr(a, "__struct_fields__"):
        return a == b
    fields = [name for name in a.__struct_fields__ if name != "at"]
    return all(same_text(getattr(a, name), getattr(b, name), alike) for name in fields)


def bound_names(targets: Iterable[ir.Node]) -> Iterator[ir.Name]:
    """The variables among the targets of an assignment."""
    for target in targets:
        if type(target) is ir.Name:
            yield target
        elif isinstance(target, (ir.Tuple, ir.List)):
            yield from bound_names(target.elts)
        elif type(target) is ir.Starred:
            yield from bound_names([target.value])


def bound_by(node: ir.Node) -> list[str]:
    """The variables that a statement, or an expression with a name, sets."""
    if type(node) is ir.Assign:
        return [name.id for name in bound_names(node.targets)]
    if isinstance(node, (ir.AugAssign, ir.AnnAssign, ir.For)):
        return [name.id for name in bound_names([node.target])]
    if type(node) is ir.Walrus:
        return [node.target]
    targets = [item.target for item in node.items if item.target] if type(node) is ir.With else []
    return [name.id for name in bound_names(targets)]


def written_out(node: ir.AugAssign) -> ir.BinOp:
    """What ``x -= y`` sets its target to: ``x - y``."""
    return ir.BinOp(node.at, node.op, node.target, node.value)


def by_parameter(call: ir.Call, params: Sequence[ir.Param]) -> Iterator[tuple[str, ir.Expr]]:
    """The arguments of a call, each with the parameter that gets it, "" where that is not written."""
    for i, arg in enumerate(call.args):
        yield arg.name or (params[i].name if i < len(params) else ""), arg.value


def changed_in(loop: ir.For | ir.While) -> set[str]:
    """The variables that a loop sets, those that it goes through among them."""
    changed = {name for part in nodes(loop.body) for name in bound_by(part)}
    if type(loop) is ir.For:
        changed |= {name.id for name in bound_names([loop.target])}
    return changed


def class_at(body: Sequence[ir.Node], qualname: str) -> ir.ClassDef | None:
    """The class of a qualified name among some statements and all that stands in them."""
    found = (node for node in nodes(list(body)) if type(node) is ir.ClassDef and node.qualname == qualname)
    return next(found, None)


def written_at(body: Sequence[ir.Node], qualname: str, field: str) -> int:
    """Where the default of a field of a class is written, or what it is if it has none; 0 if the class does not write it."""
    node = class_at(body, qualname)
    for part in node.body if node is not None else ():
        if type(part) is ir.AnnAssign and type(part.target) is ir.Name and part.target.id == field:
            return (part.annotation if part.value is None else part.value).at
        if type(part) is ir.Assign and any(type(one) is ir.Name and one.id == field for one in part.targets):
            return part.value.at
    return 0
