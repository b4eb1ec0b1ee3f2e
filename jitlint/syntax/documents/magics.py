"""What IPython understands and Python does not, in one cell: put into Python that means the same to the analysis.

``%timeit f(x)`` is a call, ``%%timeit`` a function of its own, as IPython makes it, ``%%time`` the cell below it; commands for the shell
and questions (``f?``) do nothing; what a magic assigns is unknown. What might set any name (``%run``, a cell
magic that nobody knows) is a star import of what cannot be found. Layer: ``syntax``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from jitlint.syntax.literals import LITERAL

# Some line may be for IPython: then each is looked at.
_SUSPECT = re.compile(r"^[ \t]*[%!?,;/]|\?[ \t]*$|=[ \t]*[%!]", re.MULTILINE)
_CELL = re.compile(r"%%(?P<name>!|[\w.]+)(?P<rest>.*)")
_MAGIC = re.compile(r"(?P<indent>[ \t]*)%(?P<name>[\w.]+)(?P<rest>.*)")
_SHELL = re.compile(r"[ \t]*(?:!|\?|[,;/][ \t]*[A-Za-z_])|[ \t]*%?%?[\w.*@\[\]]+\?{1,2}[ \t]*$")
_ASSIGNED = re.compile(
    r"(?P<indent>[ \t]*)(?P<target>[\w.,\[\]'\" \t*]*[\w\])])[ \t]*=[ \t]*(?P<what>[%!].*)"
)
_TOKEN = re.compile(LITERAL.pattern + r"|[()\[\]{}]|\\\r?\n|\n|\"\"\"|'''", re.DOTALL)

# Magics that run the Python code behind them, with the options that take a value.
_RUNNING = {
    "timeit": "nrpv",
    "time": "",
    "prun": "DlsT",
    "lprun": "fmDTu",
    "memit": "rti",
    "mprun": "fT",
    "debug": "b",
    "capture": "",
    "snakeviz": "f",
    "pyinstrument": "",
    "wandb": "",
    "notify": "",
}
# Their code has names of its own.
_APART = frozenset({"timeit"})
# What stands below these is no Python, or not for this interpreter.
_FOREIGN = frozenset(
    (
        "! bash sh script html HTML javascript js latex markdown svg SVG perl ruby writefile file sql cmd system sx"
        " python python2 python3 pypy R julia bigquery ai writetemplate configure mermaid dot"
    ).split()
)
# These may set any name.
_SETTING = frozenset("run pylab store reset rehash macro load_from cython".split())
_ANYTHING = "from __magic__ import *"
_UNKNOWN = "get_ipython()"


@dataclass(frozen=True, slots=True)
class Plain:
    """A line of Python. line: the line of the cell (from 0) that it comes from. shift: as in `Row`."""

    text: str
    line: int
    shift: int = 0


def plain_lines(lines: Sequence[str]) -> list[Plain]:
    """The cell as Python."""
    text = "\n".join(lines)
    if _SUSPECT.search(text) is None and not text[:1].isspace():
        return [Plain(line, number) for number, line in enumerate(lines)]
    indent = _indentation(lines)
    shift = len(indent)
    cut = [line[shift:] if indent and line.startswith(indent) else line for line in lines]
    rows = _cell(cut, 0)
    moved = [bool(indent) and line.startswith(indent) for line in lines]
    return [Plain(r.text, r.line, r.shift + (shift if moved[r.line] else 0)) for r in rows]


def _indentation(lines: Sequence[str]) -> str:
    """What the first line with code is indented by: IPython takes it away everywhere."""
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


def _cell(lines: list[str], start: int) -> list[Plain]:
    """From line ``start`` on: the magics that stand above all else, then the code."""
    while start < len(lines) and not lines[start].strip():
        start += 1
    above = [Plain("", number) for number in range(start)]
    match = _CELL.match(lines[start]) if start < len(lines) else None
    if match is None:
        return [*above, *_code(lines, start)]
    name = match["name"]
    if match["rest"].strip() == "?" or name in _FOREIGN:
        return [Plain("", number) for number in range(len(lines))]
    if name not in _RUNNING:
        return [Plain(_ANYTHING if number == start else "", number) for number in range(len(lines))]
    body = _cell(lines, start + 1)[start + 1 :]
    if name not in _APART:
        return [*above, Plain("", start), *body]
    behind = _without_options(match["rest"], _RUNNING[name])
    setup = match["rest"][behind:]
    shift = len(lines[start]) - len(setup)
    return [*above, *_function("", [Plain(setup, start, shift), *body], start)]


def _function(indent: str, body: Sequence[Plain], line: int) -> list[Plain]:
    """A function with this body, and its call. The body's strings may get a blank that they do not have."""
    inner = [Plain(f"{indent} {each.text}", each.line, each.shift - len(indent) - 1) for each in body]
    last = body[-1].line if body else line
    return [
        Plain(f"{indent}def __timeit__():", line),
        *inner,
        Plain(f"{indent} pass", last),
        Plain(f"{indent}__timeit__()", line),
    ]


