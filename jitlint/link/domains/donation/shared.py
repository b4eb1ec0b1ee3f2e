"""Objects that hold one array at two places, which cannot be given away as a whole (layer: ``link``, room ``domains``).

``AdamState(count, zeros, zeros)`` and ``[layer] * n`` hold each buffer of ``zeros`` and ``layer`` more than once: JAX refuses to
donate it twice. What it does: reads how the object is written, in the functions that return it as well. What it does not:
follow what is done to it in between; a compiled function gives buffers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Class, Ext
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 6


class _Code(NamedTuple):
    """Code in which an expression stands: a function's, or a module's."""

    m: Machine
    module: ModuleInfo
    parts: Sequence[ir.Node]

    def last_value(self, name: str, before: int) -> ir.Node | None:
        """What a variable was set to last, above a place; None if that is not written as one expression."""
        found = [
            (node.at, node.value if type(node) is ir.Assign and _is_plain(node) else None)
            for node in self.parts
            if name in bound_by(node) and node.at < before and not _contains(node, before)
        ]
        return max(found, key=lambda one: one[0])[1] if found else None


def name_of(m: Machine, module: ModuleInfo, fn: FuncInfo | None, node: ir.Node, before: int) -> str:
    """The variable whose arrays an object holds twice, "" if that is not certain. before: where the object is given away."""
    return _shared(
        _Code(m, module, fn.parts if fn is not None else below(module.tree.body)), node, before, _DEPTH
    )


def _shared(code: _Code, node: ir.Node | None, before: int, depth: int) -> str:
    if not depth or node is None:
        return ""
    if type(node) is ir.Name:
        return _shared(code, code.last_value(node.id, before), before, depth - 1)
    if type(node) is ir.BinOp and node.op == "*" and type(node.left) is ir.List and len(node.left.elts) == 1:
        once = type(node.right) is ir.Const and node.right.value == 1
        return "" if once else next(_arrays(code, node.left.elts, before), "")
    held = _held(code, node)
    names = list(_arrays(code, held, before))
    twice = next((name for name in names if names.count(name) > 1), "")
    return twice or _returned(code, node, depth)


def _held(code: _Code, node: ir.Node) -> Sequence[ir.Node]:
    """What a container, or an object that is made of its arguments, holds."""
    if isinstance(node, (ir.Tuple, ir.List)):
        return node.elts
    if type(node) is ir.Dict:
        return node.values
    if type(node) is not ir.Call or type(node.func) is not ir.Name or any(a.star for a in node.args):
        return ()
    made = code.module.scope.vars.get(node.func.id)
    plain = type(made) is Class and made.info.shape and "__init__" not in made.info.namespace
    return [arg.value for arg in node.args] if plain else ()


def _arrays(code: _Code, held: Sequence[ir.Node], before: int) -> Iterator[str]:
    """The variables among some expressions that certainly hold arrays which JAX has made."""
    for node in held:
        if type(node) is ir.Name and _is_of_arrays(code, code.last_value(node.id, before)):
            yield node.id


def _is_of_arrays(code: _Code, node: ir.Node | None) -> bool:
    if type(node) is ir.Dict:
        return any(_is_of_arrays(code, value) for value in node.values)
    if isinstance(node, (ir.Tuple, ir.List)):
        return any(_is_of_arrays(code, value) for value in node.elts)
    dotted = _dotted(code, node.func) if type(node) is ir.Call else ""
    return dotted.startswith(("jax.numpy.", "jax.random.", "jax.tree."))


def _dotted(code: _Code, node: ir.Node) -> str:
    if type(node) is ir.Attr:
        owner = _dotted(code, node.obj)
        return code.m.catalogue.canonical(f"{owner}.{node.name}") if owner else ""
    value = code.module.scope.vars.get(node.id) if type(node) is ir.Name else None
    return value.dotted if type(value) is Ext else ""


def _returned(code: _Code, node: ir.Node, depth: int) -> str:
    """What the only function that a call reaches returns, if that is written at one place."""
    noted = code.m.host_calls.calls.get((code.module.name, node.at)) if type(node) is ir.Call else None
    if noted is None or noted.jitted or noted.others or len(noted.functions) != 1:
        return ""
    fn = next(iter(noted.functions))
    returns = [part for part in fn.parts if type(part) is ir.Return]
    if fn.node.is_generator or len(returns) != 1:
        return ""
    return _shared(_Code(code.m, fn.module, fn.parts), returns[0].value, returns[0].at, depth - 1)


def _contains(node: ir.Node, at: int) -> bool:
    """Whether a call stands in an assignment, which comes after it."""
    return type(node) is ir.Assign and any(
        type(part) is ir.Call and part.at == at for part in below(node.value)
    )


def _is_plain(node: ir.Assign) -> bool:
    return len(node.targets) == 1 and type(node.targets[0]) is ir.Name
