"""Refuses texts that would hang or crash the parser, before it sees them.

What it does: find code so big or so deeply nested that libcst needs minutes, gigabytes or more stack than
there is (it then takes the whole process down), and say so as a JIT003 problem.
What it does not: find ordinary syntax errors; those are the parser's business. Layer: ``syntax``.

Two steps. A *bound* looks at every file: a few passes of C-speed string operations that see brackets and
operators, know nothing of grammar and can only overestimate. Where the bound exceeds the limit, the text is *measured* with
Python's own parser, which withstands such input. Ordinary files never get to the second step.
"""

from __future__ import annotations

import ast
import re
import warnings

from jitlint.syntax.literals import LITERAL
from jitlint.syntax.source import SYNTAX_ERROR, TOO_COMPLEX, SyntaxProblem

MAX_CHARACTERS = 10_000_000
# A token costs the parser one to two kilobytes.
MAX_TOKENS = 750_000
# Nesting of brackets, of operators, of attribute/call/subscript chains, of ``elif``, of blocks: the levels
# of the tree from the module down to the deepest expression. Handwritten code stays below 60.
MAX_DEPTH = 200
MAX_BRACKETS = 100
# In a pattern of a match statement: the time that libcst takes doubles with each level.
MAX_PATTERN = 8
# Strings concatenated by juxtaposition.
MAX_STRINGS = 1000

_BRACKET = re.compile(LITERAL.pattern + r"|[()\[\]{}]", re.DOTALL)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_CONTINUATION = re.compile(r"\\\r?\n")
_DEEP_INDENT = re.compile(r"[\r\n][ \t\f]{90}")
_CASE = re.compile(r"^[ \t\f]*case\b", re.MULTILINE)
_IN_CASE = re.compile(
    LITERAL.pattern + r"|^(?P<case>[ \t\f]*case\b)|\bif\b|[()\[\]{}:\n]", re.DOTALL | re.MULTILINE
)
_INNERMOST = re.compile(rb"\(([^()]*)\)")

# The alphabet of the bound: ``(``, ``)``, ``,``, newline, ``o`` (an operator, a dot, a closed bracket), ``q`` (a string).
_OPERATORS = b"+-*/%@&|^~."
_ALPHABET = bytes.maketrans(b"[{]}\"'\r;" + _OPERATORS, b"(())qq\n," + b"o" * len(_OPERATORS))
_KEPT = b"()[]{},;\r\n\"'" + _OPERATORS
_DROPPED = bytes(code for code in range(256) if code not in _KEPT)
# Turned into operators first, because letters are dropped. That ``or`` is also found in ``color`` only
# raises the bound; that it is found in ``for`` is welcome.
_KEYWORDS = ("and", "or", "not", "else", "lambda", "await", "yield")

_MEASURE = "measure"  # the answer of the bound that asks for the second step


def guard(text: str) -> SyntaxProblem | None:
    """None when ``text`` may be given to the parser; otherwise the reason why not."""
    if len(text) > MAX_CHARACTERS:
        return SyntaxProblem(TOO_COMPLEX, f"too large to be analysed (over {MAX_CHARACTERS:,} characters)")
    code = LITERAL.sub(_literal, text)
    if len(code) > MAX_TOKENS and sum(1 for _ in _TOKEN.finditer(code)) > MAX_TOKENS:
        return SyntaxProblem(TOO_COMPLEX, f"too large to be analysed (over {MAX_TOKENS:,} tokens)")
    deep = _deep_pattern(text) if _CASE.search(code) else None
    if deep is not None:
        message = f"too complex to be analysed (pattern nested more than {MAX_PATTERN} levels deep)"
        return SyntaxProblem(TOO_COMPLEX, message, *deep)
    verdict = _bound(text, code)
    if verdict is None:
        return None
    if verdict is not _MEASURE:
        return SyntaxProblem(TOO_COMPLEX, verdict, *_first_deep_bracket(text))
    return _measure(text)


def _literal(match: re.Match[str]) -> str:
    text = match[0]
    if text[0] == "#":
        return ""
    if len(text) > MAX_BRACKETS:
        start = match.start()
        prefix = match.string[max(start - 2, 0) : start]
        if "f" in prefix or "F" in prefix or "t" in prefix or "T" in prefix:
            return '"' + _fields(text)
    return '"'


def _fields(text: str) -> str:
    """The code inside the braces of an f-string (or what looks like one)."""
    text = text.strip("\"'").replace("{{", "").replace("}}", "")
    kept = []
    depth = 0
    for piece in re.split(r"([{}])", text):
        if piece == "{":
            depth += 1
        if depth > 0:
            kept.append(piece)
        if piece == "}":
            depth = max(depth - 1, 0)
    kept.append("}" * depth)
    return LITERAL.sub('"', "".join(kept))


