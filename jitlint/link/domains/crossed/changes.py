"""What is changed by the gradient of another argument (layer: ``link``, room ``domains``).

``grads = jax.grad(loss)(x, w)``, then ``w - 0.1 * grads``: the derivative was taken by ``x``. What it does: reads, in one function, what
a gradient is subtracted from or added to, leaf by leaf or by an optimiser, and compares that with the arguments of the call that gave it.
What it does not: judge mechanics, where the slope by a position changes a momentum: something has to say that a loss is made small.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OUTPUT, CrossedGradient, OddOptimiser
from jitlint.infer.values import Arr, ExtInst, Func, Py
from jitlint.link.domains.crossed.code import SIGNS, UPDATE, Code, factors
from jitlint.link.domains.crossed.taken import Derivative, plain
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, ir_walk, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.results import only_result
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.link.values.questions.signatures import describe
from jitlint.syntax import ir
from jitlint.syntax.children import below

_MAPS: Final = ("map", "tree_map")
_OPTAX: Final = "optax."
_APPLIES: Final = "optax.apply_updates"
_APPLY_GRADIENTS: Final = "apply_gradients"
_PARAMS: Final = "params"
"""What such a method of a training state changes."""
_ZIP: Final = "zip"
_HOLOMORPHIC: Final = "holomorphic"


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
    code = Code(m, f, derivative)
    for change in _changes(m, f, code):
        number = code.updates(change.along) if change.applied else code.form(change.along)
        if isinstance(number, int) and _is_complex(m, f, derivative, change, number):
            m.emit(
                f, OddOptimiser, change.node.at, None, Confidence.LIKELY, problem="conjugate",
                name=plain(change.moved),
            )  # fmt: skip
            return
        if isinstance(number, int) and _crosses(m, f, derivative, code, change, number):
            moved, loss = plain(change.moved), describe(derivative.x.target)
            m.emit(
                f, CrossedGradient, derivative.call.at, None, Confidence.LIKELY, by=plain(derivative.given(number)),
                changed=moved, loss=loss, number=_number(derivative, moved),
            )  # fmt: skip
            return


def _is_complex(m: Machine, f: Frame, derivative: Derivative, change: Change, number: int) -> bool:
    """Whether complex numbers go along their own gradient, which points along the conjugate."""
    moved = plain(change.moved)
    if (
        change.applied
        or not moved
        or plain(derivative.given(number)) != moved
        or _HOLOMORPHIC in derivative.x.options
    ):
        return False
    value = paths.peek(m, f, change.moved)
    return type(value) is Arr and value.dtype == "complex" and not value.softness


def _crosses(m: Machine, f: Frame, derivative: Derivative, code: Code, change: Change, number: int) -> bool:
    """Whether the gradient by the argument of this number certainly changes another one."""
    own, moved = plain(derivative.given(number)), plain(change.moved)
    others = {plain(arg.value) for arg in derivative.call.args} - {own, ""}
    return (
        bool(own)
        and (
            (moved in others and not code.goes_together(number, own, moved, change.node))
            or _is_output(m, f, derivative, own, moved)
        )
        and all(_is_number(m, f, factor) for factor in change.factors)
        and _is_meant(m, f, derivative, change, own)
    )


def _is_output(m: Machine, f: Frame, derivative: Derivative, own: str, moved: str) -> bool:
    """Whether a derivative is taken by what a model gave, ``preds = model(params, x)``, and not by its parameters."""
    if f.fn is None or not moved or not naming.has_word(own.rpartition(".")[2], lexicon().gradients.outputs):
        return False
    made = bound_once.only_binding(f.fn, own)
    value = paths.peek(m, f, _argument(derivative, own))
    if made is None or type(value) is not Arr or made.at > derivative.call.at:
        return False
    call = made.value
    given = [arg.value for arg in call.args] if type(call) is ir.Call else []
    return len(given) > 1 and any(plain(node) == moved for node in given)


def _number(derivative: Derivative, path: str) -> int:
    """Which argument something is, -1 if it is passed by name, `OUTPUT` if it is none."""
    if all(plain(arg.value) != path for arg in derivative.call.args):
        return OUTPUT
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


def _changes(m: Machine, f: Frame, code: Code) -> Iterator[Change]:
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
    found = list(factors(node.right))
    for factor in found if node.op in SIGNS and len(found) <= 2 else ():
        rest = [other for other in found if other is not factor]
        yield Change(at, node.left, factor, factors=rest)


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
    elif name == UPDATE and type(node.func) is ir.Attr:
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
