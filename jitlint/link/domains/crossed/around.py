"""Losses that compute with the parameters of the function around them (layer: ``link``, room ``domains``).

``jax.grad(loss_fn)(params)``, where ``loss_fn(p)`` hands ``params`` to the model and ``p`` to a penalty alone: the model stands still for
the derivative. What it does: looks at a function that is differentiated where it is written, by what it takes from around as well. What
it does not: speak of a parameter that goes into anything but the size of itself, or that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import CrossedGradient
from jitlint.infer.objects import unwrapped
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import TRUE, Bound, Ext, Func, Inst
from jitlint.link.domains.crossed.taken import Derivative, plain, root
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import ir_walk
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import paths
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir
from jitlint.syntax.children import PARTS, below

_APPLYING: Final = ("apply", "apply_fn")
_SETTING: Final = (ir.Assign, ir.AugAssign, ir.AnnAssign)
_SCALING: Final = ("*", "/")
_MAPPED: Final = "jax.vmap"


def check(m: Machine, f: Frame, derivative: Derivative) -> None:
    """Record where the function takes from around what it is differentiated by."""
    target = derivative.x.target
    if type(target) is not Func or target.fn.module is not f.module:
        return
    if not any(ir_walk.makes(node, target.fn) for node in ir_walk.code_of(f.module, f.fn)):
        return
    sig = signature(target)
    names = [param.name for param in sig.positional] if sig is not None else []
    for number in derivative.numbers:
        outer = plain(derivative.given(number))
        if outer and number < len(names) and (f.fn is None or root(outer) in f.fn.node.local_names):
            loss = _Loss(m, target, names[number], outer)
            found = loss.crossing(derivative.x.options.get("has_aux") is TRUE)
            if found is not None:
                m.emit(
                    f, CrossedGradient, found.at, None, Confidence.LIKELY, where=(f.module.name, target.fn.qualname),
                    by=names[number], changed=outer, around=True,
                )  # fmt: skip
                return


class _Loss:
    """A function that is differentiated by ``own``, which is given ``outer``, and may take that from around it as well."""

    def __init__(self, m: Machine, func: Func, own: str, outer: str) -> None:
        self._m = m
        self._fn = func.fn
        self._inside = Frame(func.fn.module, func.scope, HOST)
        self._own = own
        self._outer = outer
        self._inner = list(ir_walk.inner_functions(func.fn.module, func.fn.body))
        self._nodes = [*func.fn.parts, *(part for fn in self._inner for part in fn.parts)]
        self._sizes = _Sizes(m, self._inside, func.fn.module, self._nodes, own)

    def crossing(self, has_aux: bool) -> ir.Node | None:
        """Where it computes with what it takes from around, if its own parameter goes into penalties alone."""
        binders = [self._fn, *self._inner]
        if any(root(self._outer) in fn.node.local_names for fn in binders):
            return None
        if any(self._own in fn.node.local_names for fn in self._inner) or self._is_set_again():
            return None
        given = [node for call in self._reached(has_aux) for node in self._handed(call)]
        reads = [node for node in self._nodes if plain(node) == self._outer]
        known = {id(node) for node in given}
        if not given or not all(id(node) in known for node in reads) or not self._sizes.is_all():
            return None
        return min(given, key=lambda node: node.at)

    def _is_set_again(self) -> bool:
        return any(self._own in ir_walk.bound_by(node) for node in self._nodes)

    def _handed(self, call: ir.Call) -> Iterator[ir.Node]:
        """Where a call that computes hands on what is taken from around, with other things."""
        if len(call.args) < 2 or not self._computes(call.func):
            return
        for arg in call.args:
            values = arg.value.values if type(arg.value) is ir.Dict else [arg.value]
            yield from (value for value in values if plain(value) == self._outer)

    def _computes(self, func: ir.Expr) -> bool:
        """Whether a function of the program is called, for each example perhaps, or a model is applied."""
        if type(func) is ir.Call:
            mapped = paths.dotted(self._m, self._inside, func.func) == _MAPPED and func.args
            return bool(mapped) and self._computes(func.args[0].value)
        value = unwrapped(paths.peek(self._m, self._inside, func))
        if type(value) is Ext:
            return False
        return isinstance(value, (Func, Bound, Inst)) or last_name(func) in _APPLYING

    def _reached(self, has_aux: bool) -> Iterator[ir.Call]:
        """The calls whose results are a part of the loss; what is held still is not, nor what a penalty is multiplied with."""
        waiting: list[ir.Node] = list(self._returned(has_aux))
        seen = set[str]()
        while waiting:
            node = waiting.pop()
            if type(node) is ir.Call:
                yield node
            if type(node) is ir.Name and node.id not in seen:
                seen.add(node.id)
                waiting += self._made(node.id)
            else:
                waiting += self._counting(node)

    def _returned(self, has_aux: bool) -> Iterator[ir.Node]:
        """The loss, without what is returned with it."""
        for value in _results(self._fn):
            if not has_aux:
                yield value
            elif type(value) is ir.Tuple and value.elts:
                yield value.elts[0]

    def _counting(self, node: ir.Node) -> Iterable[ir.Node]:
        """The parts of an expression that make the loss what it is."""
        if type(node) is ir.BinOp and node.op in _SCALING:
            sides = [node.left, node.right]
            return [side for side in sides if self._sizes.has_size(side)] or sides
        held = type(node) is ir.Call and last_name(node.func) in lexicon().gradients.holding
        return () if held else _children(self._fn.module, node)

    def _made(self, name: str) -> Iterator[ir.Node]:
        """What a variable is made of, or what a function of that name gives."""
        for node in self._fn.parts:
            if isinstance(node, _SETTING) and name in ir_walk.bound_by(node) and node.value is not None:
                yield node.value
            elif type(node) is ir.FuncDef and node.name == name:
                yield from _results(self._fn.module.functions[node.function])


def _children(module: ModuleInfo, node: ir.Node) -> Iterator[ir.Node]:
    """What stands right below an expression; the results of a lambda."""
    if type(node) is ir.Lambda:
        yield from _results(module.functions[node.function])
        return
    read = PARTS[type(node)]
    for part in read(node) if read is not None else ():
        yield from part if isinstance(part, list) else [part] if part is not None else []


def _results(fn: FuncInfo) -> Iterator[ir.Node]:
    return (node.value for node in fn.parts if type(node) is ir.Return and node.value is not None)


class _Sizes:
    """How large something is: where a parameter goes into numbers that tell no more of it. parts: variables that hold parts of it."""

    def __init__(self, m: Machine, inside: Frame, module: ModuleInfo, nodes: list[ir.Node], own: str) -> None:
        self._m = m
        self._inside = inside
        self._module = module
        self._nodes = nodes
        self._parts = {own}
        self._sized = set[str]()
        while self._grows():
            pass

    def is_all(self) -> bool:
        """Whether that is all that becomes of it, and something does."""
        sizes = [node for node in self._nodes if type(node) is ir.Call and self._is_size(node)]
        covered = {id(part) for node in sizes for part in self._below(node)}
        for value, targets in self._bound():
            if self._is_part(value):
                covered.update(id(part) for part in (*self._below(value), *targets))
        reads = [node for node in self._nodes if type(node) is ir.Name and node.id in self._parts]
        return bool(sizes) and all(id(node) in covered for node in reads)

    def has_size(self, node: ir.Node) -> bool:
        """Whether it is in an expression."""
        return any(
            (type(part) is ir.Call and self._is_size(part))
            or (type(part) is ir.Name and part.id in self._sized)
            for part in self._below(node)
        )

    def _bound(self) -> Iterator[tuple[ir.Expr, list[ir.Name]]]:
        """What is bound to variables, or gone through, with these."""
        for node in self._nodes:
            if type(node) is ir.Assign:
                yield node.value, list(ir_walk.bound_names(node.targets))
            elif isinstance(node, (ir.For, ir.CompFor)):
                yield node.iter, list(ir_walk.bound_names([node.target]))

    def _grows(self) -> bool:
        """Whether more variables hold parts than were known."""
        before = len(self._parts) + len(self._sized)
        for value, targets in self._bound():
            if self._is_part(value):
                self._parts.update(target.id for target in targets)
        for node in self._nodes:
            if isinstance(node, (ir.Assign, ir.AugAssign)) and self.has_size(node.value):
                self._sized.update(ir_walk.bound_by(node))
        return len(self._parts) + len(self._sized) > before

    def _is_part(self, node: ir.Node) -> bool:
        """Whether an expression is the parameter, or some of it, element by element."""
        while isinstance(node, (ir.Sub, ir.Attr)):
            node = node.obj
        if type(node) is ir.Name:
            return node.id in self._parts
        return type(node) is ir.Call and self._is_of_it(node, lexicon().gradients.dividing)

    def _is_size(self, node: ir.Call) -> bool:
        words = lexicon().gradients
        return self._is_of_it(node, words.reducing | words.condensing)

    def _is_of_it(self, node: ir.Call, names: frozenset[str]) -> bool:
        """Whether one of these functions of a library, or methods, gets the parameter and nothing else."""
        if last_name(node.func) not in names or not self._is_known(node.func):
            return False
        inside = list(self._below(node))
        calls = [part for part in inside if type(part) is ir.Call]
        mixes = any(type(part) is ir.BinOp and part.op == "@" for part in inside)
        return not mixes and self._is_alone(inside) and all(self._is_known(call.func) for call in calls)

    def _is_alone(self, inside: list[ir.Node]) -> bool:
        """Whether of all variables among some nodes those of the parameter are there, and no others."""
        variables = {part.id for part in inside if type(part) is ir.Name and not self._is_library(part)}
        own = {param.name for part in inside if type(part) is ir.Lambda for param in self._params(part)}
        return not variables.isdisjoint(self._parts) and variables <= self._parts | own

    def _params(self, node: ir.Lambda) -> list[ir.Param]:
        return self._module.functions[node.function].node.params

    def _is_known(self, func: ir.Expr) -> bool:
        """Whether a function is one of a library, or a method of what is computed with."""
        if paths.dotted(self._m, self._inside, func):
            return True
        return (type(func) is ir.Attr and not plain(func.obj)) or root(plain(func)) in self._parts

    def _is_library(self, node: ir.Name) -> bool:
        return bool(paths.dotted(self._m, self._inside, node))

    def _below(self, node: ir.Node) -> Iterator[ir.Node]:
        """Every node below one, those of the lambdas in it included."""
        for part in below(node):
            yield part
            if type(part) is ir.Lambda:
                yield from (
                    one for inner in self._module.functions[part.function].body for one in self._below(inner)
                )
