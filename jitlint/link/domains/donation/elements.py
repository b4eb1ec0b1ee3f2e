"""What a loop or a comprehension goes over, where that is written down (layer: ``link``, room ``domains``).

What it does: knows the leaves of a tree, the values of a dict, and several of these side by side. What it does not: take what a
container gives by itself for an array of it: of a dict, that is a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from jitlint.link.domains.donation.state import Term
from jitlint.link.domains.donation.walker import Walker
from jitlint.syntax import ir

_LEAVES: Final = "jax.tree.leaves"
_EACH: Final = "[*]"

Evaluate = Callable[[Walker, ir.Expr], Term]


def bound_to(w: Walker, evaluate: Evaluate, target: ir.Node, over: ir.Expr) -> Iterator[tuple[ir.Node, Term]]:
    """Targets with the leaves that they are bound to in a turn."""
    if type(over) is not ir.Call:
        return
    name, args = w.dotted(over.func), [arg.value for arg in over.args]
    parts = target.elts if type(target) is ir.Tuple else []
    if name == "builtins.zip" and len(parts) == len(args):
        for part, arg in zip(parts, args):
            yield from bound_to(w, evaluate, part, arg)
    elif name == "builtins.enumerate" and len(parts) == 2 and args:
        yield from bound_to(w, evaluate, parts[1], args[0])
    elif name == _LEAVES and len(args) == 1:
        yield from _leaf(w, evaluate, target, args[0])
    elif name is None and type(over.func) is ir.Attr and not args:
        yield from _value(w, evaluate, target, over.func)


def _value(w: Walker, evaluate: Evaluate, target: ir.Node, method: ir.Attr) -> Iterator[tuple[ir.Node, Term]]:
    """The values of a dict, alone or with their keys."""
    if method.name == "values":
        yield from _leaf(w, evaluate, target, method.obj)
    elif method.name == "items" and type(target) is ir.Tuple and len(target.elts) == 2:
        yield from _leaf(w, evaluate, target.elts[1], method.obj)


def _leaf(w: Walker, evaluate: Evaluate, target: ir.Node, tree: ir.Expr) -> Iterator[tuple[ir.Node, Term]]:
    """A variable, or an attribute, can be asked what it is as often as one likes."""
    if isinstance(tree, (ir.Name, ir.Attr)) and type(target) is ir.Name:
        whole = evaluate(w, tree)
        leaf = w.state.part(whole, _EACH)
        if w.state.killed(leaf) is None or w.state.killed(whole) is not None:
            yield target, leaf  # else a turn before has given away its own, which is another one
