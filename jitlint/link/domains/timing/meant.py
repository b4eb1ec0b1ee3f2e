"""Clocks that are meant to be read while work runs (layer: ``link``, room ``domains``).

What it does: reads what the code around a reading calls it. JAX compiles, and hands work over, before the call comes
back, so who times these has to wait for nothing. What it does not: find readings.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.tables.ir_walk import bound_names, last_name
from jitlint.syntax import ir
from jitlint.syntax.children import below

_STATEMENTS: Final = (ir.Assign, ir.AnnAssign, ir.AugAssign, ir.ExprStmt, ir.Return)
_WORD: Final = re.compile(r"[a-z]+")


def is_meant(function: str, parts: Sequence[ir.Node], at: int) -> bool:
    """Whether a reading ends the time of compilation, or of handing work over. parts: the code of the function around."""
    return _tells(function.rpartition(".")[2]) or any(_asks(n, at) for n in parts) or _is_said(parts, at)


def _asks(node: ir.Node, at: int) -> bool:
    """Whether a reading stands under a condition that asks for the time of compilation: ``if show_compile_time:``."""
    if type(node) is not ir.If or not any(_reads(statement, at) for statement in node.body):
        return False
    return any(_tells(last_name(part)) for part in below(node.test) if isinstance(part, (ir.Name, ir.Attr)))


def _is_said(parts: Sequence[ir.Node], at: int) -> bool:
    """Whether the statement that reads the clock, or one that goes on with the time, says what it is the time of."""
    statements = sorted((n for n in parts if isinstance(n, _STATEMENTS)), key=lambda n: n.at)
    stands = next((n for n in statements if _reads(n, at)), None)
    if stands is None:
        return False
    ends = _bound(stands)
    after = list(itertools.takewhile(lambda n: ends.isdisjoint(_bound(n)), _later(statements, stands)))
    about = [stands, *(n for n in after if any(_takes_from(part, ends) for part in below(n)))]
    if any(_tells(text) for n in about for text in (*_names(n), *_texts(n))):
        return True
    return any(map(_waits, after[:1])) and _is_taken_apart(parts, statements, stands)


def _is_taken_apart(parts: Sequence[ir.Node], statements: Sequence[ir.Node], stands: ir.Node) -> bool:
    """Whether the time from a reading on is told by itself, or the one up to it as a share of the whole."""
    ends, starts = _bound(stands), _starts(stands)
    whole = {
        name for n in _later(statements, stands) if not starts.isdisjoint(_starts(n)) for name in _bound(n)
    }
    return any(_takes_from(n, set(), ends) or _is_share(n, ends, whole) for n in parts)


def _is_share(node: object, ends: set[str], whole: set[str]) -> bool:
    """Whether an expression is the share that one time has in another."""
    if type(node) is not ir.BinOp or node.op != "/":
        return False
    return last_name(node.left) in ends and last_name(node.right) in whole


def _starts(node: ir.Node) -> set[str]:
    """The variables that a statement takes off: the readings since which it tells the time."""
    parts = (part for part in below(node) if type(part) is ir.BinOp and part.op == "-")
    return {part.right.id for part in parts if type(part.right) is ir.Name}


def _later(statements: Sequence[ir.Node], stands: ir.Node) -> Iterator[ir.Node]:
    return (n for n in statements if n.at > stands.at)


def _bound(node: ir.Node) -> set[str]:
    return {name.id for name in bound_names(node.targets)} if type(node) is ir.Assign else set()


def _reads(node: ir.Node, at: int) -> bool:
    return any(type(part) is ir.Call and part.at == at for part in below(node))


def _takes_from(node: object, ends: set[str], starts: set[str] | None = None) -> bool:
    """Whether an expression is the time up to one of some readings, or from one of others."""
    if type(node) is not ir.BinOp or node.op != "-":
        return False
    return last_name(node.left) in ends or last_name(node.right) in (starts or ())


def _waits(node: ir.Node) -> bool:
    """Whether a statement does nothing but wait."""
    call = node.value if isinstance(node, (ir.ExprStmt, ir.Assign)) else None
    words = lexicon().timing
    names = words.waiting_methods | {name.rpartition(".")[2] for name in words.waiting}
    return type(call) is ir.Call and last_name(call.func) in names


def _names(node: ir.Node) -> Iterator[str]:
    """What a statement binds, or puts something into: ``dispatch.append(now - start)``."""
    targets = node.targets if type(node) is ir.Assign else [getattr(node, "target", None)]
    call = node.value if type(node) is ir.ExprStmt else None
    if type(call) is ir.Call and type(call.func) is ir.Attr:
        targets = [call.func.obj]
    for target in targets:
        yield from (last_name(part) for part in below(target) if isinstance(part, (ir.Name, ir.Attr)))


def _texts(node: object) -> Iterator[str]:
    for part in below(node):
        if type(part) is ir.Const and part.kind == "str":
            yield str(part.value)


def words_of(node: ir.Node) -> Iterator[str]:
    """The words in the names that a statement binds, and in its texts."""
    for text in (*_names(node), *_texts(node)):
        yield from _words(text)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _tells(text: str) -> bool:
    """Whether a name or message says that compilation was timed, and not what comes without it, with it or after it."""
    words, found = lexicon().timing, _words(text)
    said = not words.synchronous.isdisjoint(found) or ("compiled", "in") in itertools.pairwise(found)
    return said and words.excluding.isdisjoint(found)
