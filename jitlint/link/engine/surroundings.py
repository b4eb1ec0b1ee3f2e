"""Where a statement stands: the blocks around it, as the source has them (layer: ``link``, room ``engine``).

Asked only when something is about to be recorded, so the table of a function is made on first use.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Final, Optional

import msgspec

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import last_name, nodes
from jitlint.syntax import ir
from jitlint.syntax.children import below

_BLOCKS: Final = ("body", "orelse", "final")
CHECKS: Final = 2
"""So many assertions are what code is there for."""
_ASSERTS: Final = re.compile(r"assert(_|[A-Z]|$)")
"""How functions that assert something are called; a module of them is not."""

Around = tuple[tuple[Optional[ir.Node], Sequence[ir.Node]], ...]
"""The compound statements around a statement with the block of each that holds it, outermost first."""


class Table:
    """The statements of one function or module body: what is around each, by origin."""

    def __init__(self, body: Sequence[ir.Node]) -> None:
        self.around: dict[int, Around] = {}
        self.returned: list[ir.Expr] = []
        self.names: frozenset[str] | None = None
        self._add(body, (), None)

    def _add(self, block: Sequence[ir.Node], outer: Around, owner: ir.Node | None) -> None:
        here: Around = (*outer, (owner, block))
        for node in block:
            self.around[node.at] = here
            if type(node) is ir.Return and node.value is not None:
                self.returned.append(node.value)
            for inner in blocks(node):
                self._add(inner, here, node)


def blocks(node: ir.Node | None) -> Iterator[Sequence[ir.Node]]:
    """The blocks of a compound statement that run with it; those of classes and functions do not count."""
    if isinstance(node, (ir.FuncDef, ir.ClassDef)):
        return
    for name in _BLOCKS:
        block = getattr(node, name, None)
        if block:
            yield block
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def around(f: Frame) -> Around:
    """What is around the statement that runs in a frame; empty when it is not known."""
    return around_of(f.fn, f.at) if f.fn is not None else ()


def around_of(fn: FuncInfo, statement: int) -> Around:
    """What is around a statement of a function."""
    if fn.surroundings is None:
        fn.surroundings = Table(fn.body)
    table: Table = fn.surroundings
    return table.around.get(statement, ())


def leads_to_raise(f: Frame) -> bool:
    """Whether the block of the current statement ends by raising: then the trace ends with it."""
    found = around(f)
    return bool(found) and type(found[-1][1][-1]) is ir.Raise


def asks_for_tracers(f: Frame) -> bool:
    """Whether a condition around asks if something is being traced: who asks knows what tracing means."""
    return any(isinstance(node, (ir.If, ir.While)) and mentions_tracing(node.test) for node, _ in around(f))


def runs_first(f: Frame) -> bool:
    """Whether the code runs only while a module is initialised."""
    names = lexicon().evidence.first_runs
    return any(
        type(node) is ir.If
        and block is node.body
        and type(node.test) is ir.Call
        and _name(node.test.func) in names
        for node, block in around(f)
    )


def asks_for_shapes(f: Frame) -> bool:
    """Whether a condition around asks for a shape: only some of what comes here gets on from there."""
    tests = (node.test for node, _ in around(f) if isinstance(node, (ir.If, ir.While)))
    return any(_name(part) in ("shape", "ndim", "size") for test in tests for part in expressions(test))


def fills(f: Frame, name: str) -> bool:
    """Whether the statement fills what is missing yet: under a condition that asks for absence or looks at the place
    itself, or in the handler of a failed look-up."""
    for node, block in around(f):
        if type(node) is ir.If and (_is_absence(node.test) or (name and _mentions(node.test, name))):
            return True
        if type(node) is ir.Try and any(h.body is block and _is_lookup(h) for h in node.handlers):
            return True
    return False


def undone(f: Frame, name: str) -> bool:
    """Whether the change is taken back, or takes one back: in a context manager or before a ``finally``."""
    function = f.fn.node if f.fn is not None else None
    if function is not None and (function.name in ("__enter__", "__exit__") or _manages(function)):
        return True
    for owner, block in around(f):
        if type(owner) is ir.With and any(_mentions(item.value, "lock") for item in owner.items):
            return True
        if any(_puts_back(part, block, name) for part in (owner, *block) if type(part) is ir.Try):
            return True
    return _is_taken_off(f) or _is_used_up(f)


def _is_used_up(f: Frame) -> bool:
    """Whether a loop around runs until nothing is left in what is changed."""
    path = _path(_changed(f))
    loops = [owner for owner, _ in around(f) if type(owner) is ir.While]
    return bool(path) and any(_asks_for_rest(loop.test, path) for loop in loops)


def _is_taken_off(f: Frame) -> bool:
    """Whether something is put onto a stack, or into what lies there, and the block takes it off later: ``stack.append(x)``,
    ``stack.pop()``."""
    changed, found = _changed(f), around(f)
    path = _path(changed)
    if not path or (type(_statement(f)) is not ir.ExprStmt and type(changed) is not ir.Sub):
        return False
    later = (node for node in found[-1][1] if node.at > f.at and isinstance(node, (ir.ExprStmt, ir.Assign)))
    takes = [node.func for node in below(list(later)) if type(node) is ir.Call]
    stacks = {_path(func.obj) for func in takes if type(func) is ir.Attr and func.name == "pop"} - {""}
    return any(path == stack or path.startswith((f"{stack}.", f"{stack}[")) for stack in stacks)


def _asks_for_rest(test: ir.Expr, path: str) -> bool:
    """``while stack``, ``while len(stack) > 0``."""
    if type(test) is ir.Compare and test.ops in ([">"], ["!="]):
        none = type(test.rights[0]) is ir.Const and test.rights[0].value == 0
        call = test.left if none else None
        asked = (
            call.args[0].value if type(call) is ir.Call and _name(call.func) == "len" and call.args else None
        )
        return _path(asked) == path
    return _path(test) == path


def makes_room(f: Frame) -> bool:
    """Whether the statement runs where a container has more than so many elements: ``if len(table) > 8: table.popitem(last=False)``.
    What was put there last stays."""
    found = around(f)
    test = found[-1][0].test if found and isinstance(found[-1][0], (ir.If, ir.While)) else None
    if type(test) is not ir.Compare or test.ops not in ([">"], [">="]):
        return False
    most = test.rights[0]
    return _name(test.left.func if type(test.left) is ir.Call else None) == "len" and not (
        type(most) is ir.Const and most.value in (0, 1)
    )


def _puts_back(node: ir.Try, block: Sequence[ir.Node], name: str) -> bool:
    """Whether a ``finally`` changes the name again, or is the block itself."""
    return bool(node.final) and (block is node.final or any(_mentions(part, name) for part in node.final))


def restores(f: Frame) -> bool:
    """Whether what the current statement does is taken back whole: a ``finally`` around hands back what was read before.

    ``before = state.values()``, and in the end ``state.assign(before)``: a call of something that also gave the values.
    """
    found = around(f)
    for i, (owner, _) in enumerate(found):
        if type(owner) is ir.Try and owner.final:
            earlier = [node for _, block in found[: i + 1] for node in block if type(node) is ir.Assign]
            if any(_hands_back(call, earlier) for call in _calls(owner.final)):
                return True
    return False


def _calls(block: Sequence[ir.Node]) -> list[ir.Call]:
    return [n.value for n in block if type(n) is ir.ExprStmt and type(n.value) is ir.Call]


def _hands_back(call: ir.Call, earlier: Sequence[ir.Assign]) -> bool:
    """Whether a call is given a variable that was made of what it speaks of itself: its receiver, or an argument."""
    names = {arg.value.id for arg in call.args if type(arg.value) is ir.Name}
    receiver = call.func.obj if type(call.func) is ir.Attr else None
    about = {_path(node) for node in (receiver, *[arg.value for arg in call.args])} - {""}
    for node in earlier:
        kept = {target.id for target in node.targets if type(target) is ir.Name} & names
        if kept and (about - kept) & {_path(part) for part in expressions(node.value)}:
            return True
    return False


def _manages(node: ir.Function) -> bool:
    return node.is_generator and any(_mentions(d, "contextmanager") for d in node.decorators)


def _is_lookup(handler: ir.Handler) -> bool:
    return any(
        _name(part) in ("KeyError", "AttributeError", "IndexError") for part in expressions(handler.type)
    )


def _mentions(node: ir.Node | None, name: str) -> bool:
    return any(name in _name(part).lower() for part in expressions(node)) if name else False


def derived(f: Frame) -> bool:
    """Whether the current statement counts on from the old value (``n += 1``, ``n = n + 1``)."""
    node = _statement(f)
    if type(node) is ir.AugAssign:
        return True
    paths = _assigned(node)
    operands = [side for part in _values(node) if type(part) is ir.BinOp for side in (part.left, part.right)]
    return any(_path(side) in paths for side in operands)


def normalises(f: Frame) -> bool:
    """Whether the current statement puts the old value into another form: doing it again would change nothing."""
    node = _statement(f)
    paths = _assigned(node)
    return any(_path(part) in paths for part in _values(node))


def _values(node: ir.Node | None) -> Iterator[ir.Node]:
    return expressions(node.value) if type(node) is ir.Assign else iter(())


def _assigned(node: ir.Node | None) -> set[str]:
    """What an assignment binds, by its path in the source."""
    found: set[str] = set()
    for target in node.targets if type(node) is ir.Assign else ():
        parts = target.elts if isinstance(target, (ir.Tuple, ir.List)) else [target]
        found |= {_path(part) for part in parts}
    return found - {""}


def _path(node: ir.Node | None) -> str:
    """What a name, attribute or element is called in the source; "" when it is something else."""
    if type(node) is ir.Name:
        return str(node.id)
    if type(node) is ir.Attr:
        base = _path(node.obj)
        return f"{base}.{node.name}" if base else ""
    if type(node) is ir.Sub:
        base = _path(node.obj)
        key = node.index.value if type(node.index) is ir.Const else _path(node.index)
        return f"{base}[{key!r}]" if base else ""
    return ""


def changes_receiver(f: Frame) -> bool:
    """Whether the current statement changes the function's own ``self`` or something in it."""
    target = _changed(f)
    while type(target) is ir.Sub or type(target) is ir.Attr:
        target = target.obj
    params = f.fn.node.params if f.fn is not None else []
    return type(target) is ir.Name and bool(params) and target.id == params[0].name == "self"


