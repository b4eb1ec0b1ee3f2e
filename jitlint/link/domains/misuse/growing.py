"""Carries that grow: the body of a loop puts something to an array of its carry, which then has another shape (layer: ``link``, room ``domains``).

What it does: reads statements of the body that follow one another, from the carry to what is returned. What it does not:
follow branches and loops in it, or believe that what is put there has any elements where it may have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Union

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TransformMisuse
from jitlint.infer.values import Ext, Func, Scope
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names, last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

LOOPS: Final = {
    "jax.lax.scan": (0, "f", 0),
    "jax.lax.while_loop": (1, "body_fun", 0),
    "jax.lax.fori_loop": (2, "body_fun", 1),
}
"""Of each loop, which argument its body is, and which parameter of that the carry."""

_WITHOUT_SHAPE: Final = 2
"""So many arguments no function has that is told a shape after a key and what it draws from."""

_Part = Union[int, str, None]
"""Which part of the carry: an index, a key, or all of it."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A loop of the library is called."""
    index, name, parameter = LOOPS[library.dotted]
    body = library.args.get(index, name)
    if type(body) is not Func or len(body.fn.node.params) <= parameter:
        return
    part = _Body(m, body, body.fn.node.params[parameter].name).grown(library.dotted == "jax.lax.scan")
    if part is not None:
        m.emit(
            f, TransformMisuse, library.at, None, transform=library.dotted, problem="carry-mismatch", parameter="",
            detail=f"the array{part} goes out with more elements than came in",
        )  # fmt: skip


class _Body:
    """held: the parts of the carry that variables are. larger: those that have been put to something. filled: whether other variables surely have elements."""

    __slots__ = ("carry", "filled", "func", "held", "larger", "m")

    def __init__(self, m: Machine, func: Func, carry: str) -> None:
        self.m = m
        self.func = func
        self.carry = carry
        self.held: dict[str, _Part] = {carry: None}
        self.larger: dict[str, _Part] = {}
        self.filled: dict[str, bool] = {}

    def grown(self, paired: bool) -> str | None:
        """The part of the carry that is returned with more elements, in words; None if that is not known of any."""
        for statement in self.func.fn.body:
            if type(statement) is ir.Return:
                return self._returned(statement.value, paired)
            if type(statement) is ir.Assign and len(statement.targets) == 1:
                self._assigned(statement.targets[0], statement.value)
                continue
            inside = below([statement])
            if any(type(node) is ir.Return for node in inside):
                return None
            self._forget([node for node in inside if type(node) is ir.Name])
        return None

    def _returned(self, value: ir.Expr | None, paired: bool) -> str | None:
        if paired:
            value = value.elts[0] if type(value) is ir.Tuple and value.elts else None
        if self._grows(value, None):
            return ""
        elts = value.elts if type(value) is ir.Tuple else ()
        return next((f" at `[{i}]`" for i, elt in enumerate(elts) if self._grows(elt, i)), None)

    def _grows(self, node: ir.Node | None, part: _Part) -> bool:
        """Whether an expression is a part of the carry with something put to it."""
        if type(node) is ir.Name:
            return node.id in self.larger and self.larger[node.id] == part
        found = self._joined(node)
        return found is not None and found == (part,)

    def _assigned(self, target: ir.Expr, value: ir.Expr) -> None:
        names = list(bound_names([target]))
        unpacked = type(target) is ir.Tuple and type(value) is ir.Name and self._is_carry(value)
        larger, filled = self._joined(value), self._has_elements(value)
        self._forget(names)
        if type(target) is ir.Name:
            self.filled[target.id] = filled
            if type(value) is ir.Name and value.id in self.held and target.id != value.id:
                self.held[target.id] = self.held[value.id]
            if larger is not None:
                self.larger[target.id] = larger[0]
        elif unpacked and type(target) is ir.Tuple:
            self.held |= {elt.id: i for i, elt in enumerate(target.elts) if type(elt) is ir.Name}

    def _is_carry(self, node: ir.Name) -> bool:
        return self.held.get(node.id, 0) is None

    def _forget(self, names: Sequence[ir.Name]) -> None:
        for name in names:
            for table in (self.held, self.larger):
                table.pop(name.id, None)
            self.filled[name.id] = False

    def _joined(self, node: ir.Node | None) -> tuple[_Part] | None:
        """The part of the carry that a call puts to something that has elements."""
        if type(node) is not ir.Call or not self._lengthens(node.func):
            return None
        held: list[_Part] = []
        others: list[ir.Expr] = []
        for part in _put_together(node):
            if type(part) is ir.Name and part.id in self.held:
                held.append(self.held[part.id])
            else:
                others.append(part)
        return (held[0],) if len(held) == 1 and any(map(self._has_elements, others)) else None

    def _lengthens(self, node: ir.Node) -> bool:
        if last_name(node) not in lexicon().compilation.growing:
            return False
        return _dotted(self.m, self.func, node).startswith(("jax.numpy.", "jax.lax."))

    def _has_elements(self, node: ir.Expr) -> bool:
        """Whether what is put there is one more by the way it is written, or is what the loop gives its body."""
        if type(node) is ir.Name:
            given = any(param.name == node.id for param in self.func.fn.node.params)
            return self.filled.get(node.id, given)
        if type(node) is ir.BinOp:
            return self._has_elements(node.left) and self._has_elements(node.right)
        return _is_one_more(node) or self._gives(node)

    def _gives(self, node: ir.Expr) -> bool:
        """Whether an expression is what a function of JAX draws or finds, one number at least."""
        while (
            type(node) is ir.Call
            and type(node.func) is ir.Attr
            and node.func.name in lexicon().compilation.same_shape
        ):
            node = node.func.obj
        if type(node) is not ir.Call or last_name(node.func) not in lexicon().compilation.giving:
            return False
        shaped = len(node.args) > _WITHOUT_SHAPE or any(arg.star or arg.name == "shape" for arg in node.args)
        return not shaped and _dotted(self.m, self.func, node.func).startswith("jax.")


def _put_together(node: ir.Call) -> Sequence[ir.Expr]:
    """What a call puts together: the items of its first argument, or its first two arguments."""
    given = [arg.value for arg in node.args if not arg.name and not arg.star]
    first = given[0] if given else None
    return first.elts if isinstance(first, (ir.List, ir.Tuple)) else given[:2]


def _is_one_more(node: ir.Expr) -> bool:
    """Whether an expression has an element whatever its parts are: ``x[None]``, ``[x]``, a number."""
    if isinstance(node, (ir.List, ir.Tuple)):
        return bool(node.elts)
    if type(node) is ir.Sub:
        indices = node.index.elts if type(node.index) is ir.Tuple else [node.index]
        return any(type(index) is ir.Const and index.kind == "none" for index in indices)
    if type(node) is ir.Call:
        name = last_name(node.func)
        inside = node.args[0].value if node.args else None
        listed = isinstance(inside, (ir.List, ir.Tuple)) and bool(inside.elts)
        return name == "expand_dims" or (listed and name in ("array", "asarray"))
    return type(node) is ir.Const and node.kind in ("int", "float")


def _dotted(m: Machine, func: Func, node: ir.Node | None) -> str:
    """The name of a library's function, as the body's names stand for it."""
    if type(node) is ir.Attr:
        around = _dotted(m, func, node.obj)
        return m.catalogue.canonical(f"{around}.{node.name}") if around else ""
    if type(node) is not ir.Name:
        return ""
    scope: Scope | None = func.scope
    while scope is not None:
        value = scope.vars.get(node.id)
        if value is not None:
            return value.dotted if type(value) is Ext else ""
        scope = scope.parent
    return ""
