"""Targets that are made with the model's own values, and that gradients flow into (layer: ``link``, room ``domains``).

``(q - (reward + gamma * next_q)) ** 2``: where ``q`` and ``next_q`` come from the parameters that the loss is differentiated by, the
gradient changes the target as well as the prediction. What it does: runs differentiated functions again in which something called a reward
and something multiplied with what is called a discount are added, and follows the sum to a square. What it does not: read other names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import MovingTarget
from jitlint.infer.followed import BOOT, ERROR
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import BACK, L, Value
from jitlint.link.domains.targets import weights
from jitlint.link.engine import apart
from jitlint.link.engine.apart import Derivatives
from jitlint.link.engine.domain import Domain, Library, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import OWN
from jitlint.link.tables.ir_walk import last_name, path_text
from jitlint.link.values import pytrees
from jitlint.link.values.questions.signatures import describe
from jitlint.syntax import ir
from jitlint.syntax.children import below

_RUNS: Final = 64
"""So many functions are run again at most."""


class Difference(NamedTuple):
    """Where a target is compared. qualname: of the function where that stands. target: what it is called."""

    module: str
    at: int
    qualname: str
    target: str


class Targets(Domain[None]):
    """Runs each differentiated function again, in programs that make such sums."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._derivatives = Derivatives(m)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A differentiated function has run."""
        self._derivatives.add(f, transformed)

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """Something is multiplied under a derivative."""
        if node.op == "*" and f.world.modes & BACK and not f.world.modes & OWN and not f.module.is_test:
            weights.check(self.m, f, node, operands)
        return result

    def finish(self) -> None:
        """Look at each of them."""
        derivatives = list(self._derivatives.all.values())
        if not derivatives or not self._makes_sums():
            return
        for transformed in derivatives[_RUNS:]:
            apart.leave_out(self.m, transformed)
        for transformed in derivatives[:_RUNS]:
            listener = _Listener(self.m)
            apart.run(self.m, transformed, transformed.arrived, listener)
            for one in listener.differences if listener.squared else ():
                self.m.emit(
                    transformed.inner, MovingTarget, one.at, None, Confidence.LIKELY, where=(one.module, one.qualname),
                    target=one.target, discount=listener.discount, loss=describe(transformed.x.target),
                )  # fmt: skip

    def _makes_sums(self) -> bool:
        """Whether some function adds what is discounted to a reward."""
        return any(
            type(node) is ir.BinOp and node.op == "+" and _discount(node)
            for info in self.m.modules.values()
            for nodes in info.code()
            for node in nodes
        )


class _Listener(Domain[None]):
    """Follows such sums through one function. differences: between one of them and a value of the model. squared: one was
    squared, so that it is a loss. discount: how it is called."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.differences: list[Difference] = []
        self.squared = False
        self.discount = ""

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """Sums, differences and squares."""
        if f.world.modes & OWN or not f.world.modes & BACK:
            return result
        left, right = map(traced_modes, operands)
        if node.op == "+" and bool(left & L) != bool(right & L):
            discount = _discount(node)
            self.discount = self.discount or discount
            return _marked(result, BOOT) if discount else result
        if node.op == "-":
            return self._compared(f, node.at, (node.left, node.right), (left, right), result)
        squares = node.op == "**" or (node.op == "*" and operands[0] is operands[1])
        self.squared = self.squared or (squares and bool(left & ERROR) and bool(left & L))
        return result

    def _compared(
        self, f: Frame, at: int, nodes: tuple[ir.Node, ir.Node], modes: tuple[int, int], result: Value
    ) -> Value:
        """A target that moves, and what else moves: the difference between them."""
        boots = [bool(one & BOOT) for one in modes]
        if not all(one & L for one in modes) or all(boots) or not any(boots):
            return result
        target = path_text(nodes[boots.index(True)])
        self.differences.append(Difference(f.module.name, at, f.qualname, target))
        return _marked(result, ERROR)

    def hears_of(self, dotted: str) -> bool:
        """Losses."""
        return dotted.rpartition(".")[2] in lexicon().gradients.squaring

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A loss of a difference, or of both."""
        given = [*([library.owner] if library.owner is not None else []), *library.args.pos]
        call = self.m.texts.table(f).calls.get(library.at)
        modes = [traced_modes(value) for value in given]
        if modes and modes[0] & ERROR and modes[0] & L:
            self.squared = True
        elif len(modes) == 2 and call is not None and len(call.args) == 2:
            nodes = (call.args[0].value, call.args[1].value)
            before = len(self.differences)
            self._compared(f, library.at, nodes, (modes[0], modes[1]), library.result)
            self.squared = self.squared or len(self.differences) > before
        return None


def _marked(value: Value, mark: int) -> Value:
    return pytrees.remode(value, lambda modes: modes | mark if modes & L else modes)


def _discount(node: ir.BinOp) -> str:
    """What the discount is called, if an expression adds a value that has one to a reward, else ""."""
    words = lexicon().gradients
    for reward, value in ((node.left, node.right), (node.right, node.left)):
        factors = list(_factors(value))
        known = _last(reward) in words.rewards or (
            _last(reward) == _BRIEF and any(map(_is_of_steps, factors))
        )
        discount = next((name for factor in factors if (name := _name_of_discount(factor))), "")
        if known and discount:
            return discount
    return ""


def _name_of_discount(node: ir.Node) -> str:
    """What a factor is called that is a discount, or the number that it is: something below one, and not much."""
    if type(node) is ir.Const:
        is_one = node.kind == "float" and isinstance(node.value, float) and _LEAST <= node.value < 1
        return str(node.value) if is_one else ""
    return _written(node) if _last(node) in lexicon().gradients.discounts else ""


_LEAST: Final = 0.9
"""A number that is written out is a discount from here on: who says less speaks of another share."""
_BRIEF: Final = "r"
"""A reward, where what comes after it may be the end of an episode, the best of several actions, or a value of what is called the next
state; else it is any number."""


def _is_of_steps(node: ir.Node) -> bool:
    """Whether an expression is what is left of one, ``1 - done``, the largest of several values, or one of the next state."""
    if type(node) is ir.Call:
        given = (
            _last(part)
            for arg in node.args
            for part in below(arg.value)
            if isinstance(part, (ir.Name, ir.Attr, ir.Sub))
        )
        return last_name(node.func) == "max" or not lexicon().gradients.next_states.isdisjoint(given)
    return type(node) is ir.BinOp and node.op == "-" and type(node.left) is ir.Const and node.left.value == 1


def _factors(node: ir.Node) -> Iterator[ir.Node]:
    """What is multiplied."""
    if type(node) is ir.BinOp and node.op == "*":
        yield from _factors(node.left)
        yield from _factors(node.right)
    else:
        yield node


def _last(node: ir.Node) -> str:
    """What a value is called, in small letters if it is a constant."""
    name = _written(node)
    return name.lower() if name.isupper() else name


def _written(node: ir.Node) -> str:
    """What a value is called: a variable, an attribute, an entry, or a part of one."""
    while type(node) is ir.Sub:
        index = node.index
        if type(index) is ir.Const and index.kind == "str":
            return str(index.value)
        node = node.obj
    return node.id if type(node) is ir.Name else node.name if type(node) is ir.Attr else ""
