"""What the text around a write says about its purpose (layer: ``link``).

A cache that is filled when it is first needed, a value that is set for a while and put back, a registry: such writes
do not make compiled code stale. Asked only of writes that would be reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jitlint.infer.program import FuncInfo
from jitlint.link.captures import Call, Write
from jitlint.link.ir_walk import nodes
from jitlint.link.surroundings import Around, Table
from jitlint.syntax import ir

_MISSING: Final = frozenset(
    {"KeyError", "AttributeError", "NameError", "IndexError", "LookupError", "Exception"}
)


def harmless(write: Write) -> bool:
    """Whether the write fills a cache on first use, or belongs to something that puts the old value back."""
    fn = write.fn
    if fn is None:
        return False
    if fn.node.is_generator or _of_context_manager(fn):
        return True
    found = _around(fn, write.statement)
    name = written_name(found, write)
    if not name:
        return False
    return _is_lazy(found, write.statement, name) or _is_restored(fn, name) or _repeats(fn, found, write)


def exclusive(first: Call | Write, second: Call | Write) -> bool:
    """Whether one run of a function that does the first thing cannot do the second one later."""
    if first.fn is None or first.fn is not second.fn:
        return False
    left, right = _around(first.fn, first.statement), _around(first.fn, second.statement)
    looped = False
    for (_, one), (owner, other) in zip(left, right):
        if one is not other:
            if type(owner) is ir.If and not looped:
                return True
            break
        looped = looped or type(owner) in (ir.For, ir.While)
    mine = [block for _, block in left if not any(block is other for _, other in right)]
    return any(type(block[-1]) in (ir.Return, ir.Raise) for block in mine)


def _around(fn: FuncInfo, statement: int) -> Around:
    if fn.surroundings is None:
        fn.surroundings = Table(fn.body)
    found: Around = fn.surroundings.around.get(statement, ())
    return found


def _repeats(fn: FuncInfo, around: Around, write: Write) -> bool:
    """Whether the write only does once more, word for word, what was done before: a call without arguments."""
    statement = _statement(around, write)
    if write.kind != "name" or type(statement) is not ir.Assign:
        return False
    call = statement.value
    if type(call) is not ir.Call or call.args or type(call.func) is not ir.Name:
        return False
    for node in nodes(fn.body):
        if type(node) is ir.Assign and node is not statement and type(node.value) is ir.Call:
            other = node.value
            same = not other.args and type(other.func) is ir.Name and other.func.id == call.func.id
            if same and any(_mentions(target, str(write.key)) for target in node.targets):
                return True
    return False


def _statement(around: Around, write: Write) -> Any:
    return next((node for node in around[-1][1] if node.at == write.statement), None) if around else None


def written_name(around: Around, write: Write) -> str:
    """The last name of the written place, of the container for an element; "" when it has none."""
    if write.kind not in ("elem", "buffer"):
        return str(write.key)
    statement = _statement(around, write)
    for node in nodes(statement) if statement is not None else ():
        if getattr(node, "at", None) == write.at:
            name = _last_name(_container(node))
            if name:
                return name
    return ""


def _container(node: Any) -> Any:
    if type(node) is ir.Call:
        return node.func.obj if type(node.func) is ir.Attr else (node.args[0].value if node.args else None)
    if type(node) is ir.Sub:
        return node.obj
    return node.target if type(node) is ir.AugAssign else node


def _last_name(node: Any) -> str:
    if type(node) is ir.Attr:
        return str(node.name)
    return str(node.id) if type(node) is ir.Name else ""


def _of_context_manager(fn: FuncInfo) -> bool:
    """Whether the function is a method of a class whose instances put things back when they are left."""
    owner = fn.qualname.rpartition(".")[0]
    return bool(owner) and any(f.qualname == f"{owner}.__exit__" for f in fn.module.functions)


def _is_lazy(around: Around, statement: int, name: str) -> bool:
    """Whether the write runs only while the place is still empty."""
    for owner, block in around:
        if type(owner) is ir.If and _asks_presence(owner.test, name):
            return True
        if type(owner) is ir.Try and block is not owner.body and _mentions(owner.body, name):
            return any(_catches_missing(h.type) for h in owner.handlers)
        for node in block:
            if node.at == statement:
                break
            leaves = type(node) is ir.If and node.body and type(node.body[-1]) in (ir.Return, ir.Raise)
            if leaves and _asks_presence(node.test, name):
                return True
    return False


def _catches_missing(node: Any) -> bool:
    parts = node.elts if type(node) is ir.Tuple else [node]
    return node is None or any(_last_name(part) in _MISSING for part in parts)


def _asks_presence(test: Any, name: str) -> bool:
    """Whether a test asks if there is something in the place already."""
    for node in nodes(test):
        if type(node) is ir.Compare:
            sides = [node.left, *node.rights]
            absent = any(type(side) is ir.Const and side.kind == "none" for side in sides)
            if (absent or any(op in ("in", "not in") for op in node.ops)) and _mentions(sides, name):
                return True
        elif (type(node) is ir.UnaryOp and node.op == "not" and _mentions(node.operand, name)) or (
            type(node) is ir.Call
            and _last_name(node.func) in ("hasattr", "len", "getattr")
            and any(_mentions(arg.value, name) for arg in node.args)
        ):
            return True
    return _last_name(test) == name


def _mentions(root: Any, name: str) -> bool:
    for node in nodes(root):
        if _last_name(node) == name or (type(node) is ir.Const and node.value == name):
            return True
    return False


def _is_restored(fn: FuncInfo, name: str) -> bool:
    """Whether a ``finally`` of the function assigns the same name."""
    for node in nodes(fn.body):
        if type(node) is ir.Try and any(_last_name(t) == name for t in _targets(node.final)):
            return True
    return False


def _targets(block: list[Any]) -> Iterator[Any]:
    for node in nodes(block):
        if type(node) is ir.Assign:
            for target in node.targets:
                yield target.obj if type(target) is ir.Sub else target
        elif type(node) is ir.Call and type(node.func) is ir.Attr:
            yield node.func.obj
