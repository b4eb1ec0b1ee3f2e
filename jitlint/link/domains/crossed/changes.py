"""What is changed by the gradient of another argument (layer: ``link``, room ``domains``).

``grads = jax.grad(loss)(x, w)``, then ``w - 0.1 * grads``: the derivative was taken by ``x``. What it does: reads, in one function, what
a gradient is subtracted from or added to, leaf by leaf or by an optimiser, and compares that with the arguments of the call that gave it.
What it does not: judge mechanics, where the slope by a position changes a momentum: something has to say that a loss is made small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import CrossedGradient
from jitlint.infer.values import Arr, ExtInst, Func, Py
from jitlint.link.domains.crossed.taken import Derivative, Form, numbers_in, plain, root
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.results import only_result
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.link.values.questions.signatures import describe
from jitlint.syntax import ir
from jitlint.syntax.children import below

_SIGNS: Final = ("+", "-")
_MAPS: Final = ("map", "tree_map")
_UPDATE: Final = "update"
_UPDATING: Final = frozenset({_UPDATE})
_OPTAX: Final = "optax."
_APPLIES: Final = "optax.apply_updates"
_APPLY_GRADIENTS: Final = "apply_gradients"
_PARAMS: Final = "params"
"""What such a method of a training state changes."""
_ZIP: Final = "zip"
_STATEMENTS: Final = (ir.Assign, ir.AugAssign, ir.AnnAssign, ir.For)


class Change(NamedTuple):
    """Something is moved along something. optimised: by an optimiser. applied: along its updates. factors: what that is multiplied with."""

    node: ir.Node
    moved: ir.Expr
    along: ir.Expr
    optimised: bool = False
    applied: bool = False
    factors: Sequence[ir.Expr] = ()


def check(m: Machine, f: Frame, derivative: Derivative) -> None:
    """Record the first of its gradients that changes another argument of the call."""
    code = _Code(m, f, derivative)
    steps = [(change, form) for change in _changes(m, f, code) if (form := code.along(change)) is not None]
    for change, number in steps:
        own = plain(derivative.given(number)) if isinstance(number, int) else ""
        moved = plain(change.moved)
        others = {plain(arg.value) for arg in derivative.call.args} - {own}
        if not own or not moved or moved not in others or not isinstance(number, int):
            continue
        if not all(_is_number(m, f, factor) for factor in change.factors):
            continue
        if _is_meant(m, f, derivative, change, own) and not code.goes_together(number, own, change):
            loss = describe(derivative.x.target)
            m.emit(
                f, CrossedGradient, derivative.call.at, None, Confidence.LIKELY, by=own, changed=moved, loss=loss,
                number=_number(derivative, moved),
            )  # fmt: skip
            return


def _number(derivative: Derivative, path: str) -> int:
    """Which argument something is, -1 if it is passed by name."""
    places = (
        i for i, arg in enumerate(derivative.call.args) if plain(arg.value) == path and arg.name is None
    )
    return next(places, -1)


def _is_meant(m: Machine, f: Frame, derivative: Derivative, change: Change, own: str) -> bool:
    """Whether something says that what is changed is to be trained by it."""
    words, name = lexicon().gradients, last_name(change.moved)
    if naming.has_word(name, words.momenta):
        return False
    one, other = (paths.peek(m, f, node) for node in (change.moved, _argument(derivative, own)))
    ranks = [value.rank for value in (one, other) if type(value) is Arr and value.rank is not None]
    return (
        change.optimised
        or naming.has_word(name, words.trained)
        or naming.has_word(last_name(_called(derivative)), words.losses)
        or naming.has_word(describe(derivative.x.target).rpartition(".")[2], words.losses)
        or any(naming.has_word(last_name(factor), words.rates) for factor in change.factors)
        or len(set(ranks)) == 2
    )


def _argument(derivative: Derivative, path: str) -> ir.Expr:
    return next(arg.value for arg in derivative.call.args if plain(arg.value) == path)


def _called(derivative: Derivative) -> ir.Node | None:
    """What is differentiated where it is called, ``loss`` of ``jax.grad(loss)(x)``."""
    func = derivative.call.func
    return func.args[0].value if type(func) is ir.Call and func.args else None


class _Code:
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

    def along(self, change: Change) -> Form:
        """What something is moved along."""
        if change.applied and type(change.along) is ir.Name:
            return self._updates.get(change.along.id)
        return self.form(change.along)

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

    def form(self, node: ir.Node) -> Form:
        """What an expression holds of the result."""
        if node is self._derivative.call:
            return self._derivative.form
        if type(node) is ir.Name:
            return self.held.get(node.id)
        if type(node) is ir.Sub and type(node.index) is ir.Const and type(node.index.value) is int:
            whole = self.form(node.obj)
            known = isinstance(whole, tuple) and -len(whole) <= node.index.value < len(whole)
            return whole[node.index.value] if known and isinstance(whole, tuple) else None
        if type(node) is ir.Tuple:
            parts = tuple([self.form(part) for part in node.elts])
            return parts if any(True for _ in numbers_in(parts)) else None
        keeps = (
            type(node) is ir.Call and paths.dotted(self._m, self._f, node.func) in lexicon().gradients.keeping
        )
        return self.form(node.args[0].value) if keeps and type(node) is ir.Call and node.args else None

    def goes_together(self, number: int, own: str, change: Change) -> bool:
        """Whether what the gradient was taken by is changed by it as well, or is made of what it changes, or stands for something else by
        then."""
        moved = plain(change.moved)
        return (
            any(self._binds_both(node, own, moved) or self._changes_own(node, number, own) for node in self.statements)
            or any(self._adds(node, number, own, moved) for node in self.nodes)
            or self._is_set_between(own, moved, change)
        )  # fmt: skip

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
        if type(node) is ir.BinOp and node.op in _SIGNS and self._mentions(node, own):
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

    def _is_set_between(self, own: str, moved: str, change: Change) -> bool:
        """Whether one of the two is set between the derivative and the change."""
        names = {own, moved, root(own), root(moved)}
        return any(
            self._derivative.call.at < node.at < change.node.at
            and not names.isdisjoint(_targets(node))
            and not any(part is change.node or part is self._derivative.call for part in below(node))
            for node in self.statements
        )


def _is_term(node: ir.BinOp, part: ir.Node) -> bool:
    """Whether something is added or subtracted as it is, or times a number."""
    factors = [factor for side in (node.left, node.right) for factor in _factors(side)]
    return any(part is factor for factor in factors)


def _targets(node: ir.Node) -> set[str]:
    """The variables and attributes that a statement sets."""
    targets = node.targets if type(node) is ir.Assign else [getattr(node, "target", None)]
    return {text for target in targets for part in below(target) if (text := plain(part))}


def _changes(m: Machine, f: Frame, code: _Code) -> Iterator[Change]:
    """All that is moved along something in a function, in the order of the source."""
    for node in code.nodes:
        if type(node) is ir.AugAssign:
            yield from _moves(node, ir_walk.written_out(node))
        elif type(node) is ir.BinOp:
            yield from _moves(node, node)
        elif type(node) is ir.Comp:
            yield from _by_pair(node)
        elif type(node) is ir.Call:
            yield from _by_call(m, f, node)


def _moves(at: ir.Node, node: ir.BinOp) -> Iterator[Change]:
    """``w - rate * g``, or without a rate."""
    factors = list(_factors(node.right))
    for factor in factors if node.op in _SIGNS and len(factors) <= 2 else ():
        rest = [other for other in factors if other is not factor]
        yield Change(at, node.left, factor, factors=rest)


def _factors(node: ir.Expr) -> Iterator[ir.Expr]:
    if type(node) is ir.BinOp and node.op == "*":
        yield from _factors(node.left)
        yield from _factors(node.right)
    elif type(node) is ir.UnaryOp and node.op == "-":
        yield from _factors(node.operand)
    else:
        yield node


def _is_number(m: Machine, f: Frame, node: ir.Expr) -> bool:
    """Whether a factor is a number that the function is given: everything else may be a derivative, too."""
    value = paths.peek(m, f, node)
    given = type(node) is ir.Name and f.fn is not None and any(p.name == node.id for p in f.fn.node.params)
    return (
        type(node) is ir.Const
        or type(value) is Py
        or (given and type(value) is Arr and value.rank == 0)
        or naming.has_word(last_name(node), lexicon().gradients.rates)
    )


def _by_call(m: Machine, f: Frame, node: ir.Call) -> Iterator[Change]:
    given = [arg.value for arg in node.args]
    name = last_name(node.func)
    if name in _MAPS and len(given) == 3:
        yield from _by_leaf(m, f, node, given)
    elif name == _UPDATE and type(node.func) is ir.Attr:
        owner, params = paths.peek(m, f, node.func.obj), derivatives.argument(node, 2, "params")
        if type(owner) is ExtInst and owner.dotted.startswith(_OPTAX) and params is not None:
            yield Change(node, params, given[0], optimised=True)
    elif name == _APPLY_GRADIENTS and type(node.func) is ir.Attr and len(given) == 1:
        yield Change(node, ir.Attr(node.at, node.func.obj, _PARAMS), given[0], optimised=True)
    elif len(given) == 2 and paths.dotted(m, f, node.func) == _APPLIES:
        yield Change(node, given[0], given[1], optimised=True, applied=True)


def _by_leaf(m: Machine, f: Frame, node: ir.Call, given: Sequence[ir.Expr]) -> Iterator[Change]:
    """``jax.tree.map(lambda p, g: p - rate * g, params, grads)``."""
    formula = given[0]
    made = paths.peek(m, f, formula)
    fn = f.module.functions[formula.function] if type(formula) is ir.Lambda else None
    fn = made.fn if type(made) is Func else fn
    names = [param.name for param in fn.node.params] if fn is not None else []
    body = only_result(fn.body) if fn is not None else None
    for move in _moves(node, body) if type(body) is ir.BinOp and len(names) >= 2 else ():
        if last_name(move.moved) == names[0] and last_name(move.along) == names[1]:
            yield Change(node, given[1], given[2], factors=move.factors)


def _by_pair(node: ir.Comp) -> Iterator[Change]:
    """``[w - rate * dw for w, dw in zip(params, grads)]``."""
    pairs = node.fors[0].iter
    target = node.fors[0].target
    if type(pairs) is not ir.Call or last_name(pairs.func) != _ZIP or len(pairs.args) != 2:
        return
    if type(target) is not ir.Tuple or len(target.elts) != 2:
        return
    left, right = ({name.id for name in ir_walk.bound_names([part])} for part in target.elts)
    for part in below(node.elt):
        for move in _moves(node, part) if type(part) is ir.BinOp else ():
            if last_name(move.moved) in left and last_name(move.along) in right:
                yield Change(node, pairs.args[0].value, pairs.args[1].value, factors=move.factors)
                return
