"""What the code around the call of a derivative does with the gradients (layer: ``link``, room ``domains``).

What it does: knows which variables hold which gradient, and whether the argument that it was taken by is changed as well. What it does
not: know a variable that is set to something else, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.crossed.taken import Derivative, Form, numbers_in, plain, root
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

SIGNS: Final = ("+", "-")
UPDATE: Final = "update"
_UPDATING: Final = frozenset({UPDATE})
_STATEMENTS: Final = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For)


class Code:
    """The function, or the body of a module, in which a derivative is called. held: what its variables hold of the result."""

    def __init__(self, m: Machine, f: Frame, derivative: Derivative) -> None:
        self._m = m
        self._f = f
        self._derivative = derivative
        self.nodes = sorted(ir_walk.code_of(f.module, f.fn), key=lambda node: node.at)
        self.statements = [node for node in self.nodes if isinstance(node, _STATEMENTS)]
        self._set = Counter(name for node in self.nodes for name in ir_walk.bound_by(node))
        self._odd = set[str]()
        self.held: dict[str, Form] = {}
        while self._finds_odd():
            pass
        self._updates = dict(filter(None, map(self._updated, self.nodes)))

    def _finds_odd(self) -> bool:
        """Whether some variables turn out to be set to something else as well, when it is written down what they hold."""
        self.held, self._bound = {}, Counter[str]()
        for node in self.statements:
            if type(node) is ir.Assign:
                self._bind_all(node)
        odd = {name for name in self.held if self._bound[name] != self._set[name]}
        self._odd |= odd
        return bool(odd)

    def _bind_all(self, node: ir.Assign) -> None:
        form = self.form(node.value)
        for target in node.targets if form is not None else ():
            self._bind(target, form)

    def _bind(self, target: ir.Node, form: Form) -> None:
        if type(target) is ir.Name and target.id not in self._odd:
            self._bound[target.id] += self.held.setdefault(target.id, form) == form
        elif type(target) is ir.Tuple and isinstance(form, tuple) and len(target.elts) == len(form):
            for part, inner in zip(target.elts, form):
                self._bind(part, inner)

    def _updated(self, node: ir.Node) -> tuple[str, Form] | None:
        """``updates, state = tx.update(grads, state)``: what an optimiser makes of a gradient, or may make."""
        if type(node) is not ir.Assign or type(node.value) is not ir.Call or not node.value.args:
            return None
        target = node.targets[0]
        first = target.elts[0] if type(target) is ir.Tuple and len(target.elts) == 2 else None
        called = naming.has_word(last_name(node.value.func), _UPDATING)
        form = self.form(node.value.args[0].value) if called else None
        known = type(first) is ir.Name and self._set[first.id] == 1 and form is not None
        return (first.id, form) if known and type(first) is ir.Name else None

    def updates(self, node: ir.Node) -> Form:
        """The gradient that updates are made of."""
        return self._updates.get(node.id) if type(node) is ir.Name else None

    def form(self, node: ir.Node) -> Form:
        """What an expression holds of the result."""
        if node is self._derivative.call:
            return self._derivative.form
        if type(node) is ir.Name:
            return self.held.get(node.id)
        if type(node) is ir.Sub and type(node.index) is ir.Const and type(node.index.value) is int:
            return _part(self.form(node.obj), node.index.value)
        if type(node) is ir.Tuple:
            parts = tuple([self.form(part) for part in node.elts])
            return parts if any(True for _ in numbers_in(parts)) else None
        return self._kept(node) if type(node) is ir.Call and node.args else None

    def _kept(self, node: ir.Call) -> Form:
        """What a call gives that leaves gradients what they are."""
        keeps = paths.dotted(self._m, self._f, node.func) in lexicon().gradients.keeping
        return self.form(node.args[0].value) if keeps else None

    def goes_together(self, number: int, own: str, moved: str, change: ir.Node) -> bool:
        """Whether what the gradient was taken by is changed by it as well, or is made of what it changes, or stands for something else by
        then."""
        return (
            any(
                self._binds_both(node, own, moved) or self._changes_own(node, number, own)
                for node in self.statements
            )
            or any(self._adds(node, number, own, moved) for node in self.nodes)
            or self._is_set_between({own, moved, root(own), root(moved)}, change)
        )

    def _binds_both(self, node: ir.Node, own: str, moved: str) -> bool:
        """Whether one of the two is set to what is made of the other."""
        texts = _targets(node)
        value = getattr(node, "value", None)
        return any(
            mine in texts and self._mentions(value, other) for mine, other in ((own, moved), (moved, own))
        )

    def _changes_own(self, node: ir.Node, number: int, own: str) -> bool:
        """Whether the gradient is in what its own argument is set to."""
        value = node.iter if type(node) is ir.For else getattr(node, "value", None)
        takes = value is not None and value is not self._derivative.call and self._uses(value, number)
        return own in _targets(node) and takes

    def _adds(self, node: ir.Node, number: int, own: str, moved: str) -> bool:
        """Whether the gradient, or what it changes, is put together with what the gradient was taken by."""
        if type(node) is ir.BinOp and node.op in SIGNS and self._mentions(node, own):
            inside = below(node)
            return self._uses(node, number) or any(
                plain(part) == moved and _is_term(node, part) for part in inside
            )
        if type(node) is ir.Call and node is not self._derivative.call:
            given = [arg.value for arg in node.args]
            return any(plain(one) == own for one in given) and any(
                self._is_gradient(one, number) for one in given
            )
        return False

    def _mentions(self, node: ir.Node | None, path: str) -> bool:
        """Whether something is read in an expression, other than by the derivative."""
        call = self._derivative.call
        aside = {id(part) for part in below(call)}
        return node is not None and any(plain(part) == path and id(part) not in aside for part in below(node))

    def _is_gradient(self, node: ir.Node, number: int) -> bool:
        return number in numbers_in(self.form(node))

    def _uses(self, node: ir.Node, number: int) -> bool:
        """Whether the gradient is in an expression, other than in the call that gives it."""
        return any(self._is_gradient(part, number) for part in below(node) if type(part) is ir.Name)

    def _is_set_between(self, names: set[str], change: ir.Node) -> bool:
        """Whether one of these is set between the derivative and the change."""
        call = self._derivative.call
        return any(
            call.at < node.at < change.at
            and not names.isdisjoint(_targets(node))
            and not any(part is change or part is call for part in below(node))
            for node in self.statements
        )


def _part(form: Form, number: int) -> Form:
    """One of the things that lie side by side."""
    return form[number] if isinstance(form, tuple) and -len(form) <= number < len(form) else None


def _is_term(node: ir.BinOp, part: ir.Node) -> bool:
    """Whether something is added or subtracted as it is, or times a number."""
    found = [factor for side in (node.left, node.right) for factor in factors(side)]
    return any(part is factor for factor in found)


def _targets(node: ir.Node) -> set[str]:
    """The variables and attributes that a statement sets."""
    targets = node.targets if type(node) is ir.Assign else [getattr(node, "target", None)]
    return {text for target in targets for part in below(target) if (text := plain(part))}


def factors(node: ir.Expr) -> Iterator[ir.Expr]:
    """What is multiplied, without its sign."""
    if type(node) is ir.BinOp and node.op == "*":
        yield from factors(node.left)
        yield from factors(node.right)
    elif type(node) is ir.UnaryOp and node.op == "-":
        yield from factors(node.operand)
    else:
        yield node
