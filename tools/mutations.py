"""Small changes of meaning in Python and TOML, as pieces of text to put in the place of others. Used by ``tools/mutate.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Change:
    """Text to put in the place of another, which starts and ends at these characters. line, column: for people."""

    start: int
    end: int
    text: str
    kind: str
    line: int
    column: int

    def applied(self, text: str) -> str:
        """The whole text with the change."""
        return text[: self.start] + self.text + text[self.end :]


# ------------------------------------------------------------ Python

COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.BitOr: ast.BitAnd(),
    ast.BitAnd: ast.BitOr(),
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Add(),
}
TWINS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "union": "intersection",
    "intersection": "union",
    "startswith": "endswith",
}
_KEY = re.compile(r"key|memo|seen|token|digest|fingerprint", re.IGNORECASE)
_WORD = re.compile(r"[\w.]{1,20}")
# What only people read, and what no run executes.
_UNTOUCHED = ("__repr__", "__str__")


def python_changes(text: str) -> list[Change]:
    """All changes of a module, in their order."""
    found = _Changes(text)
    found.visit(ast.parse(text))
    return sorted(set(found.changes), key=lambda change: (change.start, change.kind, change.text))


class _Changes(ast.NodeVisitor):
    """Walks a module and notes what can be changed."""

    def __init__(self, text: str) -> None:
        self.changes: list[Change] = []
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._function = ""
        self._compared = False

    def _at(self, line: int, column: int) -> int:
        """Characters before a place that `ast` counts in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def _put(self, node: ast.expr | ast.stmt, new: ast.AST | str, kind: str) -> None:
        start = self._at(node.lineno, node.col_offset)
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        text = new if isinstance(new, str) else ast.unparse(new)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant):
            text = f"({text})"
        self.changes.append(Change(start, end, text, kind, node.lineno, node.col_offset + 1))

    # -------------------------------------------------- where nothing is changed

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Annotations say nothing at run time; sizes at module level are limits, and one more or less means nothing."""
        if node.value is not None and (self._function or not isinstance(node.value, ast.Constant)):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """The same holds without an annotation."""
        if any(isinstance(target, ast.Name) and _KEY.search(target.id) for target in node.targets):
            self._shorter(node.value)
        if self._function or not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """The body and the defaults."""
        if node.name in _UNTOUCHED:
            return
        outer, self._function = self._function, node.name
        for default in (*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)):
            self.visit(default)
        self._block(node.body)
        self._function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Not its decorators: they are about size and speed."""
        self._block(node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        """No such code here."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Words for people; nor can every Python say where its parts stand."""

    def visit_Raise(self, node: ast.Raise) -> None:
        """Words again."""

    def visit_Assert(self, node: ast.Assert) -> None:
        """Never false."""

    # -------------------------------------------------- statements

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A call whose result nobody wants is there for its effects."""
        if isinstance(node.value, ast.Call):
            self._put(node, "pass", "no-call")
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """A branch never taken, always taken, or taken in the other case; an early return that goes on."""
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._put(node.test, "False", "no-branch")
        if not isinstance(node.test, ast.Compare | ast.BoolOp):
            self._put(node.test, ast.UnaryOp(ast.Not(), node.test), "negate")
        last = node.body[-1]
        if isinstance(last, ast.Return | ast.Continue | ast.Break) and not node.orelse:
            self._put(last, "pass", "go-on")
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        """One of the two, whatever the test says."""
        self._put(node, node.orelse, "no-branch")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """What is remembered by what is returned."""
        if _KEY.search(self._function) and node.value is not None:
            self._shorter(node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """An addition left out."""
        self._put(node, "pass", "no-call")
        self.generic_visit(node)

    # -------------------------------------------------- expressions

    def visit_Compare(self, node: ast.Compare) -> None:
        """The first comparison turned."""
        turned = COMPARISONS[type(node.ops[0])]
        self._put(node, ast.Compare(node.left, [turned, *node.ops[1:]], node.comparators), "compare")
        outer, self._compared = self._compared, True
        self.generic_visit(node)
        self._compared = outer

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """``or`` for ``and``; one of the conditions left out."""
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        self._put(node, ast.BoolOp(other, node.values), "and-or")
        self._put(node, _all_but(node, -1), "without-last")
        self._put(node, _all_but(node, 0), "without-first")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """``not`` and signs left out."""
        self._put(node, node.operand, "negate")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Operators for others, except on text."""
        new = OPERATORS.get(type(node.op))
        if new is not None and not _textual(node):
            self._put(node, ast.BinOp(node.left, new, node.right), "operator")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Truth turned, one more, another word where words are compared."""
        value = node.value
        if isinstance(value, bool):
            self._put(node, repr(not value), "constant")
        elif isinstance(value, int):
            self._put(node, repr(value + 1), "constant")
        elif isinstance(value, str) and self._compared and _WORD.fullmatch(value):
            self._put(node, repr(value + "_"), "word")

    def visit_Slice(self, node: ast.Slice) -> None:
        """One less on either side; a number in it is not changed twice."""
        for side in (node.lower, node.upper):
            if isinstance(side, ast.Constant) and isinstance(side.value, int):
                self._put(side, repr(side.value + 1), "slice")
            elif side is not None:
                self.visit(side)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """What a table is asked for may be a key."""
        if self._function:  # elsewhere it is a type
            self._shorter(node.slice)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Only the first three; without the filter."""
        if not isinstance(node.iter, ast.Constant | ast.Tuple | ast.List):
            self._put(node.iter, f"[*{ast.unparse(node.iter)}][:3]", "first-three")
        for test in node.ifs:
            self._put(test, "True", "no-filter")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Twins of built-in functions, fewer options, shorter keys."""
        outer, self._compared = self._compared, False
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in TWINS:
            function: ast.expr = (
                ast.Name(TWINS[name])
                if isinstance(node.func, ast.Name)
                else ast.Attribute(getattr(node.func, "value"), TWINS[name])  # noqa: B009
            )
            self._put(node, ast.Call(function, node.args, node.keywords), "twin")
        if node.keywords and node.keywords[-1].arg is not None:
            self._put(node, ast.Call(node.func, node.args, node.keywords[:-1]), "option")
        if name in ("get", "add", "setdefault", "pop") or _KEY.search(name):
            for argument in node.args:
                self._shorter(argument)
        self.generic_visit(node)
        self._compared = outer

    def _shorter(self, value: ast.expr) -> None:
        """A key without its last part, and without its first."""
        if isinstance(value, ast.Tuple) and len(value.elts) > 1 and isinstance(value.ctx, ast.Load):
            self._put(value, ast.Tuple(value.elts[:-1], ast.Load()), "key-without-last")
            self._put(value, ast.Tuple(value.elts[1:], ast.Load()), "key-without-first")


def _all_but(node: ast.BoolOp, left_out: int) -> ast.expr:
    values = list(node.values)
    del values[left_out]
    return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)


def _textual(node: ast.BinOp) -> bool:
    """Whether an operand is surely text or a display, for which the other operator is an error anybody sees."""
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


# ------------------------------------------------------------ data

_Pattern = tuple[str, str, Callable[[Any], str]]
DATA: tuple[_Pattern, ...] = (
    ("static-flag", r"(?<=\w)\??!\w", lambda match: "?" if match[0].startswith("?") else ""),
    ("exception", r"(?<=raises )\w", lambda match: _other(match[0], "ACT")),
    ("exception", r'(?<=exception = ")\w', lambda match: _other(match[0], "ACT")),
    ("result", r"(?<=-> )[a-z]+(?=\")", lambda match: _other(match[0], ("float", "static", "int"))),
    ("result", r"(?<=-> )like\(\w+\)", lambda match: "array"),
    ("rank", r"(?<=rank[ =(])\d", lambda match: str(int(match[0]) + 1)),
    ("truth", r"(?<== )(?:true|false)\b", lambda match: _other(match[0], ("true", "false"))),
    ("modes", r'(?<=modes = ")[SBL]', lambda match: _other(match[0], "SB")),
    ("no-entry", r'^(?:static_\w+|axes|specs|argnums|result|context) = "\w+"\n', lambda match: ""),
)
"""Kind, what it looks like, and what is put in its place."""


def _other(word: str, words: Any) -> str:
    return str(next(each for each in words if each != word))


def toml_changes(text: str) -> list[Change]:
    """All changes of a data file, comments excepted."""
    found: list[Change] = []
    for kind, pattern, put in DATA:
        for match in re.finditer(pattern, text, re.MULTILINE):
            first = text.rfind("\n", 0, match.start()) + 1
            if text[first : match.start()].lstrip().startswith("#"):
                continue
            line, column = text.count("\n", 0, match.start()) + 1, match.start() - first + 1
            found.append(Change(match.start(), match.end(), put(match), kind, line, column))
    return sorted(found, key=lambda change: (change.start, change.kind))
