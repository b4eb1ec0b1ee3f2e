"""Real files with holes: where Python lets something be empty or anything stand, it is and does. The analysis ends all the same."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.link.test_mutations import FILES, check

T = TypeVar("T")


def of(text: str) -> ast.expr:
    """An expression."""
    return ast.parse(text, mode="eval").body


VALUES = ("()", "[]", "{}", "None", "...", "'a'", "-1", "2.5", "True")
TARGETS: Sequence[Callable[[ast.expr], list[ast.expr]]] = (
    lambda target: [ast.Tuple([], ast.Store())],
    lambda target: [ast.Tuple([target], ast.Store())],
    lambda target: [ast.Tuple([ast.Starred(target, ast.Store())], ast.Store())],
    lambda target: [target, ast.List([], ast.Store())],
)


class Holes(ast.NodeTransformer):
    """Makes holes in a share of the places of a program."""

    def __init__(self, rng: random.Random, share: float) -> None:
        self.rng = rng
        self.share = share

    def hit(self) -> bool:
        """Whether to make a hole here."""
        return self.rng.random() < self.share

    def value(self) -> ast.expr:
        """Something that stands where it is not expected."""
        return of(self.rng.choice(VALUES))

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`x[()]`, `x[:]`, `x["a"]`."""
        self.generic_visit(node)
        if self.hit():
            node.slice = self.rng.choice([self.value(), ast.Slice(None, None, None)])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`f()`, `f(x)` for `f(x, n=1)`, `f(*x)`, `f(**{})`, `f(None)`."""
        self.generic_visit(node)
        way = self.rng.randrange(6) if self.hit() else -1
        if way in (0, 1):
            node.keywords = []
        if way in (0, 2):
            node.args = []
        elif way == 3:
            node.keywords.insert(0, ast.keyword(None, of("{}")))
        elif way > 3 and node.args:
            at = self.rng.randrange(len(node.args))
            node.args[at] = self.value() if way == 4 else ast.Starred(self.value(), ast.Load())
        return node

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        """`()`, `(x,)`."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self.hit():
            node.elts = node.elts[: self.rng.randrange(2)]
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        """`[]`, `[x]`."""
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load) and self.hit():
            node.elts = node.elts[: self.rng.randrange(2)]
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """`{}`, `{**x}`."""
        self.generic_visit(node)
        if self.hit():
            cut = self.rng.randrange(2)
            node.keys, node.values = [None] * len(node.keys[:cut]), node.values[:cut]
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """`return`, `return ()`."""
        self.generic_visit(node)
        if self.hit():
            node.value = self.rng.choice([None, self.value()])
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`() = x`, `(y,) = x`, `y = [] = x`."""
        self.generic_visit(node)
        if self.hit() and not isinstance(node.targets[0], (ast.Tuple, ast.List)):
            node.targets = self.rng.choice(TARGETS)(node.targets[0])
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        """`for () in x`, `for i in x: pass`."""
        self.generic_visit(node)
        if self.hit():
            node.target = ast.Tuple([], ast.Store())
        return self.emptied(node, node.body)

    def visit_While(self, node: ast.While) -> ast.AST:
        """`while x: pass`."""
        self.generic_visit(node)
        return self.emptied(node, node.body)

    def visit_If(self, node: ast.If) -> ast.AST:
        """`if x: pass`."""
        self.generic_visit(node)
        return self.emptied(node, node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """`class A: pass`."""
        self.generic_visit(node)
        if self.hit():
            node.bases = []
        return self.emptied(node, node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """`def f(): ...`, `def f(*x): ...`, `def f(x): pass`."""
        self.generic_visit(node)
        self.without_parameters(node.args)
        return self.emptied(node, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """`lambda: 1`, `lambda *x: 1`."""
        self.generic_visit(node)
        self.without_parameters(node.args)
        return node

    def without_parameters(self, args: ast.arguments) -> None:
        """Fewer parameters, or one that takes them all."""
        if self.hit():
            args.vararg = args.vararg or (args.args[0] if args.args else None)
            args.args, args.defaults = [], []
        if self.hit():
            args.vararg, args.kwonlyargs, args.kw_defaults = None, [], []

    def emptied(self, node: T, body: list[ast.stmt]) -> T:
        """A statement, perhaps without its body."""
        if self.hit():
            body[:] = [ast.Pass()]
        return node


def with_holes(text: str, rng: random.Random) -> str:
    """A program with holes; one that Python refuses may come out."""
    tree = Holes(rng, rng.choice([0.03, 0.1, 0.2])).visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree))


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_files_with_holes_do_not_break_the_analysis(rng: random.Random) -> None:
    check(with_holes(rng.choice(FILES).read_text(encoding="utf-8"), rng).encode())


def test_most_of_them_are_programs() -> None:
    rng = random.Random(0)
    taken = [with_holes(path.read_text(encoding="utf-8"), rng).encode() for path in FILES[:30]]
    assert sum(map(check, taken)) > 20
