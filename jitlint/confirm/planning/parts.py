"""Which top-level statements of a module a finding needs (layer: ``confirm``). Reads source; runs nothing.

A script or a notebook that fails (or takes too long) somewhere says nothing of what stands below. These parts can
be run without the rest: what the flagged lines need, what calls the flagged function, and what those need in turn.
An approximation by names: too much costs time, too little leaves the finding open.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_MAKES_FUNCTIONS = re.compile(
    r"jit|vmap|pmap|grad|partial|vectorize|remat|checkpoint|transform|compile|make|custom"
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement. binds: the names it gives a value; changes: those whose value it changes or may change. now: the
    names it reads when it runs; later: those that functions in it read when they are called."""

    node: ast.stmt
    binds: frozenset[str]
    changes: frozenset[str]
    now: frozenset[str]
    later: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        return self.now | self.later


def statements(tree: ast.Module) -> list[ast.stmt]:
    """The statements that running the module as a script runs one after the other."""
    found: list[ast.stmt] = []
    for node in tree.body:
        found += node.body if is_main_guard(node) and isinstance(node, ast.If) else [node]
    return found


def is_main_guard(node: ast.stmt) -> bool:
    """Whether this is ``if __name__ == "__main__":``."""
    if not isinstance(node, ast.If) or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return any(isinstance(side, ast.Name) and side.id == "__name__" for side in sides)


def first_line(node: ast.stmt) -> int:
    """Where a statement begins, decorators included."""
    decorators = node.decorator_list if isinstance(node, _DEFINITIONS) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def needed(body: Sequence[ast.stmt], lines: Collection[int], callers: bool) -> list[ast.stmt]:
    """The statements of ``body`` that the ones at ``lines`` need, and with ``callers`` those that use what these define."""
    parts = [_part(node) for node in body]
    wanted = {index for index, part in enumerate(parts) if _covers(part.node, lines)}
    if callers:
        wanted |= _callers(parts, wanted)
    waiting = sorted(wanted)
    while waiting:
        fresh = {other for index in waiting for other in _needs(parts, index, max(wanted))} - wanted
        wanted |= fresh
        waiting = sorted(fresh)
    imports = {
        index
        for index, part in enumerate(parts)
        if isinstance(part.node, ast.ImportFrom) and part.node.module == "__future__"
    }
    return [parts[index].node for index in sorted(wanted | imports)]


def _covers(node: ast.stmt, lines: Collection[int]) -> bool:
    return any(first_line(node) <= line <= (node.end_lineno or node.lineno) for line in lines)


def _callers(parts: Sequence[_Part], wanted: Collection[int]) -> set[int]:
    """What uses the functions that the wanted statements define, under any name that these get."""
    found: set[int] = set()
    carriers: set[str] = set()
    for index, part in enumerate(parts):
        if index in wanted:
            carriers |= part.binds if _defines(part.node) else set()
        elif part.names & carriers:
            found.add(index)
            if _defines(part.node) or _hands_on(part.node, carriers):
                carriers |= part.binds
        else:
            carriers -= part.binds  # another one of that name
    return found


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Call):
        function = node.value.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        return bool(_MAKES_FUNCTIONS.search(name))
    return isinstance(node, _DEFINITIONS) or isinstance(getattr(node, "value", None), ast.Lambda)


def _hands_on(node: ast.stmt, carriers: Collection[str]) -> bool:
    """Whether an assignment gives a function another name: ``g = f``, ``g = jax.jit(f)``; not ``y = f(x)``."""
    return isinstance(node, (ast.Assign, ast.AnnAssign)) and _is_carrier(node.value, carriers)


def _is_carrier(value: ast.expr | None, carriers: Collection[str]) -> bool:
    if isinstance(value, ast.Name):
        return value.id in carriers
    if (
        not isinstance(value, ast.Call)
        or isinstance(value.func, ast.Call)
        or _is_carrier(value.func, carriers)
    ):
        return False
    given = [*value.args, *(keyword.value for keyword in value.keywords)]
    return any(_is_carrier(part, carriers) for part in given)


def _needs(parts: Sequence[_Part], index: int, last: int) -> Iterator[int]:
    """What a statement needs to have run: the latest values of what it reads, and of what its functions read later
    also the values that come between their calls."""
    part = parts[index]
    for name in part.now:
        yield from _latest(parts, name, index)
    if not part.later:
        return
    calls = [i for i in range(index + 1, last + 1) if parts[i].now & part.binds]
    first = calls[0] if calls else index
    for name in part.later:
        yield from _latest(parts, name, first)
        yield from (i for i in range(first, last) if name in parts[i].binds | parts[i].changes)


def _latest(parts: Sequence[_Part], name: str, before: int) -> Iterator[int]:
    for i in range(before - 1, -1, -1):
        if name in parts[i].binds:
            yield i
            return
        if name in parts[i].changes:
            yield i


@dataclass(slots=True)
class _Names:
    """The names of a statement, sorted as in `_Part`."""

    binds: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    now: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)


def _part(node: ast.stmt) -> _Part:
    names = _Names()
    _read(node, names, False)
    now = names.now - _loop_variables(node)
    return _Part(
        node, frozenset(names.binds), frozenset(names.changes), frozenset(now), frozenset(names.later)
    )


def _read(node: ast.AST, names: _Names, inside: bool) -> None:
    """Sort the names of a statement; ``inside`` a function they are read later, and bound for itself only."""
    if isinstance(node, _FUNCTIONS):
        own = replace(names, later=set())
        _read_parts(node, own, inside)
        # Variables of its own are nobody else's.
        names.later |= own.later - _locals(node)
        return
    if not inside:
        _sort(node, names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        names.later.add(node.id)
    _read_parts(node, names, inside)


def _sort(node: ast.AST, names: _Names) -> None:
    """What one node does to names, in code that runs now."""
    if isinstance(node, ast.Name):
        (names.now if isinstance(node.ctx, ast.Load) else names.binds).add(node.id)
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        names.binds |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    elif isinstance(node, ast.ClassDef):
        names.binds.add(node.name)
    elif isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        names.changes |= _root(node)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        names.now.add(node.target.id)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        # `names.append(x)` may change what it is called on.
        names.changes |= _root(node.value.func) if isinstance(node.value.func, ast.Attribute) else set()


def _read_parts(node: ast.AST, names: _Names, inside: bool) -> None:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not inside:
        names.binds.add(node.name)
    for name, child in ast.iter_fields(node):
        deferred = inside or (isinstance(node, _FUNCTIONS) and name == "body")
        for part in child if isinstance(child, list) else [child]:
            if isinstance(part, ast.AST):
                _read(part, names, deferred)


def _loop_variables(node: ast.stmt) -> set[str]:
    """Variables that get their values in the statement itself, before it reads them."""
    targets = [
        part.target
        for part in ast.walk(node)
        if isinstance(part, (ast.For, ast.AsyncFor, ast.comprehension, ast.NamedExpr))
    ]
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


def _locals(function: ast.AST) -> set[str]:
    """The names that a function binds for itself; those of functions in it too, which does no harm."""
    found: set[str] = set()
    shared: set[str] = set()
    for part in ast.walk(function):
        if isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.Global):
            shared |= set(part.names)
    return found - shared


def _root(node: ast.AST) -> set[str]:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()
