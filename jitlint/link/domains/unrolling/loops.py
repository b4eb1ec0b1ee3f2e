"""Python loops in staged code: JAX copies their bodies into the program, once per turn (layer: ``link``, room ``domains``).

What it does: asks after each loop of staged code how often it turns and whether one turn feeds the next. What it does
not: report loops over layers, dicts or other containers, and small constant counts: unrolling these is what one wants.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import (
    ApiMisuse,
    ArrayStore,
    BadIndex,
    Convert,
    TransformMisuse,
    Truth,
    UnrolledLoop,
)
from jitlint.infer.grounds import SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import Arr, Ext, S, Seq, Tree, Value, alternatives
from jitlint.link.domains.unrolling import defaults, rows
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Condition, Found
from jitlint.link.tables import ir_walk, naming
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import fitting, paths
from jitlint.link.values.questions import counting
from jitlint.syntax import ir
from jitlint.syntax.children import below

LARGE: Final = 50
"""So many turns are no loop over layers."""

_REFUSED: Final = frozenset({Truth, Convert, BadIndex, ArrayStore, ApiMisuse, TransformMisuse})
"""Events of things that fail."""

_COMBINED: Final[dict[str, Callable[[int, int], int]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}

_FORMS: Final = frozenset({"shape", "size", "ndim", "len"})
_BLOCKS: Final = ("body", "orelse", "final")
_DEPTH: Final = 5
_LONG: Final = 64
"""So many elements are a long array."""
_BUILTINS: Final = "builtins."
_GOING_THROUGH: Final = frozenset({"sum", "max", "min", "sorted"})


def goes_through(dotted: str) -> bool:
    """Whether a function is one of Python's that take what they are given element by element."""
    return dotted.startswith(_BUILTINS) and dotted.removeprefix(_BUILTINS) in _GOING_THROUGH


def check_builtin(m: Machine, f: Frame, library: Library) -> None:
    """Record a function of Python's that adds up, or goes through, a long array of JAX's one element at a time."""
    array = library.args.pos[0] if len(library.args.pos) == 1 else None
    size = array.dims[0] if type(array) is Arr and array.dims and not array.host else None
    if type(array) is not Arr or type(size) is not int or size < _LONG or f.module.is_test:
        return
    if array.kind is SEEN and (f.world.here & S or not f.world.level):
        m.emit(f, UnrolledLoop, library.at, None, Confidence.LIKELY, problem=library.dotted, count=str(size))


def check_for(known: rows.Rows, f: Frame, node: ir.For, iterable: Value) -> None:
    """Look at a loop that has been run."""
    m = known.m
    table = m.texts.table(f)
    if leaves_early(node.body) or node.at in table.loops_of_choice() or _is_named_for_it(f):
        return
    if _iterates_array(f, node.iter, iterable):
        if rows.are_few(m, f, node.iter):
            return
        chained = _chain(f, table, node)
        problem = "unrolled" if chained else "iteration"
        when: tuple[Condition, ...] = (Accepted(f, node), *rows.enough(known, f, table, node.iter))
        m.emit(
            f, UnrolledLoop, node.iter.at, _traced(iterable), Confidence.LIKELY, when=when,
            problem=problem, count="array",
        )  # fmt: skip
        return
    turns = _turns(m, f, table, node.iter, iterable)
    if _length_of(f, table, node.iter):  # callers differ in how many there are
        if not _are_few(f, node.iter, turns) and _chain(f, table, node):
            when = (Accepted(f, node), *rows.enough(known, f, table, node.iter))
            m.emit(
                f, UnrolledLoop, node.iter.at, None, Confidence.LIKELY, when=when, problem="unrolled", count="shape"
            )  # fmt: skip
    elif turns is not None and turns.number >= LARGE:
        _large(m, f, table, node, node.iter.at, turns)


def _are_few(f: Frame, over: ir.Node, turns: _Turns | None) -> bool:
    """Whether a loop turns a few times, and goes along what the function has computed: of what it is given, others give more."""
    given = {param.name for param in f.fn.node.params} if f.fn is not None else set()
    own = not any(type(part) is ir.Name and part.id in given for part in below(over))
    return own and turns is not None and turns.number < rows.FEW


def _is_named_for_it(f: Frame) -> bool:
    """Whether a function says by its name that it unrolls: ``unrolled``, ``_rollout_unrolled``."""
    return f.fn is not None and naming.has_word(f.fn.name, lexicon().compilation.unrolling)


