"""Programs that are compiled when they are first needed, and keep what that call was given (layer: ``link``, room ``domains``).

``if self._step is None: self._step = jax.jit(lambda p: p - rate * p)`` makes a program of the ``rate`` of the first call, and all later
ones get it. What it does: reads what a function makes a program of and what it is kept by, and whether callers give it another value that
is kept by the same. What it does not: object where nobody is seen to do so, or where something else empties the place.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Capture
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.compilation.arguments import written
from jitlint.link.domains.compilation.log import CallSite, CompilationLog, Made
from jitlint.link.engine.lazily import filling
from jitlint.link.engine.surroundings import around_of
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.tables.ir_walk import last_name, nodes, path_text, same_text, whole
from jitlint.link.tables.storing import pairs, targets_of
from jitlint.syntax import children, ir

_FORMAL: Final = frozenset(
    {"eval_shape", "isinstance", "len", "ndim", "shape", "structure", "tree_structure", "type"}
)
"""Functions that ask for the form of what they are given."""


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that is kept. reads: where it reads a variable of the function that makes it, each with the parameters of which that is
    made. by: the parameters that say where it is kept, and whether it is there."""

    made: Made
    maker: FuncInfo
    reads: tuple[tuple[ir.Name, frozenset[str]], ...]
    by: frozenset[str]


def finish(log: CompilationLog) -> None:
    """Record what kept programs read of the call that made them, and others find as it was."""
    for program in filter(None, (_kept(log, made) for made in log.made.values())):
        sites = list(log.sites.get(program.maker.id, {}).values())
        for read, sources in program.reads if sites else ():
            other = _another(log, program, sources - program.by, sites)
            if other is not None:
                _record(log, program, read, *other)


def _record(log: CompilationLog, program: _Program, read: ir.Name, site: CallSite, given: ir.Expr) -> None:
    f = program.made.frame
    f.confidence = program.made.confidence
    also = (Step(site.frame.module.name, given.at, "another value is given here"),)
    log.m.emit(
        f, Capture, read.at, None, Confidence.LIKELY, problem="kept", writer=program.maker.qualname, also=also
    )


def _kept(log: CompilationLog, made: Made) -> _Program | None:
    """What a program is made of and kept by, None if it is not kept, or if something else empties its place."""
    fn, table = made.frame.fn, log.m.texts.table(made.frame)
    target = _target(fn, table, made.at) if fn is not None else None
    if fn is None or target is None:
        return None
    path = _path(target[0])
    params = {param.name for param in fn.node.params}
    test = filling(around_of(fn, target[1]), target[1], path, table.bound)
    if test is None or _is_emptied(fn, path):
        return None
    by = _behind(table, [target[0], *_listed(test)]) & params
    reads = [
        (read, frozenset(_behind(table, [read], formal=False) & params))
        for read in _reads(table, made.at, fn)
    ]
    return _Program(made, fn, tuple(reads), frozenset(by))


def _listed(code: ir.Node | Sequence[ir.Node]) -> Sequence[ir.Node]:
    return [code] if isinstance(code, ir.Node) else code


def _target(fn: FuncInfo, table: CodeTable, at: int) -> tuple[ir.Expr, int] | None:
    """Where a function keeps what it makes at an origin, if that is older than the call, with the statement that does so."""
    names = {
        name for name, values in table.bound.items() if any(_is_made(table, value, at) for value in values)
    }
    params = {param.name for param in fn.node.params}
    for node in fn.parts:
        for target, value in pairs(node):
            path = _path(target)
            mine = value.at == at or (type(value) is ir.Name and value.id in names)
            own = path and (path[0] in params if len(path) > 1 else False)
            if mine and path and (own or path[0] not in fn.node.local_names):
                return target, node.at
    return None


def _is_made(table: CodeTable, value: ir.Node | None, at: int) -> bool:
    """Whether what a name is bound to is what is made at an origin."""
    if type(value) is ir.FuncDef:
        node = table.module.functions[value.function].node
        return at in (node.at, *[decorator.at for decorator in node.decorators])
    return value is not None and value.at == at


def _path(target: ir.Node) -> tuple[str, ...]:
    """The names that lead to a place; for an element, to what holds it."""
    text = path_text(target.obj if type(target) is ir.Sub else target)
    return tuple(text.split(".")) if text and "[" not in text else ()


def _is_emptied(fn: FuncInfo, path: tuple[str, ...]) -> bool:
    """Whether something other than a constructor, and what fills the place, sets or changes it too."""
    first = lexicon().captures.first_methods
    return any(
        _changes(node, path[-1])
        for other in fn.module.functions
        if other is not fn and other.name not in first
        for node in other.parts
    )


def _changes(node: ir.Node, name: str) -> bool:
    if type(node) is ir.Call and type(node.func) is ir.Attr:
        return node.func.name in lexicon().containers.shrinking and last_name(node.func.obj) == name
    targets = node.targets if type(node) is ir.Del else targets_of(node)
    return any(last_name(target.obj if type(target) is ir.Sub else target) == name for target in targets)


