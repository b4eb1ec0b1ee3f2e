"""What a cure gets to see: one finding, its file, and questions that many cures ask (layer: ``fix``)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from jitlint.base.diagnostic import Finding, Safety
from jitlint.fix.document import Document
from jitlint.fix.names import Names, own
from jitlint.fix.patch import Change, Patch

N = TypeVar("N", bound=ast.AST)

_TRACING = frozenset(
    (
        "jax.jit",
        "jax.vmap",
        "jax.pmap",
        "jax.grad",
        "jax.value_and_grad",
        "equinox.filter_jit",
        "flax.nnx.jit",
    )
)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Site:
    """One finding in its file. facts: what was observed there."""

    def __init__(self, document: Document, names: Names, finding: Finding) -> None:
        self.document = document
        self.names = names
        self.finding = finding
        self._imports: list[Change] = []

    @cached_property
    def facts(self) -> dict[str, str]:
        """What the event said of itself."""
        return dict(self.finding.facts)

    def node(self, *kinds: type[N]) -> N | None:
        """The outermost node of one of the kinds that is exactly what was found."""
        for node in self.document.nodes(self.finding.span):
            if isinstance(node, kinds):
                return None if self._is_in_text(node) else node
        return None

    def _is_in_text(self, node: ast.AST) -> bool:
        """Whether it stands in an f-string whose parts have no places of their own in this Python."""
        return sys.version_info < (3, 12) and any(
            isinstance(each, ast.JoinedStr) for each in self.document.above(node)
        )

    def name(self, dotted: str, at: ast.AST) -> str | None:
        """How the file writes a library's function; an import that it needs becomes part of the patch."""
        found = self.names.spelled(dotted, at)
        if found is None:
            return None
        self._imports += [change for change in found[1] if change not in self._imports]
        return found[0]

    def patch(self, safe: bool, message: str, *changes: Change) -> Patch | None:
        """The changes with their imports; None if a comment would be lost."""
        everything = (*changes, *self._imports)
        for at, comment in self.document.comments:
            lost = any(change.start <= at < change.stop for change in changes)
            if lost and not any(comment in change.text for change in changes):
                return None
        return Patch(Safety.SAFE if safe else Safety.UNSAFE, message, everything)

    def replace(self, node: ast.AST, text: str) -> Change:
        """The change of a node's text."""
        return Change(self.document.start(node), self.document.stop(node), text)

    def called(self, node: ast.expr, text: str) -> list[Change]:
        """The change of a function that is called; lines that are aligned with the first argument stay so."""
        document, call = self.document, self.document.parent(node)
        changes = [self.replace(node, text)]
        if not isinstance(call, ast.Call) or call.func is not node or "\n" in text:
            return changes
        longer = len(text) - (document.stop(node) - document.start(node))
        lines = self._aligned(call)
        if longer > 0:
            return [*changes, *(Change(line, line, " " * longer) for line in lines)]
        return [*changes, *(Change(line, line - longer, "") for line in lines if longer)]

    def _aligned(self, call: ast.Call) -> list[int]:
        """Where the lines of a call begin behind the first, if none of them begins left of the first argument."""
        document, stop = self.document, self.document.stop(call)
        given = [*call.args, *(each.value for each in call.keywords)]
        first = min(map(document.start, given), default=stop)
        column = first - document.line_start(first)
        texts = [each for each in ast.walk(call) if isinstance(each, ast.Constant | ast.JoinedStr)]
        inside = [range(document.line_stop(document.start(each)), document.stop(each)) for each in texts]
        lines: list[int] = []
        at = document.line_stop(first)
        while at < stop:
            line = document.text[at : document.line_stop(at)]
            if len(line) - len(line.lstrip(" ")) < column:
                return []
            if line.strip() and not any(at in each for each in inside):
                lines.append(at)
            at = document.line_stop(at)
        return lines

    def is_local(self, name: str, at: ast.AST) -> bool:
        """Whether the scope around binds the name itself, so that it may bind it again."""
        return name in self.names.bound(self.document.scope(at))

    def is_read_later(self, name: str, at: ast.stmt) -> bool:
        """Whether the scope reads a name behind a statement, or before it in a loop around."""
        document = self.document
        scope = document.scope(at)
        start = document.stop(at)
        for each in document.above(at):
            if each is scope:
                break
            if isinstance(each, _LOOPS):
                start = min(start, document.start(each))
        inside = set(ast.walk(at))
        return any(
            isinstance(node, ast.Name)
            and node.id == name
            and isinstance(node.ctx, ast.Load)
            and node not in inside
            and document.start(node) >= start
            for node in ast.walk(scope)
        )

    def is_always_traced(self, at: ast.AST) -> bool:
        """Whether nobody can run this without tracing: a function around is compiled or mapped where it is written, or it is
        a local one that goes nowhere but into functions of JAX. What else runs may get numbers as well as tracers."""
        functions = [each for each in self.document.above(at) if isinstance(each, ast.FunctionDef)]
        return any(self._is_transformed(each) for each in functions)

    def _is_transformed(self, function: ast.FunctionDef) -> bool:
        for each in function.decorator_list:
            node: ast.expr = each
            if (
                isinstance(node, ast.Call)
                and self.names.meaning(node.func) == "functools.partial"
                and node.args
            ):
                node = node.args[0]
            node = node.func if isinstance(node, ast.Call) else node
            if self.names.meaning(node) in _TRACING:
                return True
        scope = self.document.scope(function)
        if isinstance(scope, ast.Module | ast.ClassDef):
            return False
        uses = [n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id == function.name]
        return bool(uses) and all(map(self._is_given_to_jax, uses))

    def _is_given_to_jax(self, node: ast.Name) -> bool:
        around = self.document.parent(node)
        is_argument = isinstance(around, ast.Call) and node in around.args
        return (
            is_argument
            and isinstance(around, ast.Call)
            and self.names.meaning(around.func).startswith("jax.lax.")
        )

    def stores(self, name: str, at: ast.AST) -> list[ast.Name]:
        """The places of a scope that bind a name."""
        return [
            node
            for node in own(self.document.scope(at))
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        ]


Cure = Callable[[Site], Patch | None]


def is_plain(node: ast.expr) -> bool:
    """Whether reading an expression twice is the same as once: names, numbers, attributes, elements, arithmetic."""
    kinds = (
        ast.Name,
        ast.Constant,
        ast.Attribute,
        ast.Subscript,
        ast.Slice,
        ast.Tuple,
        ast.UnaryOp,
        ast.BinOp,
    )
    others = (ast.Compare, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.BoolOp, ast.boolop)
    return all(isinstance(each, (*kinds, *others)) for each in ast.walk(node))


def is_place(node: ast.expr) -> bool:
    """Whether an expression names a place that can be assigned: a name, an attribute, an element of one."""
    if isinstance(node, ast.Attribute):
        return is_place(node.value)
    if isinstance(node, ast.Subscript):
        return is_place(node.value) and is_plain(node.slice)
    return isinstance(node, ast.Name)


def root_of(node: ast.expr) -> str:
    """The name at which a place begins."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """The names that a piece of code reads."""
    return {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }
