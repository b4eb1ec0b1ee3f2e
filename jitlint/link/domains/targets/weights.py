"""Advantages that gradients flow into, which are the weights of a policy gradient (layer: ``link``, room ``domains``).

``-mean(log_prob * (returns - value))``: where the value has parameters that the loss is differentiated by, the gradient makes values wrong
to make this loss small. What it does: looks at products of what is called an advantage and of what is called the logarithm of a
probability, or a ratio of two, where both have a derivative. What it does not: read other names.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import MovingTarget
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import L, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below


def check(m: Machine, f: Frame, node: ir.BinOp, operands: tuple[Value, Value]) -> None:
    """Record a product of the two that both have a derivative."""
    if not all(traced_modes(value) & L for value in operands):
        return
    words = lexicon().gradients
    for weight, other in ((node.left, node.right), (node.right, node.left)):
        name = _name(weight)
        weighed = _probability(f, other) if naming.has_word(name, words.advantages) else ""
        if weighed:
            m.emit(f, MovingTarget, node.at, None, Confidence.LIKELY, target=weighed, weight=name)
            return


def _probability(f: Frame, node: ir.Node) -> str:
    """What a factor is called, or what is called a probability in what it was made of."""
    name, words = _name(node), lexicon().gradients.probabilities
    if naming.has_word(name, words):
        return name
    made = bound_once.only_binding(f.fn, name) if type(node) is ir.Name else None
    if made is None:
        return ""
    parts = (last_name(part) for part in below(made.value) if isinstance(part, (ir.Name, ir.Attr)))
    return name if any(naming.has_word(part, words) for part in parts) else ""


def _name(node: ir.Node) -> str:
    """What a factor is called, or the function that gives it."""
    while isinstance(node, (ir.UnaryOp, ir.Sub)):
        node = node.operand if isinstance(node, ir.UnaryOp) else node.obj
    return last_name(node.func if type(node) is ir.Call else node)