def changes_older(f: Frame) -> bool:
    """Whether the current statement changes what a name of an outer scope stands for, or the function's own object or class."""
    target = _changed(f)
    while type(target) is ir.Sub or type(target) is ir.Attr:
        target = target.obj
    if f.fn is None or type(target) is not ir.Name:
        return False
    params = f.fn.node.params
    own = bool(params) and target.id == params[0].name and target.id in ("self", "cls")
    return own or target.id not in f.scope.vars


def changed_name(f: Frame) -> str:
    """The last name of what the current statement changes: ``cache`` of ``self.cache[k] = v``, and of ``cache.setdefault(k, []).append(v)``."""
    target = _changed(f)
    while (within := _element_of(target)) is not None:
        target = within
    return _name(target)


def _element_of(node: ir.Node | None) -> ir.Node | None:
    """What an expression is an element of: ``cache[k]``, ``cache.setdefault(k, [])``."""
    if type(node) is ir.Sub:
        return node.obj
    func = node.func if type(node) is ir.Call else None
    return func.obj if type(func) is ir.Attr and func.name in ("get", "setdefault") else None


def _changed(f: Frame) -> ir.Node | None:
    """The expression for what the current statement changes."""
    node = _statement(f)
    target: ir.Node | None = None
    if type(node) is ir.Assign or type(node) is ir.Del:
        target = node.targets[0]
    elif type(node) is ir.AugAssign:
        target = node.target
    elif type(node) is ir.ExprStmt and type(node.value) is ir.Call and type(node.value.func) is ir.Attr:
        target = node.value.func.obj
    return target


