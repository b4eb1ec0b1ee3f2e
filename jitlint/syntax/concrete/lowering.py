"""A text to a module of IR by way of libcst, with the nodes that its origins stand for.

What it does: the guard, the parse, the lowering; every way a text can be bad becomes a `SyntaxProblem`.
What it does not: read files, compute positions (`spans`). Layer: ``syntax``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import libcst as cst
import msgspec

from jitlint.syntax import ir
from jitlint.syntax.concrete.statements import lower_block
from jitlint.syntax.guard import guard, python_parse
from jitlint.syntax.literals import without_surplus_strings
from jitlint.syntax.lowering import TRACED_PRAGMA, deep_stack, no_collection
from jitlint.syntax.scopes import Lowering
from jitlint.syntax.source import BYTE_ORDER_MARK, SYNTAX_ERROR, TOO_COMPLEX, SyntaxProblem, end_lines

# For Python a line's indentation starts anew behind a form feed.
_FORM_FEED = re.compile(r"^[ \t\f]*\f", re.MULTILINE)


def lower_with_nodes(text: str) -> tuple[ir.Module, list[Any], cst.Module] | SyntaxProblem:
    """The module, what each origin stands for (see `Lowering.nodes`), and the tree itself, or why there is none.

    The nodes pin the whole tree in memory.
    """
    try:
        with no_collection(), deep_stack():
            tree = parse(text)
            return tree if isinstance(tree, SyntaxProblem) else lower_tree(tree, text)
    except RecursionError:
        return SyntaxProblem(TOO_COMPLEX, "too complex to be analysed (nested too deeply)")
    except KeyError as error:
        kind = error.args[0]
        if not isinstance(kind, type):
            raise
        # The tables have no handler: a libcst newer than this code, and a text that uses what is new in it.
        return SyntaxProblem(SYNTAX_ERROR, f"syntax that jitlint does not know yet ({kind.__name__})")


def lower_tree(tree: cst.Module, text: str) -> tuple[ir.Module, list[Any], cst.Module]:
    """Lower what a text was parsed to. Raises KeyError with the class of a node that has no handler."""
    state = Lowering(TRACED_PRAGMA.search(text) is not None)
    body: list[ir.Stmt] = []
    firsts: list[int] = []
    members: dict[int, list[int]] = {}
    for number, statement in enumerate(tree.body):
        firsts.append(len(state.nodes))
        if type(statement) is cst.ClassDef:
            state.members = members[number] = []
        body += lower_block([statement], state)
    functions = [function for function in state.functions if function is not None]
    if state.pragmas and body and isinstance(body[0], ir.FuncDef):
        # The lines above the first statement belong to the module, not to the statement.
        above = [*tree.header, *tree.body[0].leading_lines][-1:]
        if any(line.comment and TRACED_PRAGMA.match(line.comment.value) for line in above):
            index = body[0].function
            functions[index] = msgspec.structs.replace(functions[index], traced_pragma=True)
    module = ir.Module(body, functions, list(state.mentions), len(state.nodes), firsts, members, state.quoted)
    return module, state.nodes, tree


@contextmanager
def _trusting_parser() -> Iterator[None]:
    """What the parser makes is not validated: that is for trees made by hand, and takes a tenth of the time."""
    cst.CSTNode.__post_init__ = _nothing  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        cst.CSTNode.__post_init__ = _VALIDATE  # type: ignore[method-assign]


_VALIDATE = cst.CSTNode.__post_init__
"""Taken once: who parses at the same time in another thread must not take the other for it."""


def _nothing(node: cst.CSTNode) -> None:
    pass


def parse(text: str) -> cst.Module | SyntaxProblem:
    """Parse a module with libcst."""
    if "\0" in text:
        before = text[: text.index("\0")]
        line = before.count("\n") + 1
        return SyntaxProblem(SYNTAX_ERROR, "null byte in the source", line, len(before) - before.rfind("\n"))
    if text.startswith(
        BYTE_ORDER_MARK
    ):  # a second one: the first belongs to the encoding. libcst would drop it
        return SyntaxProblem(SYNTAX_ERROR, "syntax error: invalid non-printable character U+FEFF")
    text = end_lines(text)  # libcst does not reproduce lone carriage returns
    problem = guard(text)
    if problem is not None and problem.code == TOO_COMPLEX:
        shorter = without_surplus_strings(text)
        problem = guard(shorter) if shorter != text else problem
        text = shorter
    if problem is not None:
        return problem
    try:
        with _trusting_parser():
            return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        # Python words it better; where it has no objection, libcst is the one that does not understand.
        verdict = python_parse(text)
        if isinstance(verdict, SyntaxProblem):
            return verdict
        plain = _FORM_FEED.sub("", text)
        if plain != text:  # before the first statement of a block libcst does not expect any
            return parse(plain)
        line, column = max(error.raw_line, 1), max(error.raw_column + 1, 1)
        return SyntaxProblem(SYNTAX_ERROR, "the parser does not understand this syntax", line, column)
    except (cst.CSTValidationError, ValueError) as error:  # ValueError: lone surrogates
        return SyntaxProblem(SYNTAX_ERROR, f"cannot be parsed: {error}")
