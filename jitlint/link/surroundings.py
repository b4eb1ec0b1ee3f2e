"""Where a statement stands: the blocks around it, as the source has them (layer: ``link``).

Asked only when something is about to be recorded, so the table of a function is made on first use.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from jitlint.link.machine import Frame
from jitlint.syntax import ir

_BLOCKS: Final = ("body", "orelse", "final")
_TRACER_WORDS: Final = ("Tracer", "trace_state_clean", "is_concrete", "trace_ctx", "is_tracer")

Around = tuple[tuple[Any, list[Any]], ...]
"""The compound statements around a statement with the block of each that holds it, outermost first."""


class Table:
    """The statements of one function or module body: what is around each, by origin."""

    def __init__(self, body: list[Any]) -> None:
        self.around: dict[int, Around] = {}
        self._add(body, (), None)

    def _add(self, block: list[Any], outer: Around, owner: Any) -> None:
        here: Around = (*outer, (owner, block))
        for node in block:
            self.around[node.at] = here
            for inner in blocks(node):
                self._add(inner, here, node)


def blocks(node: Any) -> Iterator[list[Any]]:
    """The blocks of a compound statement that run with it; those of classes and functions do not count."""
    if type(node) in (ir.FuncDef, ir.ClassDef):
        return
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def around(f: Frame) -> Around:
    """What is around the statement that runs in a frame; empty when it is not known."""
    if f.fn is None:
        return ()
    if f.fn.surroundings is None:
        f.fn.surroundings = Table(f.fn.body)
    table: Table = f.fn.surroundings
    return table.around.get(f.at, ())


def leads_to_raise(f: Frame) -> bool:
    """Whether the block of the current statement ends by raising: then the trace ends with it."""
    found = around(f)
    return bool(found) and type(found[-1][1][-1]) is ir.Raise


def asks_for_tracers(f: Frame) -> bool:
    """Whether a condition around asks if something is being traced: who asks knows what tracing means."""
    return any(type(node) in (ir.If, ir.While) and mentions_tracing(node.test) for node, _ in around(f))


def asks_absence(f: Frame) -> bool:
    """Whether a condition around asks if something is missing yet: what follows fills it once."""
    return any(type(node) is ir.If and _is_absence(node.test) for node, _ in around(f))


def mentions_tracing(node: Any) -> bool:
    """Whether an expression speaks of tracers by name."""
    return any(_name(part).endswith(_TRACER_WORDS) for part in expressions(node))


def _is_absence(node: Any) -> bool:
    if type(node) is ir.BoolOp:
        return _is_absence(node.left) or _is_absence(node.right)
    if type(node) is ir.UnaryOp and node.op == "not":
        return True
    if type(node) is not ir.Compare:
        return False
    none = [type(right) is ir.Const and right.kind == "none" for right in node.rights]
    return any(op == "not in" or (op == "is" and is_none) for op, is_none in zip(node.ops, none))


def _name(node: Any) -> str:
    if type(node) is ir.Attr:
        return str(node.name)
    return str(node.id) if type(node) is ir.Name else ""


def expressions(node: Any) -> Iterator[Any]:
    """An expression and everything inside it, except bodies of lambdas."""
    if isinstance(node, ir.Node):
        yield node
    if isinstance(node, list):
        for part in node:
            yield from expressions(part)
    elif hasattr(node, "__struct_fields__"):
        for name in node.__struct_fields__:
            part = getattr(node, name)
            if part is not None and not isinstance(part, (str, int, float)):
                yield from expressions(part)