def check_while(m: Machine, f: Frame, node: ir.While) -> None:
    """Look at a loop that counts: ``while i < 1000: ...; i += 1``."""
    table = m.texts.table(f)
    test = node.test
    if type(test) is not ir.Compare or len(test.ops) != 1 or test.ops[0] not in ("<", "<=", ">", ">="):
        return
    if type(test.left) is not ir.Name or leaves_early(node.body):
        return
    start, step = _counted(m, f, table.bound.get(test.left.id, []))
    if start is None or not step:
        return
    end = _number(m, f, test.rights[0])
    by_default = end is None
    end = _number(m, f, test.rights[0], by_default)
    if end is not None and abs(end - start) // abs(step) >= LARGE:
        _large(m, f, table, node, test.at, _Turns(abs(end - start) // abs(step), by_default))


def _counted(m: Machine, f: Frame, values: list[ir.Node]) -> tuple[int | None, int | None]:
    """Where a variable begins that is bound to a number and counted on in steps; nothing for any other."""
    starts = [v.value for v in values if type(v) is ir.Const and type(v.value) is int]
    steps = [_number(m, f, v.value) for v in values if type(v) is ir.AugAssign and v.op in ("+", "-")]
    if len(values) == 2 and len(starts) == len(steps) == 1:
        return starts[0], steps[0]
    return None, None


_COMPUTING: Final = (ir.Call, ir.BinOp, ir.UnaryOp, ir.Compare, ir.Sub)


def check_comprehension(known: rows.Rows, f: Frame, node: ir.Comp, iterable: Value) -> None:
    """Look at a comprehension with one ``for``, whose target is bound already."""
    m = known.m
    part = node.fors[0]
    if _iterates_array(f, part.iter, iterable):
        when = rows.enough(known, f, m.texts.table(f), part.iter)
        m.emit(
            f, UnrolledLoop, part.iter.at, _traced(iterable), Confidence.LIKELY, when=when,
            problem="iteration", count="array",
        )  # fmt: skip
        return
    turns = _turns(m, f, m.texts.table(f), part.iter, iterable)
    if turns is None or turns.number < LARGE or not any(type(part) in _COMPUTING for part in below(node.elt)):
        return  # a list of what is there already adds nothing to the program
    if traced_modes(evaluator.evaluate(m, f, node.elt)) & S:
        m.emit(
            f, UnrolledLoop, part.iter.at, None, Confidence.LIKELY, problem="unrolled", count=str(turns.number),
            by_default=turns.by_default,
        )  # fmt: skip


class _Turns(NamedTuple):
    """How often a loop turns. by_default: where nobody asks for another number."""

    number: int
    by_default: bool = False


def _large(m: Machine, f: Frame, table: CodeTable, node: ir.For | ir.While, at: int, turns: _Turns) -> None:
    if naming.is_benchmark(f.module.path):
        return
    chained = _chain(f, table, node)
    if chained or _computes(f, table, node):
        level = None if chained else Confidence.LIKELY
        when = (Accepted(f, node),)
        m.emit(
            f, UnrolledLoop, at, None, level, when=when, problem="unrolled", count=str(turns.number),
            by_default=turns.by_default,
        )  # fmt: skip


def leaves_early(body: Sequence[ir.Node]) -> bool:
    """Whether the last statement of a loop leaves it, so that it turns once."""
    return isinstance(body[-1], (ir.Break, ir.Return, ir.Raise))


class Accepted:
    """JAX refuses nothing in a loop: else there is no program that it makes long."""

    def __init__(self, f: Frame, loop: ir.For | ir.While) -> None:
        self.module = f.module.name
        self.places = {node.at for node in ir_walk.nodes(loop.body)}

    def holds(self, found: Found) -> bool:
        """Whether nothing in the loop is refused."""
        return not any(
            key[0] in _REFUSED
            and key[1] == self.module
            and key[2] in self.places
            and "removed" not in key[3:]
            for key in found
        )


def _traced(value: Value) -> Value | None:
    return next((alt for alt in alternatives(value) if _is_traced_array(alt)), None)


def _is_traced_array(value: Value) -> bool:
    if type(value) is Arr:
        return bool(value.modes & S) and not value.host and value.dtype != "key" and value.rank != 0
    return type(value) is Tree and bool(value.modes & S) and value.evidence == "array"


def _iterates_array(f: Frame, node: ir.Node | None, iterable: Value) -> bool:
    """Whether the turns go through the rows of traced arrays, directly or by ``enumerate`` and the like."""
    name = _builtin(f, node.func) if type(node) is ir.Call and type(node.func) is ir.Name else ""
    if type(node) is ir.Call and name in ("enumerate", "reversed", "zip"):
        return _wraps_array(f, [arg.value for arg in node.args[: None if name == "zip" else 1]])
    if type(node) is ir.Call and type(node.func) is ir.Attr and node.func.name == "split":
        return False  # keys, or as many parts as are asked for
    if _counts(f, node):
        return False  # as many turns as somebody wrote down, like a `range`
    return all(_is_traced_array(alt) for alt in alternatives(iterable))


def _builtin(f: Frame, node: ir.Name) -> str:
    value = scopes.lookup(f, node.id)
    return (
        value.dotted.rpartition(".")[2] if type(value) is Ext and value.dotted.startswith("builtins.") else ""
    )


def _value(f: Frame, node: ir.Node | None) -> Value | None:
    return scopes.lookup(f, node.id) if type(node) is ir.Name else None


def _wraps_array(f: Frame, nodes: Sequence[ir.Expr]) -> bool:
    """Whether what goes through these side by side goes through the rows of traced arrays."""
    found = any(part is not None and _is_traced_array(part) for part in (_value(f, node) for node in nodes))
    return found and not any(_is_list(f, node) for node in nodes)


def _is_list(f: Frame, node: ir.Node) -> bool:
    """Whether what an array is zipped with ends the loop: a list, of layers perhaps, or what may be one."""
    while type(node) is ir.Sub:
        node = node.obj
    return type(node) in (ir.Name, ir.Attr) and type(_value(f, node)) not in (Arr, Tree)


def _turns(m: Machine, f: Frame, table: CodeTable, node: ir.Node | None, iterable: Value) -> _Turns | None:
    """The number of turns when it is a known number, or what it is by default."""
    if type(iterable) is Seq and iterable.items is not None:
        return _Turns(len(iterable.items) if iterable.kind == "range" else 0)
    if type(node) is not ir.Call:
        return None
    computed = counting.turns(iterable) if type(iterable) is Seq and _is_computed(node) else None
    if computed is not None:
        return _Turns(computed)
    name = _builtin(f, node.func) if type(node.func) is ir.Name else ""
    if name in ("enumerate", "reversed") and node.args:
        return _turns(m, f, table, node.args[0].value, iterable)
    for by_default in (False, True) if _counts(f, node) else ():
        count = _range_length([_number(m, f, arg.value, by_default) for arg in node.args])
        if count is not None:
            return _Turns(count, by_default)
    return None


def _is_computed(node: ir.Call) -> bool:
    """Whether a call or a property gives the bounds of a range, and not the form of an array."""
    given = [arg.value for arg in node.args]
    parts = [part for value in given for part in below(value)]
    called = any(isinstance(value, (ir.Attr, ir.Call)) for value in given)
    return called and not any(ir_walk.last_name(part) in _FORMS for part in parts)


def _counts(f: Frame, node: ir.Node | None) -> bool:
    """Whether an iterable is written as numbers that follow each other: `range(n)`, `jnp.arange(n)`."""
    if type(node) is not ir.Call:
        return False
    func = node.func
    return (
        _builtin(f, func) == "range"
        if type(func) is ir.Name
        else type(func) is ir.Attr and func.name == "arange"
    )


def _range_length(bounds: list[int | None]) -> int | None:
    known = [b for b in bounds if b is not None]
    if not 1 <= len(known) == len(bounds) <= 3 or (len(known) == 3 and known[2] == 0):
        return None
    return len(range(*known))


def _number(m: Machine, f: Frame, node: ir.Node | None, by_default: bool = False) -> int | None:
    """The integer that a simple expression is in this very call. by_default: or where nobody asks for another one."""
    if type(node) is ir.Const:
        return node.value if type(node.value) is int else None
    if isinstance(node, (ir.Name, ir.Attr)):
        known = fitting.int_of(paths.peek(m, f, node))
        return defaults.by_default(m, f, node) if known is None and by_default else known
    if type(node) is ir.UnaryOp:
        inner = _number(m, f, node.operand, by_default)
        return None if inner is None or node.op != "-" else -inner
    combine = _COMBINED.get(node.op) if type(node) is ir.BinOp else None
    if type(node) is not ir.BinOp or combine is None:
        return None
    left, right = (_number(m, f, side, by_default) for side in (node.left, node.right))
    return None if left is None or right is None else combine(left, right)


def _length_of(f: Frame, table: CodeTable, node: ir.Node | None) -> bool:
    """Whether an iterable is a range over a dimension of an array."""
    if type(node) is not ir.Call:
        return False
    if type(node.func) is ir.Name and _builtin(f, node.func) == "reversed" and node.args:
        return _length_of(f, table, node.args[0].value)
    if not _counts(f, node) or (len(node.args) > 2 and not _is_one(node.args[2].value)):
        return (
            False  # a turn for each block of indices: who cuts an array into blocks knows how many there are
        )
    return any(_dimension(f, table, arg.value, _DEPTH) for arg in node.args[:2])


def _is_one(node: ir.Node) -> bool:
    """Whether a step goes to the next number, or the one before."""
    if type(node) is ir.UnaryOp and node.op == "-":
        node = node.operand
    return type(node) is ir.Const and node.value == 1


def _dimension(f: Frame, table: CodeTable, node: ir.Node | None, depth: int) -> bool:
    if depth == 0:
        return False
    if type(node) is ir.Sub:
        return _is_shape(f, node.obj) and _leading(node.index)
    if type(node) is ir.Attr:
        return node.name == "size" and _array(f, node.obj)
    if type(node) is ir.Call and type(node.func) is ir.Name and node.args:
        return _builtin(f, node.func) == "len" and _array(f, node.args[0].value)
    if type(node) is ir.BinOp and node.op in ("+", "-", "*"):
        return _dimension(f, table, node.left, depth - 1) or _dimension(f, table, node.right, depth - 1)
    if type(node) is ir.Name:
        return _named_dimension(f, table, node.id, depth)
    return False


def _named_dimension(f: Frame, table: CodeTable, name: str, depth: int) -> bool:
    values = table.bound.get(name, [])
    if len(values) != 1:
        return False
    if values[0] is not None:
        return _dimension(f, table, values[0], depth - 1)
    source, place = table.unpacked.get(name, (None, 0))
    return place == 0 and _is_shape(f, source)


def _is_shape(f: Frame, node: ir.Node | None) -> bool:
    return type(node) is ir.Attr and node.name == "shape" and _array(f, node.obj)


def _leading(index: ir.Node | None) -> bool:
    """The first axis counts samples or steps; the last ones are often small and fixed, as colours or coordinates."""
    return type(index) is ir.Const and index.value in (0, 1)


def _array(f: Frame, node: ir.Node | None) -> bool:
    value = _value(f, node)
    return value is not None and all(_is_traced_array(alt) for alt in alternatives(value))


def _chain(f: Frame, table: CodeTable, loop: ir.For | ir.While) -> bool:
    """Whether a traced value of one turn feeds the next turn."""
    needs: dict[str, set[str]] = {}
    early: set[str] = set()
    _flow(table, loop.body, needs, set(), early)
    for name in early & set(needs):
        value = f.scope.vars.get(name)
        if value is not None and traced_modes(value) & S and name in _reachable(name, needs):
            return True
    return False


def _reachable(name: str, needs: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = list(needs.get(name, ()))
    while todo:
        part = todo.pop()
        if part not in found:
            found.add(part)
            todo.extend(needs.get(part, ()))
    return found


def _flow(
    table: CodeTable, block: Sequence[ir.Node], needs: dict[str, set[str]], written: set[str], early: set[str]
) -> None:
    """What each name is made of in a loop's body, and which names are read before they are written."""
    for node in block:
        if isinstance(node, (ir.FuncDef, ir.ClassDef)):
            continue
        if isinstance(node, (ir.Assign, ir.AugAssign, ir.AnnAssign)) and node.value is not None:
            read = set(table.mentions(node.value))
            targets = node.targets if isinstance(node, ir.Assign) else [node.target]
            made = {name for target in targets for name in _targets(target)}
            if type(node) is ir.AugAssign:
                read |= made
            early |= read - written
            for name in made:
                needs.setdefault(name, set()).update(read)
            written |= made
        elif isinstance(node, (ir.ExprStmt, ir.Return)) and node.value is not None:
            early |= set(table.mentions(node.value)) - written
        for name in _BLOCKS:
            inner = getattr(node, name, None)
            if inner:
                _flow(table, inner, needs, written, early)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            _flow(table, part.body, needs, written, early)


def _targets(target: ir.Node | None) -> set[str]:
    if type(target) is ir.Name:
        return {target.id}
    if isinstance(target, (ir.Tuple, ir.List)):
        return {name for part in target.elts for name in _targets(part)}
    return set()


def _computes(f: Frame, table: CodeTable, loop: ir.For | ir.While) -> bool:
    """Whether the turns make traced values at all, by more than picking them."""
    needs: dict[str, set[str]] = {}
    _flow(table, loop.body, needs, set(), set())
    for name in needs:
        value = f.scope.vars.get(name)
        values = table.bound.get(name, ())
        made = any(isinstance(v, (ir.Call, ir.BinOp, ir.AugAssign)) for v in values)
        if made and value is not None and traced_modes(value) & S:
            return True
    return False
