"""Runs one function on terms instead of values, to see which reads come after a donation (layer: ``link``, room ``domains``).

Statements and control flow live here, expressions in `donation_expressions`. A loop runs twice in a row: the second turn
starts from what the first one left. Where paths meet, only what is dead on both is dead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.domains.donation import elements
from jitlint.link.domains.donation.expressions import bind, evaluate, use
from jitlint.link.domains.donation.keeping import kept_in_objects
from jitlint.link.domains.donation.kept import kept_by
from jitlint.link.domains.donation.state import State, fresh, join, join_all
from jitlint.link.domains.donation.walker import TURNS, Walker
from jitlint.link.tables.ir_walk import inner_functions
from jitlint.syntax import ir


def start(walker: Walker) -> None:
    """Set up what a run has to know about the names around."""
    shared: set[str] = set()
    for fn in walker.module.functions:
        shared |= set(fn.node.global_names)
    if walker.fn is not None:
        for inner in inner_functions(walker.module, walker.fn.body):
            shared |= set(inner.node.nonlocal_names)
        shared |= set(walker.fn.node.nonlocal_names)
    walker.unstable = frozenset(shared)


def run_block(w: Walker, block: Sequence[ir.Node]) -> bool:
    """Run statements in order. False when the end cannot be reached."""
    return all(_RUN.get(type(node), _other)(w, node) for node in block)


def _other(w: Walker, node: ir.Node | None) -> bool:
    return True


def _expr(w: Walker, node: ir.ExprStmt) -> bool:
    evaluate(w, node.value)
    return True


def _assign(w: Walker, node: ir.Assign) -> bool:
    value = evaluate(w, node.value)
    for target in node.targets:
        bind(w, target, value, node.value)
    return True


def _aug_assign(w: Walker, node: ir.AugAssign) -> bool:
    use(w, node.target)
    use(w, node.value)
    bind(w, node.target, fresh())
    return True


def _ann_assign(w: Walker, node: ir.AnnAssign) -> bool:
    if node.value is not None:
        bind(w, node.target, evaluate(w, node.value), node.value)
    return True


def _if(w: Walker, node: ir.If) -> bool:
    use(w, node.test)
    return _branches(w, [node.body, node.orelse])


def _branches(w: Walker, blocks: Sequence[Sequence[ir.Node]]) -> bool:
    before = w.state
    after: list[State] = []
    for block in blocks:
        w.state = before.copy()
        if run_block(w, block):
            after.append(w.state)
    merged = join_all(after)
    w.state = merged if merged is not None else before
    return merged is not None


def _loop(
    w: Walker, begin: Callable[[], object], body: Sequence[ir.Node], orelse: Sequence[ir.Node], endless: bool
) -> bool:
    """A loop whose body is there is taken to run; after it, any number of turns above zero may have passed."""
    breaks, continues = w.breaks, w.continues
    w.breaks = []
    after: State | None = None
    turns: list[State] = []
    for _ in range(TURNS):
        w.continues = []
        begin()
        ends = [w.state] if run_block(w, body) else []
        end = join_all([*ends, *w.continues])
        if end is None:
            break
        after = end if after is None else join(after, end)
        turns.append(end)
        w.state = end.copy()
    leaving = w.breaks
    w.breaks, w.continues = breaks, continues
    reachable = after is not None and not endless
    if after is not None:
        w.state = after
    if reachable and orelse:
        reachable = run_block(w, orelse)
    out = join_all([*([w.state] if reachable else []), *leaving])
    if out is None:
        return False
    w.state = out
    if len(turns) == TURNS:
        _keep(w, body, turns)
    return True


def _keep(w: Walker, body: Sequence[ir.Node], turns: list[State]) -> None:
    """What a turn has kept of what the next one donates may be gone."""
    for kept, source in kept_by(body):
        kill = turns[-1].killed(turns[0].name(source))
        if kill is not None and kept not in w.unstable:
            term = w.state.env[kept] = fresh()
            w.state.kill(term, replace(kill, kept=True))
    for owner, attribute, source in kept_in_objects(w, body):
        kill = turns[-1].killed(turns[0].name(source))
        if kill is not None and owner not in w.unstable:
            term = fresh()
            w.state.store(w.state.name(owner), attribute, term)
            w.state.kill(term, replace(kill, kept=True))


def _for(w: Walker, node: ir.For) -> bool:
    iterable = evaluate(w, node.iter)

    def begin() -> None:
        dead = w.state.killed(iterable) is not None
        bind(w, node.target, w.state.part(iterable, "[*]") if dead else fresh())
        for target, leaf in elements.bound_to(w, evaluate, node.target, node.iter):
            bind(w, target, leaf)

    return _loop(w, begin, node.body, node.orelse, endless=False)


def _while(w: Walker, node: ir.While) -> bool:
    endless = type(node.test) is ir.Const and bool(node.test.value)
    return _loop(w, lambda: use(w, node.test), node.body, node.orelse, endless)


def _try(w: Walker, node: ir.Try) -> bool:
    before = w.state.copy()
    w.excused += bool(node.handlers)
    reached = run_block(w, node.body)
    w.excused -= bool(node.handlers)
    middle = join(before, w.state)
    if reached and node.orelse:
        reached = run_block(w, node.orelse)
    ends = [w.state] if reached else []
    for handler in node.handlers:
        w.state = middle.copy()
        if handler.name:
            w.state.env[handler.name] = fresh()
        if run_block(w, handler.body):
            ends.append(w.state)
    out = join_all(ends)
    w.state = out if out is not None else middle
    if node.final and not run_block(w, node.final):
        return False
    return out is not None


def _with(w: Walker, node: ir.With) -> bool:
    catches = 0
    for item in node.items:
        func = item.value.func if type(item.value) is ir.Call else None
        name = func.name if type(func) is ir.Attr else func.id if type(func) is ir.Name else ""
        catches += name in lexicon().errors.expecting_words
        value = evaluate(w, item.value)
        if item.target is not None:
            bind(w, item.target, w.state.part(value, "entered"))
    before = w.state.copy() if catches else None
    w.excused += catches
    reached = run_block(w, node.body)
    w.excused -= catches
    if before is None:
        return reached
    w.state = join(before, w.state)
    return True


def _return(w: Walker, node: ir.Return) -> bool:
    if node.value is not None:
        evaluate(w, node.value)
    w.exits.append(w.state.copy())
    return False


def _raise(w: Walker, node: ir.Raise) -> bool:
    if node.exc is not None:
        evaluate(w, node.exc)
    return False


def _assert(w: Walker, node: ir.Assert) -> bool:
    use(w, node.test)
    return True


def _del(w: Walker, node: ir.Del) -> bool:
    for target in node.targets:
        if type(target) is ir.Sub:
            w.state.forget(evaluate(w, target.obj))
        else:
            bind(w, target, fresh())
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


def _leave(kind: str) -> Callable[[Walker, ir.Node], bool]:
    def run(w: Walker, node: ir.Node | None) -> bool:
        (w.breaks if kind == "break" else w.continues).append(w.state)
        return False

    return run


def _define(w: Walker, node: ir.FuncDef | ir.ClassDef) -> bool:
    w.state.env[node.name] = fresh()
    return True


def _match(w: Walker, node: ir.Match) -> bool:
    use(w, node.subject)
    return _branches(w, [*[case.body for case in node.cases], []])


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
    ir.Del: _del,
    ir.Import: _import,
    ir.ImportFrom: _import_from,
    ir.Break: _leave("break"),
    ir.Continue: _leave("continue"),
    ir.FuncDef: _define,
    ir.ClassDef: _define,
    ir.Match: _match,
}