def _bound(text: str, code: str) -> str | None:
    """None when the tree is certainly not too deep, `_MEASURE` when it may be, a message when it is."""
    if "\\" in code:
        code = _CONTINUATION.sub("", code)
    for word in _KEYWORDS:
        code = code.replace(word, "~")
    groups = _long_groups(code.encode("latin-1", "replace").translate(_ALPHABET, _DROPPED))
    if isinstance(groups, str):
        return groups
    chains = [part for group in groups for part in group.split(b",") if len(part) > MAX_DEPTH]
    if any(part.count(b"q") > MAX_STRINGS for part in chains):
        return f"too complex to be analysed (more than {MAX_STRINGS} strings in one expression)"
    if chains or code.count("elif") > MAX_DEPTH or _DEEP_INDENT.search(text):
        return _MEASURE
    return None


def _long_groups(shape: bytes) -> list[bytes] | str:
    """The lines and the insides of brackets, inner brackets replaced, that are long enough to be deep; or a message."""
    groups: list[bytes] = []
    for _ in range(MAX_BRACKETS):
        pieces = _INNERMOST.split(shape)
        if len(pieces) == 1:
            break
        inside = pieces[1::2]
        if max(map(len, inside)) > MAX_DEPTH:
            groups += [group.replace(b"\n", b"") for group in inside if len(group) > MAX_DEPTH]
        shape = b"o".join(pieces[::2])
    else:
        return f"too complex to be analysed (brackets nested more than {MAX_BRACKETS} deep)"
    if b"(" in shape:
        # Never closed: what follows is one expression, as far as a parser can tell.
        if shape.count(b"(") > MAX_BRACKETS:
            return f"too complex to be analysed (more than {MAX_BRACKETS} brackets are never closed)"
        shape = shape.replace(b"\n", b"")
    return groups + [line for line in shape.split(b"\n") if len(line) > MAX_DEPTH]


def _deep_pattern(text: str) -> tuple[int, int] | None:
    """Line and column of the first bracket that lies too deep in a pattern."""
    depth = 0
    pattern = False
    deep: tuple[int, int] | None = None
    for match in _IN_CASE.finditer(text):
        token = match[0]
        if token in "([{":
            depth += 1
            if pattern and depth > MAX_PATTERN and deep is None:
                deep = _place(text, match.start())
        elif token in ")]}":
            depth -= 1
        elif depth <= 0:
            if pattern and deep is not None and token in (":", "if"):
                return deep
            pattern, deep, depth = match["case"] is not None, None, 0
    return None


def _place(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _first_deep_bracket(text: str) -> tuple[int, int]:
    """Line and column of the first bracket beyond the limit (the start of the text when there is none)."""
    depth = 0
    for match in _BRACKET.finditer(text):
        bracket = match[0]
        if bracket in "([{":
            depth += 1
            if depth > MAX_BRACKETS:
                return _place(text, match.start())
        elif bracket in ")]}":
            depth -= 1
    return 1, 1


def python_parse(text: str) -> ast.Module | SyntaxProblem:
    """Parse with Python's own parser, which survives any text and words its complaints well.

    What it accepts depends on the version of Python that runs.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's string escapes, say
            return ast.parse(text)
    except SyntaxError as error:
        message = error.msg or "invalid syntax"
        line, column = max(error.lineno or 1, 1), max(error.offset or 1, 1)
        if message.startswith("too many"):  # brackets, levels of indentation: Python's own limits
            return SyntaxProblem(TOO_COMPLEX, f"too complex to be analysed ({message})", line, column)
        return SyntaxProblem(SYNTAX_ERROR, f"syntax error: {message}", line, column)
    except (RecursionError, MemoryError):
        return SyntaxProblem(TOO_COMPLEX, "too complex to be analysed (nested too deeply)")
    except ValueError as error:  # cannot be encoded
        return SyntaxProblem(SYNTAX_ERROR, f"cannot be parsed: {error}")


def python_expression(text: str) -> ast.expr | None:
    """Parse an expression with Python's own parser; None if it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return None


def _measure(text: str) -> SyntaxProblem | None:
    """The depth of the tree that Python's parser builds."""
    tree = python_parse(text)
    if isinstance(tree, SyntaxProblem):
        return tree
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        depth += 1
        if isinstance(node, ast.BoolOp):  # flat here, nested in libcst
            depth += len(node.values)
        elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            depth += len(node.generators)
        if depth > MAX_DEPTH:
            message = f"too complex to be analysed (nested more than {MAX_DEPTH} levels deep)"
            line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1
            return SyntaxProblem(TOO_COMPLEX, message, line, column)
        stack += [(child, depth) for child in ast.iter_child_nodes(node)]
    return None
