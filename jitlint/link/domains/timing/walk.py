"""Runs one function on clocks and pending work instead of values (layer: ``link``, room ``domains``).

An expression gives the text ``clock`` (a reading just made), ``device`` (it may hold the result of JAX work) or "".
Calls are the business of `timing_calls`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Ext
from jitlint.link.domains.timing import blocks as timing_blocks
from jitlint.link.domains.timing import buffers
from jitlint.link.domains.timing import calls as timing_calls
from jitlint.link.domains.timing.buffers import path_of
from jitlint.link.domains.timing.state import Clocks, Pending, Work, join_all
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.builtin_names import BUILTINS
from jitlint.syntax import ir

TURNS: Final = 2
CLOCK, DEVICE = "clock", "device"


@dataclass(slots=True)
class Walker:
    """One run over a function (a module body when ``fn`` is None). found: clock readings that come too early, each with
    the variable that holds the reading before.

    written: places where a buffer is written that work may still read, with that work and what the buffer is called.
    clocked: the numbers of functions that read a clock themselves or by methods. depth: of such functions in each other.
    block: what runs when a generator that is a context manager goes on after its ``yield``.
    """

    m: Machine
    module: ModuleInfo
    fn: FuncInfo | None
    summary_of: Callable[[FuncInfo], Pending]
    state: Clocks = field(default_factory=Clocks)
    found: dict[tuple[int, str], Work] = field(default_factory=dict)
    written: dict[int, tuple[Work, str]] = field(default_factory=dict)
    exits: list[Clocks] = field(default_factory=list)
    breaks: list[Clocks] = field(default_factory=list)
    continues: list[Clocks] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    defined: dict[str, int] = field(default_factory=dict)
    clock: tuple[int, dict[str, Pending]] | None = None
    clocked: frozenset[int] = frozenset()
    depth: int = 0
    block: Pending = None

    def enter(self, fn: FuncInfo) -> Walker:
        """A run over a function that this one calls."""
        return Walker(self.m, fn.module, fn, self.summary_of, clocked=self.clocked, depth=self.depth + 1)

    def dotted(self, node: ir.Node | None) -> str | None:
        """The canonical name of a library function or module that an expression names, else None."""
        if type(node) is ir.Attr:
            owner = self.dotted(node.obj)
            return None if owner is None else self.m.catalogue.canonical(f"{owner}.{node.name}")
        if type(node) is not ir.Name:
            return None
        known = self.imported.get(node.id)
        if known is not None:
            return known
        if self.fn is not None and node.id in self.fn.node.local_names:
            return None
        value = self.module.scope.vars.get(node.id) or BUILTINS.get(node.id)
        return value.dotted if type(value) is Ext else None


def run_block(w: Walker, block: Sequence[ir.Node]) -> bool:
    """Run statements in order. False when the end cannot be reached."""
    return all(_RUN.get(type(node), _other)(w, node) for node in block)


def evaluate(w: Walker, node: ir.Node | None) -> str:
    """What an expression gives, after its effects."""
    handler = _EVALUATE.get(type(node))
    return handler(w, node) if handler is not None else ""


def test(w: Walker, node: ir.Node | None) -> None:
    """A truth value is asked for: that needs the numbers."""
    if evaluate(w, node) == DEVICE:
        w.state.waited()


# Expressions


def _place(w: Walker, node: ir.Name | ir.Attr | ir.Sub) -> str:
    if type(node) is ir.Sub:
        evaluate(w, node.index)
    if isinstance(node, (ir.Attr, ir.Sub)):
        inner = evaluate(w, node.obj)
        if inner == DEVICE:
            return DEVICE
    return DEVICE if path_of(node) in w.state.device else ""


def _binop(w: Walker, node: ir.BinOp) -> str:
    if node.op == "-" and _difference(w, node, report=True):
        return ""
    return _any(w, [node.left, node.right])


def _difference(w: Walker, node: ir.BinOp, report: bool) -> bool:
    """``clock() - start`` and ``end - start``."""
    start = path_of(node.right)
    if start not in w.state.readings or type(node.right) is ir.Sub:
        return False
    if type(node.left) is ir.Call:
        end = w.clock if evaluate(w, node.left) == CLOCK else None
    else:
        end = w.state.ends.get(path_of(node.left))
    if end is None:
        return False
    work = end[1].get(start)
    if start in w.state.past:  # a running total: all turns but the last have been waited for
        w.found.pop((end[0], start), None)
    elif report and isinstance(work, Work):
        w.found.setdefault((end[0], start), work)
    return True


def _compare(w: Walker, node: ir.Compare) -> str:
    out = ""
    for part in (node.left, *node.rights):
        # a deadline, not a measurement
        if type(part) is ir.BinOp and part.op == "-" and _difference(w, part, report=False):
            continue
        if evaluate(w, part) == DEVICE:
            out = DEVICE
    return "" if any(op in ("is", "is not", "in", "not in") for op in node.ops) else out


def _any(w: Walker, parts: Sequence[ir.Node | None]) -> str:
    kinds = [evaluate(w, part) for part in parts if part is not None]
    return DEVICE if DEVICE in kinds else ""


def _parts(*names: str) -> Callable[[Walker, ir.Node], str]:
    def handler(w: Walker, node: ir.Node | None) -> str:
        parts: list[ir.Node] = []
        for name in names:
            value = getattr(node, name)
            parts.extend(value if isinstance(value, list) else [value])
        return _any(w, parts)

    return handler


def _unary(w: Walker, node: ir.UnaryOp) -> str:
    if node.op == "not":
        test(w, node.operand)
        return ""
    return evaluate(w, node.operand)


def _boolop(w: Walker, node: ir.BoolOp) -> str:
    test(w, node.left)
    return evaluate(w, node.right)


def _ifexp(w: Walker, node: ir.IfExp) -> str:
    test(w, node.test)
    return _any(w, [node.body, node.orelse])


def _fstr(w: Walker, node: ir.Fstr) -> str:
    for part in node.parts:
        if evaluate(w, part.value) == DEVICE:
            w.state.waited()
    return ""


def _comp(w: Walker, node: ir.Comp) -> str:
    for part in node.fors:
        bind(w, part.target, evaluate(w, part.iter))
        for condition in part.ifs:
            test(w, condition)
    return _any(w, [node.elt, node.value])


def _walrus(w: Walker, node: ir.Walrus) -> str:
    kind = evaluate(w, node.value)
    _bind_path(w, node.target, kind, node.value)
    return kind


def _inner(w: Walker, node: ir.Await | ir.Yield | ir.Starred) -> str:
    return evaluate(w, node.value) if node.value is not None else ""


def _yield(w: Walker, node: ir.Yield) -> str:
    _inner(w, node)
    if isinstance(w.block, Work):
        w.state.started(w.block)
    elif w.block is not None:
        w.state.waited()
    return ""


# Statements


def bind(w: Walker, target: ir.Node | None, kind: str, node: ir.Node | None = None) -> None:
    """Assign what an expression gave to a target."""
    if isinstance(target, (ir.Tuple, ir.List)):
        for element in target.elts:
            bind(w, element, DEVICE if kind == DEVICE else "")
    elif type(target) is ir.Starred:
        bind(w, target.value, kind)
    elif type(target) is ir.Sub:
        evaluate(w, target.index)
        buffers.write(w.state, w.written, target, target.at)
        if kind == DEVICE:
            w.state.device.add(path_of(target))
    else:
        _bind_path(w, path_of(target), kind, node)


def _bind_path(w: Walker, path: str, kind: str, node: ir.Node | None) -> None:
    source = path_of(node) if isinstance(node, (ir.Name, ir.Attr)) else ""
    copied = w.state.readings.get(source), w.state.ends.get(source), source in w.state.readings
    w.state.forget(path)
    if kind == CLOCK and w.clock is not None:
        w.state.readings[path] = None
        w.state.ends[path] = w.clock
    elif kind == DEVICE:
        w.state.device.add(path)
    elif copied[2]:
        w.state.readings[path] = copied[0]
        if copied[1] is not None:
            w.state.ends[path] = copied[1]


def _other(w: Walker, node: ir.Node | None) -> bool:
    return True


def _expr(w: Walker, node: ir.ExprStmt) -> bool:
    evaluate(w, node.value)
    return True


def _assign(w: Walker, node: ir.Assign) -> bool:
    kind = evaluate(w, node.value)
    for target in node.targets:
        bind(w, target, kind, node.value)
    return True


def _aug_assign(w: Walker, node: ir.AugAssign) -> bool:
    kind = _any(w, [node.target, node.value])
    buffers.write(w.state, w.written, node.target, node.target.at if type(node.target) is ir.Sub else node.at)
    if kind == DEVICE:
        bind(w, node.target, kind)
    return True


def _ann_assign(w: Walker, node: ir.AnnAssign) -> bool:
    if node.value is not None:
        bind(w, node.target, evaluate(w, node.value), node.value)
    return True


def _if(w: Walker, node: ir.If) -> bool:
    test(w, node.test)
    return _branches(w, [node.body, node.orelse])


def _branches(w: Walker, blocks: Sequence[Sequence[ir.Node]]) -> bool:
    before = w.state
    after: list[Clocks] = []
    for block in blocks:
        w.state = before.copy()
        if run_block(w, block):
            after.append(w.state)
    merged = join_all(after)
    w.state = merged if merged is not None else before
    return merged is not None


def _loop(w: Walker, begin: Callable[[], object], node: ir.For | ir.While, endless: bool) -> bool:
    breaks, continues = w.breaks, w.continues
    w.breaks = []
    reachable = False
    outside = set(w.state.waits), set(w.state.past)
    w.state.waits.clear()
    for turn in range(TURNS):
        w.continues = []
        if turn:
            w.state.past |= w.state.waits
        begin()
        end = join_all([*([w.state] if run_block(w, node.body) else []), *w.continues])
        if end is None:
            break
        w.state = end
        reachable = not endless
    leaving = w.breaks
    w.breaks, w.continues = breaks, continues
    if reachable and node.orelse:
        reachable = run_block(w, node.orelse)
    out = join_all([*([w.state] if reachable else []), *leaving])
    if out is None:
        return False
    w.state = out
    w.state.waits |= outside[0] & out.readings.keys()
    w.state.past &= outside[1]
    return True


def _for(w: Walker, node: ir.For) -> bool:
    kind = evaluate(w, node.iter)
    counted = type(node.iter) is ir.Call and w.dotted(node.iter.func) == "builtins.enumerate"

    def begin() -> None:
        bind(w, node.target, kind)
        if counted and type(node.target) is ir.Tuple and node.target.elts:
            bind(w, node.target.elts[0], "")

    return _loop(w, begin, node, endless=False)


def _while(w: Walker, node: ir.While) -> bool:
    endless = type(node.test) is ir.Const and bool(node.test.value)
    return _loop(w, lambda: test(w, node.test), node, endless)


def _try(w: Walker, node: ir.Try) -> bool:
    before = w.state.copy()
    ends = [w.state] if run_block(w, [*node.body, *node.orelse]) else []
    for handler in node.handlers:
        w.state = before.copy()
        if run_block(w, handler.body):
            ends.append(w.state)
    out = join_all(ends)
    w.state = out if out is not None else before
    return run_block(w, node.final) and out is not None


def _with(w: Walker, node: ir.With) -> bool:
    return timing_blocks.block(w, node)


def _return(w: Walker, node: ir.Return) -> bool:
    if node.value is not None:
        evaluate(w, node.value)
    w.exits.append(w.state.copy())
    return False


def _raise(w: Walker, node: ir.Raise) -> bool:
    return False


def _assert(w: Walker, node: ir.Assert) -> bool:
    test(w, node.test)
    return True


def _leave(kind: str) -> Callable[[Walker, ir.Node], bool]:
    def run(w: Walker, node: ir.Node | None) -> bool:
        (w.breaks if kind == "break" else w.continues).append(w.state)
        return False

    return run


def _define(w: Walker, node: ir.FuncDef) -> bool:
    w.defined[node.name] = node.function
    return True


def _import(w: Walker, node: ir.Import) -> bool:
    for name in node.names:
        top = name.name if name.asname else name.name.split(".")[0]
        w.imported[name.asname or top] = w.m.catalogue.canonical(top)
    return True


def _import_from(w: Walker, node: ir.ImportFrom) -> bool:
    for name in node.names:
        if not node.level:
            w.imported[name.asname or name.name] = w.m.catalogue.canonical(f"{node.module}.{name.name}")
    return True


def _match(w: Walker, node: ir.Match) -> bool:
    test(w, node.subject)
    return _branches(w, [*[case.body for case in node.cases], []])


def _call(w: Walker, node: ir.Call) -> str:
    return timing_calls.call(w, node)


_EVALUATE: Final[dict[type, Callable[[Walker, Any], str]]] = {
    ir.Name: _place,
    ir.Attr: _place,
    ir.Sub: _place,
    ir.Slice: _parts("lo", "hi", "step"),
    ir.Call: _call,
    ir.BinOp: _binop,
    ir.UnaryOp: _unary,
    ir.BoolOp: _boolop,
    ir.Compare: _compare,
    ir.IfExp: _ifexp,
    ir.Tuple: _parts("elts"),
    ir.List: _parts("elts"),
    ir.Set: _parts("elts"),
    ir.Dict: _parts("values"),
    ir.Comp: _comp,
    ir.Fstr: _fstr,
    ir.Walrus: _walrus,
    ir.Await: _inner,
    ir.Yield: _yield,
    ir.Starred: _inner,
}

_RUN: Final[dict[type, Callable[[Walker, Any], bool]]] = {
    ir.ExprStmt: _expr,
    ir.Assign: _assign,
    ir.AugAssign: _aug_assign,
    ir.AnnAssign: _ann_assign,
    ir.If: _if,
    ir.For: _for,
    ir.While: _while,
    ir.Try: _try,
    ir.With: _with,
    ir.Return: _return,
    ir.Raise: _raise,
    ir.Assert: _assert,
    ir.Break: _leave("break"),
    ir.Continue: _leave("continue"),
    ir.FuncDef: _define,
    ir.Import: _import,
    ir.ImportFrom: _import_from,
    ir.Match: _match,
}