def _reads(table: CodeTable, at: int, fn: FuncInfo) -> Iterator[ir.Name]:
    """Where a program first reads each variable of the function that makes it, for more than the form of what it holds."""
    maker = table.maker(at)
    made_of = maker.args[0].value if type(maker) is ir.Call and maker.args else maker
    captured = table.mentions_through(made_of, frozenset(fn.node.local_names))
    code = list(_code(table, made_of))
    formal = _asked_for_form(code)
    reads = [
        part for part in code if type(part) is ir.Name and part.id in captured and id(part) not in formal
    ]
    yield from {part.id: part for part in reversed(reads)}.values()


def _code(table: CodeTable, root: ir.Node | None) -> Iterator[ir.Node]:
    """The parts of an expression or definition, and of the functions in it and behind its names."""
    todo: list[Iterable[ir.Node]] = [children.below(root)]
    seen = set[int]()
    while todo:
        for part in todo.pop():
            yield part
            named = table.bound.get(part.id, ()) if type(part) is ir.Name else (part,)
            for one in named:
                if isinstance(one, (ir.FuncDef, ir.Lambda)) and one.function not in seen:
                    seen.add(one.function)
                    todo.append(table.module.functions[one.function].parts)


def _asked_for_form(code: Iterable[ir.Node]) -> set[int]:
    """The names, by identity, that are only asked for the form of what they hold: ``x`` of ``x["a"].shape``, ``len(x)``."""
    forms, found = lexicon().buffers.metadata, set[int]()
    for part in code:
        if type(part) is ir.Attr and part.name in forms:
            found.add(id(whole(part.obj)))
        elif type(part) is ir.Call and last_name(part.func) in _FORMAL:
            found.update(id(whole(arg.value)) for arg in part.args)
    return found


def _behind(table: CodeTable, roots: Iterable[ir.Node], formal: bool = True) -> set[str]:
    """The names in expressions, and in what these were assigned. formal: those too of which only the form counts."""
    todo, found = list(roots), set[str]()
    while todo:
        code = children.below(todo.pop())
        left_out = set[int]() if formal else _asked_for_form(code)
        for part in code:
            if type(part) is ir.Name and id(part) not in left_out and part.id not in found:
                found.add(part.id)
                todo += [value for value in table.bound.get(part.id, ()) if value is not None]
    return found


def _another(
    log: CompilationLog, program: _Program, sources: frozenset[str], sites: Sequence[CallSite]
) -> tuple[CallSite, ir.Expr] | None:
    """A call that gives another value than those before for one of some parameters, and the same for those that a program is kept by."""
    for site in sites:
        given = written(program.maker, site)
        for loop in site.loops:
            if isinstance(loop, (ir.For, ir.While)) and _is_steady(log, site, loop, given, program.by):
                for name in sorted(sources & given.keys()):
                    if _follows(log.m.texts.table(site.frame), loop, given[name]):
                        return site, given[name]
    for first, second in itertools.combinations(sorted(sites, key=lambda site: site.node.at), 2):
        found = _differs(log, program, sources, first, second)
        if found is not None:
            return second, found
    return None


def _is_steady(
    log: CompilationLog, site: CallSite, loop: ir.Node, given: dict[str, ir.Expr], names: Iterable[str]
) -> bool:
    """Whether a loop sets nothing of what is given for some parameters."""
    table = log.m.texts.table(site.frame)
    return not any(table.mentions(given.get(name)) & table.assigned(loop) for name in names)


def _follows(table: CodeTable, loop: ir.For | ir.While, node: ir.Expr) -> bool:
    """Whether an expression is another one in each turn: made of what the loop goes through, or of what goes on from the turn before."""
    targets = (
        {part.id for part in nodes(loop.target) if type(part) is ir.Name} if type(loop) is ir.For else set()
    )
    todo, seen = [node], set[str]()
    while todo:
        for name in table.mentions(todo.pop()) - seen:
            seen.add(name)
            values = [value for value in table.bound.get(name, ()) if table.stands_in(value, (loop,))]
            if name in targets or any(type(v) is ir.AugAssign or name in table.mentions(v) for v in values):
                return True
            todo += values
    return False


def _differs(
    log: CompilationLog, program: _Program, sources: frozenset[str], first: CallSite, second: CallSite
) -> ir.Expr | None:
    """What the second of two calls that one run makes gives otherwise than the first."""
    table = log.m.texts.table(first.frame)
    if first.frame.module is not second.frame.module or first.frame.fn is not second.frame.fn:
        return None
    if table.excludes(first.node, second.node) or table.excludes(second.node, first.node):
        return None
    one, other = written(program.maker, first), written(program.maker, second)
    for name in program.by:
        a, b = one.get(name), other.get(name)
        once = all(len(table.bound.get(each, ())) < 2 for each in table.mentions(a))
        if not (once and same_text(a, b)):
            return None
    changed = (
        name for name in sorted(sources & one.keys() & other.keys()) if not same_text(one[name], other[name])
    )
    return next((other[name] for name in changed), None)