def _code(lines: list[str], start: int) -> list[Plain]:
    found: list[Plain] = []
    number = start
    while number < len(lines):
        line = lines[number]
        special = _special(line, number)
        if special is None:
            end = _end_of_statement(lines, number)
            found += [Plain(lines[each], each) for each in range(number, end)]
            number = end
            continue
        found += special
        while line.endswith("\\") and number + 1 < len(lines):  # goes on below, for the shell
            number += 1
            line = lines[number]
            found.append(Plain("", number))
        number += 1
    return found


def _special(line: str, number: int) -> list[Plain] | None:
    """A line that is not Python, in Python; None for one that may be."""
    if _SHELL.match(line):
        indent = line[: len(line) - len(line.lstrip())]
        return [Plain(f"{indent}pass", number)]
    match = _MAGIC.fullmatch(line)
    if match is not None:
        return _magic(line, match, number)
    match = _ASSIGNED.fullmatch(line)
    if match is None:
        return None
    indent, what = match["indent"], match["what"]
    assigned = Plain(f"{indent}{match['target']} = {_UNKNOWN}", number)
    magic = _MAGIC.fullmatch(what)
    if magic is None or magic["name"] not in _RUNNING:
        return [assigned]
    ran = _magic(what, magic, number)
    before = len(line) - len(what) - len(indent)
    return [*(Plain(indent + r.text, r.line, r.shift + before) for r in ran), assigned]


def _magic(line: str, match: re.Match[str], number: int) -> list[Plain]:
    indent, name, rest = match["indent"], match["name"], match["rest"]
    if name in _SETTING:
        return [Plain(indent + (_ANYTHING if not indent else "pass"), number)]
    if name not in _RUNNING:
        return [Plain(f"{indent}pass", number)]
    code = rest[_without_options(rest, _RUNNING[name]) :]
    shift = len(line) - len(code) - len(indent)
    if not code.strip():
        return [Plain(f"{indent}pass", number)]
    if name in _APART and not _is_expression(code):
        return _function(indent, [Plain(code, number, shift + len(indent))], number)
    return [Plain(indent + code, number, shift)]


def _without_options(rest: str, valued: str) -> int:
    """Where the code starts in what stands behind the name of a magic. valued: letters of options with a value."""
    at = 0
    while (match := re.compile(r"\s*(-{1,2})([A-Za-z][\w-]*)(?=\s|$)").match(rest, at)) is not None:
        at = match.end()
        letters = match[2]
        if match[1] == "-" and letters[-1] in valued and len(letters) == 1:
            value = re.compile(r"\s+\S+").match(rest, at)
            at = value.end() if value else at
    return at + len(rest[at:]) - len(rest[at:].lstrip())


def _is_expression(code: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _end_of_statement(lines: list[str], start: int) -> int:
    """The number of the line behind the statement that starts on this one: brackets, strings and ``\\`` lead on."""
    text = "\n".join(lines[start:])
    depth = 0
    count = start + 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            if depth <= 0:
                return count
            count += 1
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token in ('"""', "'''"):  # never closed
            return len(lines)
        else:
            count += token.count("\n")
    return len(lines)
