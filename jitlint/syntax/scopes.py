"""What the lowering keeps in hand while it walks a file: origins, the open scope, the functions found so far.

What it does: hands out origins, collects which names the open function binds, builds qualified names.
What it does not: look at any tree; `abstract` and `concrete` tell it what they meet. Layer: ``syntax``.

Scoping follows the language: a function's locals are the names it binds anywhere in its body, except
those declared ``global`` or ``nonlocal``; a class body and a lambda open scopes of their own; the targets of
a comprehension belong to the comprehension, while a walrus inside it binds in the function around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from jitlint.syntax import ir

# The enclosing scope's fields, put aside while an inner one is open.
SavedScope = tuple[dict[str, None], set[str], set[str], bool, str]

_LOCALS = ".<locals>."


class Lowering:
    """Mutable state of lowering one file.

    nodes: origin -> what it stands for (a node of the tree, or a pair of the first and the last node it covers;
        None where Python's tree does not say where it is).
    functions: filled in source order; a slot is None while the function is being lowered.
    bound: names the open scope binds, in order of appearance (a dict serves as an ordered set).
    members: of the outermost class that is being lowered: how many origins there were before each statement in it.
    quoted: the origins in annotations that are written as strings.
    prefix: what stands before the name of a function or class defined here to make its qualified name.
    """

    __slots__ = (
        "bound",
        "functions",
        "globals",
        "has_yield",
        "members",
        "mentions",
        "nodes",
        "nonlocals",
        "pragmas",
        "prefix",
        "quoted",
    )

    def __init__(self, pragmas: bool) -> None:
        self.nodes: list[Any] = []
        self.functions: list[ir.Function | None] = []
        self.mentions: dict[str, None] = {}
        self.pragmas = pragmas
        self.bound: dict[str, None] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.has_yield = False
        self.prefix = ""
        self.members: list[int] | None = None
        self.quoted: list[int] = []

    def origin(self, node: Any) -> int:
        """The next origin, which stands for this."""
        self.nodes.append(node)
        return len(self.nodes) - 1

    def qualify(self, name: str) -> str:
        """The qualified name of a function or class called ``name`` that is defined in the open scope."""
        return name if name in self.globals else self.prefix + name

    def annotated(self, at: int, target: ir.Expr, annotation: ir.Expr, value: ir.Expr | None) -> ir.Stmt:
        """What ``target: annotation = value`` does: for a variable of a function, no more than without the annotation."""
        local = type(target) is ir.Name and self.prefix.endswith(_LOCALS)
        return (
            ir.Assign(at, [target], value)
            if local and value is not None
            else ir.AnnAssign(at, target, annotation, value)
        )

    def enter(self, prefix: str) -> SavedScope:
        """Open a scope; give the result back to `leave`."""
        saved = (self.bound, self.globals, self.nonlocals, self.has_yield, self.prefix)
        self.bound = {}
        self.globals = set()
        self.nonlocals = set()
        self.has_yield = False
        self.prefix = prefix
        return saved

    def leave(self, saved: SavedScope) -> None:
        """Close the open scope and return to the one around it."""
        self.bound, self.globals, self.nonlocals, self.has_yield, self.prefix = saved

    def open_function(self, qualname: str, params: list[ir.Param]) -> SavedScope:
        """Open the scope of a function; give the result back to `close_function`."""
        saved = self.enter(qualname + _LOCALS)
        for param in params:
            self.bound[param.name] = None
        return saved

    def close_function(
        self, index: int, saved: SavedScope, body: list[ir.Stmt], function: ir.Function
    ) -> None:
        """Enter a function with what its body and its scope say of it, and return to the scope around it."""
        self.functions[index] = msgspec.structs.replace(
            function,
            local_names=self.local_names(),
            global_names=sorted(self.globals),
            nonlocal_names=sorted(self.nonlocals),
            is_generator=self.has_yield,
            body=ir.encode_body(body),
        )
        self.leave(saved)

    def add_lambda(
        self, node: Any, params: Callable[[], list[ir.Param]], body: Callable[[], ir.Expr]
    ) -> ir.Lambda:
        """Lower a lambda, which is a function that returns one expression."""
        at = self.origin(node)
        index = len(self.functions)
        self.functions.append(None)
        function = ir.Function(at, at, at, "<lambda>", self.prefix + "<lambda>", params(), is_lambda=True)
        saved = self.open_function(function.qualname, function.params)
        at_return = self.origin(node.body)
        self.close_function(index, saved, [ir.Return(at_return, body())], function)
        return ir.Lambda(at, index)

    def quote(self, node: Any, lower: Callable[[], ir.Expr]) -> ir.Expr:
        """Lower what is written in a string. Its parts have no place of their own: they stand where the string stands."""
        start = len(self.nodes)
        expr = lower()
        self.nodes[start:] = [node] * (len(self.nodes) - start)
        self.quoted += range(start, len(self.nodes))
        return expr

    def local_names(self) -> list[str]:
        """The names that are local to the open scope."""
        declared = self.globals | self.nonlocals
        if not declared:
            return list(self.bound)
        return [name for name in self.bound if name not in declared]