def goes_on_rebinding(f: Frame) -> bool:
    """Whether the statement before binds another name of an outer scope."""
    node, found = _statement(f), around(f)
    block = found[-1][1] if found else ()
    before = next((one for one, after in itertools.pairwise(block) if after is node), None)
    return (
        type(before) is ir.Assign
        and type(before.targets[0]) is ir.Name
        and f.fn is not None
        and before.targets[0].id not in f.fn.node.local_names
    )


def names_read(fn: FuncInfo) -> frozenset[str]:
    """The names that a function mentions; of those that inner functions mention, the ones that they do not bind."""
    if fn.surroundings is None:
        fn.surroundings = Table(fn.body)
    table: Table = fn.surroundings
    if table.names is None:
        found: set[str] = set()
        for part in nodes(fn.body):
            if type(part) is ir.Name:
                found.add(part.id)
            elif type(part) is ir.FuncDef or type(part) is ir.Lambda:
                inner = fn.module.functions[part.function]
                found |= names_read(inner).difference(inner.node.local_names)
        table.names = frozenset(found)
    return table.names


def returns_whole(fn: FuncInfo, name: str) -> bool:
    """Whether a function gives back a variable as a whole, or something made of all of it."""
    if fn.surroundings is None:
        fn.surroundings = Table(fn.body)
    table: Table = fn.surroundings
    return any(_whole(value, name) for value in table.returned)


