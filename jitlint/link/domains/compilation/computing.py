"""Whether a function only computes with one of its parameters, and would do so with a tracer too (layer: ``link``, room
``domains``).

What it does: reads each place where the parameter, or what is made of it, stands, in the functions that it is handed to as
well. What it does not: guess. A place that it does not know, a condition, a shape, a call of something else, may need the
number itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Ext, Func, Mod, Py, Value, alternatives
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.engine import scopes
from jitlint.link.tables import ir_walk
from jitlint.link.tables.results import only_returned
from jitlint.syntax import ir

_DEPTH: Final = 5
"""So many functions in each other are read."""
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "**", "&", "|"})
_COMPARISONS: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})


def only_computes(fn: FuncInfo, name: str, depth: int = _DEPTH) -> bool:
    """Whether every use of a parameter is a computation that a tracer can stand in."""
    return bool(depth) and _Reading(fn, name, depth).holds


def is_fraction(variation: Variation, node: ir.Node | None, depth: int = _DEPTH) -> bool:
    """Whether an expression is certainly a Python number with a point."""
    if type(node) is ir.Const:
        return node.kind == "float"
    if not depth:
        return False
    if type(node) is ir.Name:
        return _is_named_fraction(variation, node.id, depth)
    divided = type(node) is ir.BinOp and node.op == "/"  # what it is a static argument of takes no arrays
    return divided or any(is_fraction(variation, part, depth - 1) for part in _operands(variation, node))


def _operands(variation: Variation, node: ir.Node | None) -> list[ir.Expr]:
    """What an expression computes a number from, which has a point if one of them has."""
    if type(node) is ir.BinOp:
        return [node.left, node.right]
    if type(node) is ir.UnaryOp:
        return [node.operand]
    known = type(node) is ir.Call and variation.dotted(node.func) in lexicon().compilation.same_number
    return [arg.value for arg in node.args] if type(node) is ir.Call and known else []


def _is_named_fraction(variation: Variation, name: str, depth: int) -> bool:
    if name in variation.given and name not in variation.table.bound:
        outer, given = variation.given[name]
        return is_fraction(outer, given, depth - 1)
    value = scopes.lookup(variation.f, name)
    alts = alternatives(value) if value is not None else []
    return bool(alts) and all(type(alt) is Py and alt.kind == "float" for alt in alts)


class _Reading:
    """One function and a parameter of it. made: the variables that are the parameter or made of it."""

    def __init__(self, fn: FuncInfo, name: str, depth: int) -> None:
        self.fn = fn
        self.depth = depth
        self.name = name
        self.made = {name}
        self.inner = list(ir_walk.inner_functions(fn.module, fn.body))
        self.named = {one.name: one for one in self.inner}
        self.bodies: list[Sequence[ir.Node]] = [fn.body, *[one.body for one in self.inner]]
        self._follow()
        self.holds = not self._is_hidden(name) and all(
            self.statement(node) for body in self.bodies for node in body
        )

    def _is_hidden(self, name: str) -> bool:
        """Whether the name means something else in places, or a default of an inner function is made of it."""
        params = [param for one in self.inner for param in one.node.params]
        set_again = any(
            name in ir_walk.bound_by(node) for body in self.bodies for node in ir_walk.nodes(list(body))
        )
        return set_again or any(param.name == name or self._mentions(param.default) for param in params)

    def _follow(self) -> None:
        """Variables that are made of it, until there are no more."""
        before = 0
        while before != len(self.made):
            before = len(self.made)
            for body in self.bodies:
                for node in ir_walk.nodes(list(body)):
                    value = getattr(node, "value", None)
                    if isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign)) and self._flows(value):
                        self.made.update(ir_walk.bound_by(node))

    def _flows(self, node: ir.Node | None) -> bool:
        """Whether an expression may be a number of Python's that is made of it: what JAX computes in a trace is a tracer anyway."""
        if not self._mentions(node):
            return False
        if type(node) is ir.Call:
            return not self._is_computation(node) and self._comes_back(node)
        if type(node) is ir.BinOp:
            return self._flows(node.left) or self._flows(node.right)
        return True

    def _comes_back(self, node: ir.Call) -> bool:
        """Whether a function that gets it may give back a number of Python's; a method of an array does not."""
        if type(node.func) is ir.Attr and node.func.name in lexicon().compilation.computing_methods:
            return self._flows(node.func.obj)
        callee = self._function(node)
        returned = only_returned(callee.parts) if callee is not None and self.depth > 1 else None
        if callee is None or returned is None:
            return True
        given = ir_walk.by_parameter(node, callee.node.params)
        names = [name for name, value in given if self._mentions(value)]
        return any(not name or _Reading(callee, name, self.depth - 1)._flows(returned) for name in names)

    def _function(self, node: ir.Call) -> FuncInfo | None:
        """The function of the project that a call is of, mapped or not."""
        func = node.func
        if type(func) is ir.Call and self._is_computation(func, lexicon().gradients.mapping) and func.args:
            func = func.args[0].value
        callee = self._known(func)
        if type(callee) is Func:
            return callee.fn
        return self.named.get(func.id) if type(func) is ir.Name else None

    def _is_computation(self, node: ir.Call, names: frozenset[str] = frozenset()) -> bool:
        """Whether a function of JAX is called that takes tracers, or one of these."""
        callee, words = self._known(node.func), lexicon().compilation
        if type(callee) is not Ext or names:
            return type(callee) is Ext and callee.dotted in names
        return callee.dotted.startswith(words.computing) and callee.dotted not in words.not_computing

    def _mentions(self, node: object) -> bool:
        return any(type(part) is ir.Name and part.id in self.made for part in ir_walk.nodes(node))

    def statement(self, node: ir.Node) -> bool:
        """Whether what a statement does with it is a computation."""
        if isinstance(node, (ir.Assign, ir.AnnAssign, ir.ExprStmt, ir.Return, ir.AugAssign)):
            return self.expression(node.value)
        if isinstance(node, (ir.If, ir.While)):
            return not self._mentions(node.test) and self._all([*node.body, *node.orelse])
        if type(node) is ir.For:
            return not self._mentions(node.iter) and self._all([*node.body, *node.orelse])
        if type(node) is ir.With:
            return not self._mentions([item.value for item in node.items]) and self._all(node.body)
        return type(node) is ir.FuncDef or not self._mentions(node)

    def _all(self, statements: Iterable[ir.Node]) -> bool:
        return all(self.statement(one) for one in statements)

    def expression(self, node: ir.Node | None) -> bool:
        """Whether all that an expression does with it is a computation."""
        if not self._mentions(node) or type(node) in (ir.Name, ir.Lambda):
            return True
        read = _READ.get(type(node))
        return read is not None and read(self, node)

    def _each(self, nodes: Iterable[ir.Node | None]) -> bool:
        return all(self.expression(one) for one in nodes)

    def _operation(self, node: ir.BinOp) -> bool:
        return node.op in _ARITHMETIC and self._each([node.left, node.right])

    def _comparison(self, node: ir.Compare) -> bool:
        return _COMPARISONS.issuperset(node.ops) and self._each([node.left, *node.rights])

    def _attribute(self, node: ir.Attr) -> bool:
        """An array that was made of it has attributes; the number itself has none that a tracer has too."""
        itself = type(node.obj) is ir.Name and node.obj.id == self.name
        return not itself and self.expression(node.obj)

    def _call(self, node: ir.Call) -> bool:
        args = [arg.value for arg in node.args]
        if any(arg.star and self._mentions(arg.value) for arg in node.args):
            return False
        callee = self._known(node.func)
        if type(callee) is Ext:
            return self._is_computation(node) and self._each(args)
        function = self._function(node)
        if function is not None:
            return self._handed(node, function)
        method = node.func.name if type(node.func) is ir.Attr and callee is None else ""
        return method in lexicon().compilation.computing_methods and self._each([node.func, *args])

    def _handed(self, node: ir.Call, callee: FuncInfo) -> bool:
        """A function of the project gets it."""
        for name, value in ir_walk.by_parameter(node, callee.node.params):
            if self._mentions(value) and not (
                name and self.expression(value) and only_computes(callee, name, self.depth - 1)
            ):
                return False
        return True

    def _known(self, node: ir.Node | None) -> Value | None:
        """What a name, or an attribute of a module, stands for in the module."""
        if type(node) is ir.Name:
            local = node.id in self.fn.node.local_names or node.id in self.named
            return None if local else self.fn.module.scope.vars.get(node.id)
        if type(node) is not ir.Attr:
            return None
        owner = self._known(node.obj)
        if type(owner) is Ext:
            return Ext(f"{owner.dotted}.{node.name}")
        return owner.info.scope.vars.get(node.name) if type(owner) is Mod else None


_READ: Final[dict[type, Callable[..., bool]]] = {
    ir.BinOp: _Reading._operation,
    ir.Compare: _Reading._comparison,
    ir.Call: _Reading._call,
    ir.UnaryOp: lambda self, node: node.op in "+-~" and self.expression(node.operand),
    ir.Attr: _Reading._attribute,
    ir.Sub: lambda self, node: not self._mentions(node.index) and self.expression(node.obj),
    ir.Tuple: lambda self, node: self._each(node.elts),
    ir.List: lambda self, node: self._each(node.elts),
    ir.Dict: lambda self, node: not self._mentions(node.keys) and self._each(node.values),
}
