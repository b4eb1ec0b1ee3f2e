"""What a file calls the functions of a library, and the import that it lacks (layer: ``fix``).

`jax.numpy.where` is ``jnp.where`` in one file, ``where`` in another: what stands in a fix is what the file itself would
write. Only imports count; a name that is anything else somewhere in the module, or in a function around, is not used.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator

from jitlint.fix.document import FUNCTIONS, Document, Scope
from jitlint.fix.patch import Change

_PREFERRED = {"jax.numpy": ("import jax.numpy as jnp", "jnp"), "functools": ("import functools", "functools")}
"""How a module is imported by a file that does not import it yet, and the name that gives."""


class Names:
    """The imports of one file, and the names that its functions bind."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._reserved: dict[str, str] = {}
        self._bound: dict[ast.AST, frozenset[str]] = {}
        self._imports: dict[ast.AST, dict[str, str | None]] = {}

    def spelled(self, dotted: str, at: ast.AST) -> tuple[str, tuple[Change, ...]] | None:
        """How to write a function at a place, and the import that has to be added; None if no name is free for it."""
        found = self._imported(dotted, at)
        if found:
            return found, ()
        module = dotted.rpartition(".")[0]
        while module not in _PREFERRED and "." in module:
            module = module.rpartition(".")[0]
        line, name = _PREFERRED.get(module, (f"import {module}", module))
        if self._is_taken(name):
            return None
        change = self._insertion(line)
        return None if change is None else (name + dotted[len(module) :], (change,))

    def meaning(self, node: ast.expr) -> str:
        """The dotted name of the library's thing that an expression names, as far as imports tell; "" if none."""
        if isinstance(node, ast.Attribute):
            owner = self.meaning(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        if not isinstance(node, ast.Name):
            return ""
        for scope in self._scopes(node):
            known = self.imports(scope)
            if node.id in known:
                return known[node.id] or ""
            if node.id in self.bound(scope):
                return ""
        return ""

    def is_builtin(self, name: str, at: ast.AST) -> bool:
        """Whether nothing around gives a name another meaning."""
        return not any(name in self.bound(scope) for scope in self._scopes(at))

    def imports(self, scope: Scope) -> dict[str, str | None]:
        """The names that imports bind in a scope, with what they mean: None for a name bound in several ways."""
        known = self._imports.get(scope)
        if known is None:
            known = self._imports[scope] = {}
            others: set[str] = set()
            for node in _own(scope):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    for name, dotted in _import(node):
                        known[name] = dotted if known.get(name, dotted) == dotted else None
                else:
                    others.update(_binds(node))
            known.update(dict.fromkeys(others & known.keys()))
        return known

    def bound(self, scope: Scope) -> frozenset[str]:
        """The names that a scope binds."""
        known = self._bound.get(scope)
        if known is None:
            names: set[str] = set()
            for node in _own(scope):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    names.update(name for name, _ in _import(node))
                names.update(_binds(node))
            known = self._bound[scope] = frozenset(names - _declared(scope))
        return known

    def is_free(self, name: str) -> bool:
        """Whether no scope of the file binds or reads the name."""
        return not self._is_taken(name)

    def fresh(self, *names: str) -> str:
        """The first of the names that the file does not use; numbered if it uses them all."""
        for name in names:
            if self.is_free(name):
                return name
        number = 2
        while not self.is_free(f"{names[0]}_{number}"):
            number += 1
        return f"{names[0]}_{number}"

    def unread(self, *names: str) -> str:
        """The first of the names that nobody in the file reads, as of one that is bound for nothing."""
        read = {
            node.id
            for node in ast.walk(self._document.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        }
        return next((name for name in names if name not in read), self.fresh(*names))

    def reserved(self, name: str, owner: str = "") -> str:
        """A name that the file does not use, and that no other fix gets but those with this owner: it lives on beyond
        its block."""
        free = self.fresh(name)
        number = 2
        while free in self._reserved and (not owner or self._reserved[free] != owner):
            free = self.fresh(f"{name}_{number}")
            number += 1
        self._reserved[free] = owner
        return free

    def _is_taken(self, name: str) -> bool:
        return any(
            (isinstance(node, ast.Name) and node.id == name)
            or (isinstance(node, ast.arg) and node.arg == name)
            or (isinstance(node, ast.alias) and (node.asname or node.name.partition(".")[0]) == name)
            or (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name)
            for node in ast.walk(self._document.tree)
        )

    def _imported(self, dotted: str, at: ast.AST) -> str:
        """The shortest name for it that the scopes around import."""
        hidden: set[str] = set()
        found: list[str] = []
        for scope in self._scopes(at):
            for name, meaning in self.imports(scope).items():
                if name not in hidden and meaning and (dotted == meaning or dotted.startswith(f"{meaning}.")):
                    found.append(name + dotted[len(meaning) :])
            hidden |= self.bound(scope)
        return min(found, key=lambda spelled: (spelled.count("."), spelled), default="")

    def _scopes(self, at: ast.AST) -> Iterator[Scope]:
        """Where Python looks for names, innermost first: classes are only asked from their own level."""
        first = self._document.scope(at)
        yield first
        for node in self._document.above(first):
            if isinstance(node, (*FUNCTIONS, ast.Module)):
                yield node

    def _insertion(self, line: str) -> Change | None:
        """Where a new import goes: behind those of its kind, with a blank line between kinds."""
        document, tree = self._document, self._document.tree
        head = _head(tree)
        newline = document.newline
        if not head:
            first = next((each for each in tree.body if not isinstance(each, ast.Pass)), None)
            at = document.first(first) if first is not None else 0
            return Change(at, at, f"{line}{newline}")
        beside = self._beside(head, line.split()[1])
        if beside is not None:
            return Change(beside, beside, f"{line}{newline}")
        kind = _kind(line.split()[1])
        before = [each for each in head if _kind(_module(each)) <= kind]
        after = before[-1] if before else None
        if after is None:
            at = document.line_start(document.start(head[0]))
            return Change(at, at, f"{line}{newline}{newline}") if document.is_alone(head[0]) else None
        if not document.is_alone(after):
            return None
        at = document.line_stop(document.stop(after))
        start = "" if document.text[:at].endswith(("\n", "\r")) else newline
        blank = newline * (_kind(_module(after)) != kind)
        return Change(at, at, f"{start}{blank}{line}{newline}")

    def _beside(self, head: list[ast.stmt], module: str) -> int | None:
        """Where a module is imported if others of its package are: above them, but behind those that come before it."""
        document, top = self._document, module.partition(".")[0]
        family = [each for each in head if _module(each).partition(".")[0] == top]
        if not family or not all(map(document.is_alone, family)):
            return None
        before = [each for each in family if isinstance(each, ast.Import) and _module(each) < module]
        if before:
            at = document.line_stop(document.stop(before[-1]))
            return at if document.text[:at].endswith(("\n", "\r")) else None
        return document.line_start(document.start(family[0]))


def _head(tree: ast.Module) -> list[ast.stmt]:
    """The text at the top, and the imports that follow it."""
    head: list[ast.stmt] = []
    for number, statement in enumerate(tree.body):
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if isinstance(statement, ast.Import | ast.ImportFrom) or (is_text and number == 0):
            head.append(statement)
        elif not is_text and not isinstance(statement, ast.Pass):  # such a one is a command in a notebook
            break
    return head


def _module(statement: ast.stmt) -> str:
    if isinstance(statement, ast.ImportFrom):
        return "." if statement.level else statement.module or ""
    return statement.names[0].name if isinstance(statement, ast.Import) else ""


def _kind(module: str) -> int:
    """Text at the top, `__future__`, the standard library, other libraries, the project itself as far as dots say so."""
    top = module.partition(".")[0]
    if not module or top == "__future__":
        return int(bool(module))
    if module.startswith("."):
        return 4
    return 2 if top in sys.stdlib_module_names else 3


def _own(scope: Scope) -> Iterator[ast.AST]:
    """The nodes of a scope without those of scopes inside, whose heads belong to it."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting.extend(node.orelse)
        elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def own(scope: Scope) -> list[ast.AST]:
    """The nodes of a scope without those of scopes inside, in no order."""
    return list(_own(scope))


def _is_for_types(test: ast.expr) -> bool:
    return (test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")) == "TYPE_CHECKING"


def _import(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if not node.level and node.module:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
            else:
                yield alias.asname or alias.name, ""
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            yield alias.name.partition(".")[0], alias.name.partition(".")[0]


def _binds(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def _declared(scope: Scope) -> set[str]:
    return {
        name for node in _own(scope) if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
