"""What a test runner hands to a test: fixtures, rows of parameters, an object that is set up (layer: ``link``, room ``roots``).

Tests are the callers that a library has in its own tree. pytest fills parameters by the names of fixtures (of the file,
its class, and the ``conftest.py`` files above it) and by ``parametrize``; absl and chex by the rows of a decorator;
unittest calls ``setUp``. What it does not: fixtures of plug-ins, parameters of classes, rows made by functions that are
not understood; what they give stays unknown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import or_unknown
from jitlint.infer.program import ClassInfo, ModuleInfo
from jitlint.infer.values import (
    UNKNOWN,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Py,
    Seq,
    Tup,
    Value,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import iteration, parameters
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

MAX_ROWS = 6
"""So many runs of one test are looked at."""

MAX_FIXTURES = 8
"""Fixtures use each other at most so deep."""

Row = dict[str, Value]


@dataclass(slots=True)
class TestRunner:
    """Knows the fixtures of a program. found: by the module or class that defines them. conftests: by their folders."""

    m: Machine
    found: dict[int, dict[str, Func]] = field(default_factory=dict)
    set_up: set[int] = field(default_factory=set)
    conftests: dict[str, ModuleInfo] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for info in self.m.modules.values():
            if os.path.basename(info.path) == "conftest.py":
                self.conftests[os.path.dirname(info.path)] = info

    def rows(self, frame: Frame, func: Func) -> list[Row]:
        """What the parameters of a test, or of a fixture, are filled with, once for each run; none if nobody says."""
        if not func.fn.module.is_test:
            return []
        written = _parametrized(self.m, frame, func)
        named = set(written[0]) if written else set()
        runs = max(len(written), self._variants(frame, func, named, 0))
        if runs > MAX_ROWS:
            self.m.limits.meet("rows", func.fn.module.name, func.fn.node.name_at, func.fn.qualname)
        out: list[Row] = []
        for turn in range(min(runs, MAX_ROWS)):
            row = written[turn % len(written)] if written else {}
            out.append({**self._of_fixtures(frame, func, named, 0, turn), **row})
        return out

    def leaves_out(self, func: Func) -> bool:
        """Whether a test is not run, is to fail, or runs with options that change what JAX refuses: it, its class or its file
        is marked."""
        fn, owner = func.fn, func.owner
        marks = list(fn.node.decorators)
        if owner is not None:
            marks += _decorators(owner)
        for node in fn.module.tree.body:
            if type(node) is ir.Assign and any(last_name(target) == "pytestmark" for target in node.targets):
                marks += node.value.elts if isinstance(node.value, (ir.List, ir.Tuple)) else [node.value]
        tests = lexicon().tests
        return any(_full_name(self.m, func, mark) in tests.left_out or _is_odd(mark) for mark in marks)

    def prepare(self, func: Func, receiver: Value) -> None:
        """Let the methods that a test runner calls first set up an object."""
        info = func.owner
        if info is None or type(receiver) is not Inst or info.id in self.set_up or not info.module.is_test:
            return
        self.set_up.add(info.id)
        for name, method in _set_up_methods(self.m, info):
            if type(method) is Descr:
                callee: Value = Bound(method.func, Class(info))
            else:
                callee = Bound(method, receiver)
            inner = method.func if type(method) is Descr else method
            if type(inner) is Func:
                frame = parameters.host_frame(self.m, inner)
                given = self._of_fixtures(frame, inner, {name}, 0, 0)
                evaluator.call(self.m, frame, inner.fn.node.at, callee, Args([], given))

    def _fixtures(self, func: Func, known: set[str], depth: int) -> Iterator[tuple[str, Func]]:
        """The fixtures that fill parameters of a function. known: parameters that are filled otherwise."""
        for i, param in enumerate(func.fn.node.params if depth < MAX_FIXTURES else ()):
            own = func.owner is not None and i == 0
            if own or param.name in known or param.default is not None or param.kind in ("var", "kwvar"):
                continue
            fixture = self._fixture(func, param.name)
            if fixture is not None and fixture.fn is not func.fn:
                yield param.name, fixture

    def _variants(self, frame: Frame, func: Func, known: set[str], depth: int) -> int:
        """In how many variants the fixtures of a function come; 0 if it has none."""
        most = 0
        for _, fixture in self._fixtures(func, known, depth):
            inner = self._variants(frame, fixture, set(), depth + 1)
            most = max(most, 1, inner, len(_variants(self.m, frame, fixture)))
        return most

    def _of_fixtures(self, frame: Frame, func: Func, known: set[str], depth: int, turn: int) -> Row:
        """What fixtures fill in. turn: which of their variants."""
        found = self._fixtures(func, known, depth)
        return {name: self._value(frame, fixture, depth, turn) for name, fixture in found}

    def _value(self, frame: Frame, fixture: Func, depth: int, turn: int) -> Value:
        """What a fixture returns or yields."""
        m = self.m
        given = self._of_fixtures(frame, fixture, set(), depth + 1, turn)
        variants = _variants(m, frame, fixture)
        if variants:
            request = ExtInst(lexicon().tests.request[0], {"param": variants[turn % len(variants)]})
            given = {**given, "request": request}
        pos: list[Value] = [or_unknown(fixture.owner.cold)] if fixture.owner is not None else []
        result = evaluator.call(m, frame, fixture.fn.node.at, fixture, Args(pos, given))
        if fixture.fn.node.is_generator:
            return or_unknown(result.rest) if type(result) is Seq else UNKNOWN
        return result

    def _fixture(self, func: Func, name: str) -> Func | None:
        for cls in mro(func.owner) if func.owner is not None else ():
            found = self._in_class(cls).get(name)
            if found is not None:
                return found
        for info in self._modules_above(func.fn.module):
            found = self._in_module(info).get(name)
            if found is not None:
                return found
        return None

    def _modules_above(self, module: ModuleInfo) -> Iterator[ModuleInfo]:
        """A module and the ``conftest.py`` files above it, the nearest first."""
        yield module
        folder = os.path.dirname(module.path)
        while True:
            found = self.conftests.get(folder)
            if found is not None and found is not module:
                yield found
            if not folder or os.path.dirname(folder) == folder:
                return
            folder = os.path.dirname(folder)

    def _in_class(self, info: ClassInfo) -> dict[str, Func]:
        if -info.id not in self.found:
            self.found[-info.id] = _fixtures(self.m, info.namespace)
        return self.found[-info.id]

    def _in_module(self, info: ModuleInfo) -> dict[str, Func]:
        key = id(info)
        if key not in self.found:
            self.found[key] = _fixtures(self.m, info.scope.vars)
        return self.found[key]


def _fixtures(m: Machine, names: dict[str, Value]) -> dict[str, Func]:
    """The fixtures among some names, by what tests call them."""
    out: dict[str, Func] = {}
    for name, value in names.items():
        func = value if type(value) is Func else None
        node = _mark(m, func, lexicon().tests.fixtures) if func is not None else None
        if func is not None and node is not None:
            out[_named(node) or name] = func
    return out


def _mark(m: Machine, func: Func, names: frozenset[str]) -> ir.Expr | None:
    """The decorator of one of these names."""
    for node in func.fn.node.decorators:
        if _dotted(m, func, node) in names:
            return node
    return None


def _dotted(m: Machine, func: Func, node: ir.Expr) -> str:
    found = parameters.resolve(m, func.scope, node.func if type(node) is ir.Call else node)
    return found.dotted if type(found) is Ext else ""


def _decorators(info: ClassInfo) -> list[ir.Expr]:
    found = [
        node for node in info.module.tree.body if type(node) is ir.ClassDef and node.qualname == info.qualname
    ]
    return found[-1].decorators if found else []


def _is_odd(mark: ir.Expr) -> bool:
    """Whether a decorator switches something on that changes what JAX refuses."""
    given = mark.args if type(mark) is ir.Call else []
    return any(
        arg.name in lexicon().tests.odd_options and type(arg.value) is ir.Const and arg.value.value is True
        for arg in given
    )


def _full_name(m: Machine, func: Func, node: ir.Expr) -> str:
    """What a decorator is, of a library or of the project."""
    found = parameters.resolve(m, func.scope, node.func if type(node) is ir.Call else node)
    own = f"{found.fn.module.name}.{found.fn.qualname}" if type(found) is Func else ""
    return found.dotted if type(found) is Ext else own


def _named(node: ir.Expr) -> str:
    """The name that a fixture is given beside that of its function."""
    for arg in node.args if type(node) is ir.Call else ():
        if arg.name == "name" and type(arg.value) is ir.Const and isinstance(arg.value.value, str):
            return arg.value.value
    return ""


def _variants(m: Machine, frame: Frame, fixture: Func) -> list[Value]:
    """The values of ``params=[...]``."""
    node = _mark(m, fixture, lexicon().tests.fixtures)
    for arg in node.args if type(node) is ir.Call else ():
        if arg.name == "params":
            return [row[0] for row in _table(m, frame, fixture, arg.value, 1)]
    return []


def _set_up_methods(m: Machine, info: ClassInfo) -> Iterator[tuple[str, Value]]:
    """What runs before each test of a class, in order."""
    for name in lexicon().tests.set_up:
        for cls in mro(info):
            if name in cls.namespace:
                yield name, cls.namespace[name]
                break
    for cls in reversed(mro(info)):
        for name, value in cls.namespace.items():
            node = _mark(m, value, lexicon().tests.fixtures) if type(value) is Func else None
            if type(node) is ir.Call and any(arg.name == "autouse" for arg in node.args):
                yield name, value


def _parametrized(m: Machine, frame: Frame, func: Func) -> list[Row]:
    """The rows of all decorators together: each value of each decorator at least once."""
    tables = [table for node in func.fn.node.decorators if (table := _rows_of(m, frame, func, node))]
    if not tables:
        return []
    longest = max(len(table) for table in tables)
    rows: list[Row] = []
    for i in range(longest):
        row: Row = {}
        for table in tables:
            row.update(table[i % len(table)])
        rows.append(row)
    return rows


def _rows_of(m: Machine, frame: Frame, func: Func, node: ir.Expr) -> list[Row]:
    """The rows that one decorator gives."""
    if type(node) is not ir.Call or any(arg.star for arg in node.args):
        return []
    dotted, tests = _dotted(m, func, node), lexicon().tests
    if dotted in tests.parametrize:
        return _by_names(m, frame, func, node)
    if dotted in tests.rows:
        return _by_place(m, frame, func, node, dotted)
    return _of_columns(m, frame, node) if dotted in tests.products else []


def _by_place(m: Machine, frame: Frame, func: Func, node: ir.Call, dotted: str) -> list[Row]:
    """``parameters((1, 2), (3, 4))``: rows, or one sequence of them; a tuple alone is a row where rows are arguments."""
    names, tests = [p.name for p in func.fn.node.params], lexicon().tests
    values = [evaluator.evaluate(m, frame, arg.value) for arg in node.args]
    alone = (Map, Tup) if dotted in tests.row_alone else (Map,)
    if len(values) == 1 and type(values[0]) not in alone:
        values = iteration.known_items(values[0]) or []
    own = names[1:] if func.owner is not None else names
    return [row for value in values if (row := _row(value, own, dotted in tests.named_rows))]


def _of_columns(m: Machine, frame: Frame, node: ir.Call) -> list[Row]:
    """``product(a=[1, 2], b=[3, 4])``: each value at least once."""
    columns: dict[str, list[Value]] = {}
    for arg in node.args:
        items = iteration.known_items(evaluator.evaluate(m, frame, arg.value))
        if arg.name is not None and items:
            columns[arg.name] = items
    longest = max((len(column) for column in columns.values()), default=0)
    return [{name: c[i % len(c)] for name, c in columns.items()} for i in range(longest)]


def _by_names(m: Machine, frame: Frame, func: Func, node: ir.Call) -> list[Row]:
    """``parametrize("a, b", [(1, 2), (3, 4)])``."""
    given = {arg.name or ("argnames", "argvalues")[min(i, 1)]: arg.value for i, arg in enumerate(node.args)}
    if "argnames" not in given or "argvalues" not in given:
        return []
    named = evaluator.evaluate(m, frame, given["argnames"])
    if type(named) is Py and isinstance(named.const, str):
        names = [name.strip() for name in named.const.split(",") if name.strip()]
    else:
        names = [str(v.const) for v in iteration.known_items(named) or () if type(v) is Py]
    rows = _table(m, frame, func, given["argvalues"], len(names)) if names else []
    return [dict(zip(names, row)) for row in rows if len(row) == len(names)]


def _table(m: Machine, frame: Frame, func: Func, node: ir.Expr, width: int) -> list[list[Value]]:
    """Rows as they are written; ``pytest.param(...)`` is a row with a name."""
    if isinstance(node, (ir.List, ir.Tuple)):
        out: list[list[Value]] = []
        for part in node.elts:
            if type(part) is ir.Call and _dotted(m, func, part) in lexicon().tests.params:
                out.append([evaluator.evaluate(m, frame, a.value) for a in part.args if a.name is None])
            else:
                out.append(_cells(evaluator.evaluate(m, frame, part), width))
        return out
    values = iteration.known_items(evaluator.evaluate(m, frame, node))
    return [_cells(value, width) for value in values or ()]


def _cells(value: Value, width: int) -> list[Value]:
    return [value] if width == 1 else iteration.known_items(value) or []


def _row(value: Value, names: list[str], named: bool) -> Row:
    """A row of absl: a dict by names, a tuple by positions, or the only argument. named: the name of the case comes first."""
    if type(value) is Map:
        return {name: v for name, v in value.entries.items() if isinstance(name, str) and name in names}
    items = iteration.known_items(value)
    if items is None:
        items = [value]
    if named:
        items = items[1:]
    return dict(zip(names, items)) if len(items) == len(names) else {}
