"""Logarithms of what runs out of numbers, though the logarithm itself would not (layer: ``link``, room ``domains``).

``jnp.log(jax.nn.softmax(x))``: a probability of e⁻¹⁰⁴ is 0 in 32 bits, and its logarithm infinite. What it does: reads what a logarithm
is taken of, through the variable that holds it. What it does not: speak where the numbers are kept small before, or one of several
ways is chosen afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import UnstableLog
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import bound_by, last_name, written_out
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A logarithm is taken."""
    call = m.texts.table(f).calls.get(library.at)
    if call is None or len(call.args) != 1 or f.module.is_test or naming.is_benchmark(f.module.path):
        return
    found = _Reader(m, f).lost(call.args[0].value, library.dotted.endswith("1p"))
    own = bool(found) and f.fn is not None and _has_own_rule(f.module, f.fn)
    if found and not own and not _is_one_way(f, call):
        m.emit(f, UnstableLog, library.at, None, Confidence.LIKELY, what=found)


def _has_own_rule(module: ModuleInfo, fn: FuncInfo) -> bool:
    """Whether somebody says what the derivative of a function is, which may be without the detour."""
    marks = [part for mark in fn.node.decorators for part in below(mark)]
    made = [
        part
        for nodes in module.code()
        for part in nodes
        if type(part) is ir.Call and last_name(part.func) in lexicon().gradients.own_rules
    ]
    given = [arg.value for call in made for arg in call.args]
    return any(last_name(mark) in lexicon().gradients.own_rules for mark in marks) or any(
        last_name(node) == fn.name for node in given
    )


def _is_one_way(f: Frame, call: ir.Call) -> bool:
    """Whether the logarithm is only one of the ways that the statement chooses from."""
    choosing = lexicon().gradients.choosing_ways
    around = below(surroundings.statement(f))
    return any(
        type(part) is ir.Call and last_name(part.func) in choosing and any(p is call for p in below(part))
        for part in around
    )


def _is_one(node: ir.Node) -> bool:
    return type(node) is ir.Const and node.value == 1


def _takes_away(node: ir.Node) -> bool:
    """Whether something that is computed is taken away, the largest one perhaps, or squared."""
    if type(node) is not ir.BinOp:
        return False
    return node.op == "**" or (node.op == "-" and type(node.right) is not ir.Const)


class _Reader:
    """Reads expressions of a function."""

    def __init__(self, m: Machine, f: Frame) -> None:
        self._m = m
        self._f = f

    def lost(self, node: ir.Node, one_more: bool) -> str:
        """What runs out of numbers before the logarithm is taken, "" if nothing does. one_more: of 1 + this."""
        node = self._written(node)
        if one_more:
            minus = type(node) is ir.UnaryOp and node.op == "-"
            return (
                self._lost_of_one(node.operand) if minus and type(node) is ir.UnaryOp else self._grown(node)
            )
        if type(node) is ir.BinOp and _is_one(node.left) and node.op in ("+", "-"):
            return self._grown(node.right) if node.op == "+" else self._lost_of_one(node.right)
        if type(node) is ir.BinOp and _is_one(node.right) and node.op == "+":
            return self._grown(node.left)
        name = self._name(node)
        if name in ("softmax", "sigmoid"):
            return name
        return "sum" if name == "sum" and self._sums_powers(node) else ""

    def _lost_of_one(self, node: ir.Node) -> str:
        """What is left of 1 without something that comes close to it."""
        node = self._written(node)
        if self._name(node) == "sigmoid":
            return "1-sigmoid"
        base: ir.Node | None = None
        if (
            type(node) is ir.BinOp
            and node.op == "**"
            and type(node.right) is ir.Const
            and node.right.value == 2
        ):
            base = self._written(node.left)
        elif self._name(node) == "square" and type(node) is ir.Call and node.args:
            base = self._written(node.args[0].value)
        tanh = base if base is not None and self._name(base) == "tanh" else None
        return (
            "1-tanh" if type(tanh) is ir.Call and tanh.args and not self._is_kept(tanh.args[0].value) else ""
        )

    def _grown(self, node: ir.Node) -> str:
        """1 and what grows without bound."""
        node = self._written(node)
        exponential = node if type(node) is ir.Call and self._name(node) == "exp" and node.args else None
        return "1+exp" if exponential is not None and not self._is_kept(exponential.args[0].value) else ""

    def _sums_powers(self, node: ir.Node) -> bool:
        if type(node) is not ir.Call:
            return False
        owner = node.func.obj if type(node.func) is ir.Attr else None
        inside = self._written(node.args[0].value if node.args and self._is_library(node) else owner or node)
        return (
            type(inside) is ir.Call
            and self._name(inside) == "exp"
            and bool(inside.args)
            and not self._is_kept(inside.args[0].value)
        )

    def _is_kept(self, node: ir.Node) -> bool:
        """Whether an argument is kept small, or below zero, as far as the code shows."""
        words = lexicon().gradients.keeping_small
        parts = [*below(node)]
        parts += [
            p for name in parts if type(name) is ir.Name for one in self._set(name.id) for p in below(one)
        ]
        return any(map(_takes_away, parts)) or any(
            isinstance(part, (ir.Name, ir.Attr)) and naming.has_word(last_name(part), words) for part in parts
        )

    def _written(self, node: ir.Node) -> ir.Node:
        if type(node) is not ir.Name or self._f.fn is None:
            return node
        return bound_once.written(self._f.fn, node) or node

    def _set(self, name: str) -> Iterator[ir.Node]:
        """All that a variable is set to, ``x -= y`` as ``x - y``."""
        for part in self._f.fn.parts if self._f.fn is not None else ():
            if name in bound_by(part):
                if type(part) is ir.AugAssign:
                    yield written_out(part)
                elif isinstance(part, (ir.Assign, ir.AnnAssign, ir.Walrus)) and part.value is not None:
                    yield part.value

    def _is_library(self, node: ir.Call) -> bool:
        return bool(paths.dotted(self._m, self._f, node.func))

    def _name(self, node: ir.Node) -> str:
        """The function of JAX's that is called, or the method ``sum`` of what is computed; "" for anything else."""
        if type(node) is not ir.Call:
            return ""
        dotted = paths.dotted(self._m, self._f, node.func)
        if dotted.startswith(("jax.numpy.", "jax.nn.", "jax.lax.")):
            short = dotted.rpartition(".")[2]
            return "sigmoid" if short == "logistic" else short
        method = (
            type(node.func) is ir.Attr and node.func.name == "sum" and not isinstance(node.func.obj, ir.Attr)
        )
        return "sum" if method else ""