def _whole(node: ir.Node | None, name: str) -> bool:
    if type(node) is ir.Name:
        return bool(node.id == name)
    if type(node) is ir.Attr:
        return node.name in ("items", "values", "copy") and _whole(node.obj, name)
    if type(node) is ir.Sub:
        return False
    parts = [getattr(node, field) for field in getattr(node, "__struct_fields__", ())]
    flat = [part for group in parts for part in (group if isinstance(group, list) else [group])]
    return any(_whole(part, name) for part in flat if hasattr(part, "__struct_fields__"))


def statement(f: Frame) -> ir.Node | None:
    """The statement that runs in a frame, of a function or a module; None when it is not known."""
    if f.fn is None:
        found = Table(f.module.tree.body).around.get(f.at, ())
    else:
        found = around(f)
    return next((node for node in found[-1][1] if node.at == f.at), None) if found else None


def bound_pair(f: Frame, at: int | None = None) -> tuple[ir.Tuple, ir.Call] | None:
    """The two names that the current statement binds to the results of a call, and the call. at: of the call, if that is asked."""
    node = statement(f)
    if type(node) is not ir.Assign or type(node.value) is not ir.Call or at not in (None, node.value.at):
        return None
    target = node.targets[0] if len(node.targets) == 1 else None
    return (target, node.value) if type(target) is ir.Tuple and len(target.elts) == 2 else None


def is_thrown_away(f: Frame, at: int) -> bool:
    """Whether the current statement throws the result of a call away, waited for or not."""
    stands = statement(f)
    node: ir.Node | None = None
    if type(stands) is ir.ExprStmt or (type(stands) is ir.Assign and _names_nothing(stands)):
        node = stands.value
    if type(node) is ir.Call and type(node.func) is ir.Attr and node.func.name == "block_until_ready":
        node = node.args[0].value if node.args else node.func.obj
    return type(node) is ir.Call and node.at == at


def _names_nothing(node: ir.Assign) -> bool:
    """Whether all names that an assignment binds are underscores."""
    return all(
        type(n) in (ir.Tuple, ir.List) or _name(n) == "_" for t in node.targets for n in expressions(t)
    )


def _statement(f: Frame) -> ir.Node | None:
    found = around(f)
    return next((node for node in found[-1][1] if node.at == f.at), None) if found else None


def mentions_tracing(node: ir.Node | None) -> bool:
    """Whether an expression speaks of tracers by name."""
    return speak_of_tracing(below(node))


def speak_of_tracing(parts: Sequence[ir.Node]) -> bool:
    """Whether some of these name tracers."""
    words = lexicon().evidence.tracer_words
    for part in parts:
        kind = type(part)
        if (kind is ir.Name or kind is ir.Attr) and _name(part).endswith(words):
            return True
    return False


def _is_absence(node: ir.Node | None) -> bool:
    if type(node) is ir.BoolOp:
        return _is_absence(node.left) or _is_absence(node.right)
    if type(node) is ir.UnaryOp and node.op == "not":
        return True
    if type(node) is not ir.Compare:
        return False
    none = [type(right) is ir.Const and right.kind == "none" for right in node.rights]
    return any(op == "not in" or (op == "is" and is_none) for op, is_none in zip(node.ops, none))


def _name(node: ir.Node | None) -> str:
    if type(node) is ir.Attr:
        return str(node.name)
    return str(node.id) if type(node) is ir.Name else ""


def expressions(node: msgspec.Struct | Sequence[msgspec.Struct] | None) -> Iterator[ir.Node]:
    """An expression and everything inside it, except bodies of lambdas."""
    if isinstance(node, ir.Node):
        yield node
    if isinstance(node, list):
        for part in node:
            yield from expressions(part)
    elif isinstance(node, msgspec.Struct):
        for name in node.__struct_fields__:
            part = getattr(node, name)
            if part is not None and not isinstance(part, (str, int, float)):
                yield from expressions(part)


def mentions_assertion(node: ir.Node) -> bool:
    """Whether a statement asserts something, or a name is that of a function that does: ``np.testing.assert_allclose``."""
    return type(node) is ir.Assert or (
        isinstance(node, (ir.Name, ir.Attr)) and _ASSERTS.match(last_name(node)) is not None
    )


def only_checks(fn: FuncInfo | None) -> bool:
    """Whether a function ends by asserting, and gives nothing: it is a test, though its file is not called one."""
    if fn is None or any(type(part) is ir.Return and part.value is not None for part in fn.parts):
        return False
    last: ir.Node | None = fn.body[-1] if fn.body else None
    while isinstance(last, (ir.For, ir.With)):
        last = last.body[-1]
    ends = last is not None and any(map(mentions_assertion, [last, *below(last)]))
    return ends and sum(map(mentions_assertion, fn.parts)) >= CHECKS
