"""What tests put something else in the place of: ``mock.patch.object(module, "name")``, ``monkeypatch.setattr`` (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.infer.values import Bound, Class, Func, Value, Xform
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

_PATCH: Final = "patch"
_SET: Final = "setattr"


def replaced(code: Iterable[ir.Node]) -> frozenset[str]:
    """The last names of what code puts something else in the place of."""
    return frozenset(name for node in below(list(code)) if type(node) is ir.Call for name in _names(node))


def _names(call: ir.Call) -> Iterator[str]:
    func, texts = call.func, [_text(arg.value) for arg in call.args if arg.name is None]
    name, owner = last_name(func), last_name(func.obj) if type(func) is ir.Attr else ""
    if name == _PATCH and texts:
        yield texts[0].rpartition(".")[2]
    elif (name == "object" and owner == _PATCH) or (name == _SET and "patch" in owner):
        yield next(filter(None, texts[:2]), "").rpartition(".")[2]
    elif name == "multiple" and owner == _PATCH:
        yield from (arg.name for arg in call.args if arg.name)


def _text(node: ir.Node) -> str:
    return node.value if type(node) is ir.Const and type(node.value) is str else ""


def is_one(names: frozenset[str], callee: Value) -> bool:
    """Whether a function or class of the project has one of these names."""
    if type(callee) is Bound:
        return is_one(names, callee.func)
    if type(callee) is Xform:
        return is_one(names, callee.target)
    if type(callee) is Class:
        return callee.info.name in names
    return type(callee) is Func and callee.fn.name in names
