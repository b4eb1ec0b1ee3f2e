"""What the text around a write says about its purpose (layer: ``link``, room ``domains``).

A cache that is filled when it is first needed, a value that is set for a while and put back, a registry: such writes
do not make compiled code stale. Asked only of writes that would be reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.captures.log import Call, Load, Write
from jitlint.link.engine.lazily import filling, mentions
from jitlint.link.engine.surroundings import Around, around_of
from jitlint.link.tables.ir_walk import bound_by, last_name, nodes
from jitlint.link.tables.storing import pairs
from jitlint.syntax import ir

GLOBAL: Final = "global"
LOCAL: Final = "local"
PARAMETER: Final = "parameter"

_PROGRAMS: Final = ("compil", "jit")
"""Words in the names of attributes that hold compiled programs, or say whether there are some."""

_DISPLAYS: Final = frozenset({ir.List, ir.Dict, ir.Set, ir.Comp})


def harmless(write: Write) -> bool:
    """Whether the write fills a cache on first use, or belongs to something that puts the old value back."""
    fn = write.fn
    if fn is None:
        return False
    if fn.node.is_generator or _of_context_manager(fn) or _compiles_anew(fn, write):
        return True
    found = around_of(fn, write.statement)
    path = _written_path(found, write)
    if not path:
        return False
    lazy = filling(found, write.statement, path, assigned_in(fn.body)) is not None
    return lazy or _is_restored(fn, path[-1]) or _repeats(fn, found, write)


def _compiles_anew(fn: FuncInfo, write: Write) -> bool:
    """Whether a function throws compiled programs away after the write, ``step.clear_cache()``, or says that they hold no longer."""
    calls = (node for node in fn.parts if type(node) is ir.Call and node.at > write.at)
    return any(last_name(call.func) in ("clear_cache", "clear_caches") for call in calls) or _marks(fn)


def _marks(fn: FuncInfo) -> bool:
    """Whether a function says that what was compiled holds no longer: ``self._compiled = False``."""
    for node in fn.parts:
        if type(node) is not ir.Assign or type(node.value) is not ir.Const or node.value.value:
            continue
        names = [target.name.lower() for target in node.targets if type(target) is ir.Attr]
        if any(word in name for name in names for word in _PROGRAMS):
            return True
    return False


def root_of(write: Write) -> str:
    """What variable leads to the container that is written, or to one that holds it: GLOBAL, LOCAL, PARAMETER; "" when it
    is no variable."""
    fn = write.fn
    path = _written_path(around_of(fn, write.statement), write, through=True) if fn is not None else ()
    if fn is None or len(path) != 1:
        return ""
    if any(param.name == path[0] for param in fn.node.params):
        return PARAMETER
    return LOCAL if path[0] in fn.node.local_names else GLOBAL


def is_made_here(write: Write) -> bool:
    """Whether the container that is written is one that the function that does so has made, in the same call."""
    if write.fn is None or root_of(write) != LOCAL:
        return False
    name = _written_path(around_of(write.fn, write.statement), write, through=True)[0]
    bindings = [node for node in write.fn.parts if isinstance(node, (ir.Assign, ir.AnnAssign))]
    values = [node.value for node in bindings if node.value is not None and name in bound_by(node)]
    return bool(values) and all(type(value) in _DISPLAYS for value in values)


def constructs(write: Write) -> bool:
    """Whether the write is to an object that is being made, by its constructor: another one than what was read before."""
    fn = write.fn
    if fn is None or not fn.node.params or fn.name not in lexicon().captures.first_methods:
        return False
    path = _written_path(around_of(fn, write.statement), write)
    return len(path) > 1 and path[0] == fn.first


def only_checked(load: Load) -> bool:
    """Whether the value that is read decides nothing but an assertion, or what to do about an exception."""
    if load.fn is None:
        return False
    found = around_of(load.fn, load.statement)
    if any(
        type(owner) is ir.Try and block not in (owner.body, owner.orelse, owner.final)
        for owner, block in found
    ):
        return True
    statement = _statement(found, load)
    if type(statement) is ir.ExprStmt and type(statement.value) is ir.Call:
        return last_name(statement.value.func).startswith("assert")
    return type(statement) is ir.Assert


def only_settings(load: Load) -> bool:
    """Whether only settings of an object are read."""
    words = lexicon().captures.settings
    parts = load.fn.parts if load.fn is not None else []
    whole = [node for node in parts if type(node) is ir.Attr and node.name in words]
    return any(part.at == load.at and part is not node for node in whole for part in nodes([node]))


def succeeds(write: Write) -> bool:
    """Whether a successor that is made of an object takes its place, which has the same settings."""
    found = around_of(write.fn, write.statement) if write.fn is not None else ()
    path, statement = _written_path(found, write), _statement(found, write)
    call = statement.value if type(statement) is ir.Assign else None
    given = [arg.value for arg in call.args] if type(call) is ir.Call else []
    return len(path) > 1 and any(last_name(node) == path[-1] for node in given)


def exclusive(first: Call | Write, second: Call | Write) -> bool:
    """Whether one run of a function that does the first thing cannot do the second one later."""
    if first.fn is None or first.fn is not second.fn:
        return False
    left, right = around_of(first.fn, first.statement), around_of(first.fn, second.statement)
    looped = False
    for (_, one), (owner, other) in zip(left, right):
        if one is not other:
            if type(owner) is ir.If and not looped:
                return True
            break
        looped = looped or isinstance(owner, (ir.For, ir.While))
    mine = [block for _, block in left if not any(block is other for _, other in right)]
    return any(isinstance(block[-1], (ir.Return, ir.Raise)) for block in mine)


def _repeats(fn: FuncInfo, around: Around, write: Write) -> bool:
    """Whether the write only does once more, word for word, what was done before: a call without arguments.

    Nothing says that such a call gives another value the second time.
    """
    statement = _statement(around, write)
    if write.kind != "name" or type(statement) is not ir.Assign:
        return False
    call = statement.value
    if type(call) is not ir.Call or call.args or type(call.func) is not ir.Name:
        return False
    others = [
        node
        for node in nodes(fn.body)
        if type(node) is ir.Assign
        and node is not statement
        and any(mentions(target, str(write.key)) for target in node.targets)
    ]
    if not others:
        return write.key in fn.node.local_names  # in a loop
    return any(_calls_the_same(node.value, call) for node in others)


def renews(write: Write, in_one_call: bool = False) -> bool:
    """Whether each run of a write may bring another value: it changes the place itself, or depends on what its function
    is given or on the turn of a loop. What else a call gives, it may give again. in_one_call: of its function."""
    fn = write.fn
    around = around_of(fn, write.statement) if fn is not None else ()
    statement = _statement(around, write)
    if fn is None or write.value is None or type(statement) is not ir.Assign:
        return True
    path = _written_path(around, write)
    given = set() if in_one_call else {param.name for param in fn.node.params}.difference(path[:1])
    given.update(n.id for o, _ in around if type(o) is ir.For for n in nodes(o.target) if type(n) is ir.Name)
    return depends(statement.value, given, path, assigned_in(fn.body))


def assigned_in(code: Sequence[ir.Node]) -> dict[str, list[ir.Node]]:
    """What is assigned to each name."""
    found: defaultdict[str, list[ir.Node]] = defaultdict(list)
    for target, value in (pair for node in nodes(code) for pair in pairs(node)):
        for part in nodes(target):
            if type(part) is ir.Name:
                found[part.id].append(value)
    return found


def depends(
    value: ir.Node, given: set[str], place: tuple[str, ...], assigned: dict[str, list[ir.Node]]
) -> bool:
    """Whether an expression mentions one of the names that are given, or the place itself, perhaps through variables. place: the
    names that lead there; an attribute is no variable of the same name."""
    kind = ir.Attr if len(place) > 1 else ir.Name
    todo = [value]
    while todo:
        for node in nodes(todo.pop()):
            itself = type(node) is kind and last_name(node) in place[-1:]
            if itself or (type(node) is ir.Name and node.id in given):
                return True
            if type(node) is ir.Name:
                todo += assigned.pop(node.id, ())
    return False


def _calls_the_same(value: ir.Node | None, call: ir.Call) -> bool:
    func = call.func
    if type(value) is not ir.Call or value.args or type(value.func) is not ir.Name:
        return False
    return type(func) is ir.Name and value.func.id == func.id


def _statement(around: Around, place: Load | Write) -> ir.Node | None:
    return next((node for node in around[-1][1] if node.at == place.statement), None) if around else None


def _written_path(around: Around, write: Write, through: bool = False) -> tuple[str, ...]:
    """The names that lead to the written variable, or to the container of a written element; () when not known.

    through: whether they may lead to a container around it.
    """
    if write.kind == "name":
        return (str(write.key),)
    statement = _statement(around, write)
    for node in nodes(statement) if statement is not None else ():
        if node.at == write.at:
            owner = _container(node) if write.kind in ("elem", "buffer") else node
            while through and type(owner) is ir.Sub:
                owner = owner.obj
            path = _path(owner)
            if path:
                return path
    return (str(write.key),) if write.kind in ("attr", "class") else ()


def _container(node: ir.Node | None) -> ir.Node | None:
    if type(node) is ir.Call:
        return node.func.obj if type(node.func) is ir.Attr else (node.args[0].value if node.args else None)
    if type(node) is ir.Sub:
        return node.obj
    return node.target if type(node) is ir.AugAssign else node


def _path(node: ir.Node | None) -> tuple[str, ...]:
    if type(node) is ir.Attr:
        return (*_path(node.obj), node.name)
    return (node.id,) if type(node) is ir.Name else ()


def _of_context_manager(fn: FuncInfo) -> bool:
    """Whether the function is a method of a class whose instances put things back when they are left."""
    owner = fn.qualname.rpartition(".")[0]
    return bool(owner) and any(f.qualname == f"{owner}.__exit__" for f in fn.module.functions)


def _is_restored(fn: FuncInfo, name: str) -> bool:
    """Whether the function puts back what it found: in a ``finally``, or from a variable that kept it."""
    kept: set[str] = set()
    for node in nodes(fn.body):
        if type(node) is ir.Try and any(last_name(t) == name for t in _targets(node.final)):
            return True
        for target, value in pairs(node):
            if last_name(value) == name and type(target) is ir.Name:
                kept.add(target.id)
            elif last_name(target) == name and type(value) is ir.Name and value.id in kept:
                return True
    return False


def _targets(block: Sequence[ir.Node]) -> Iterator[ir.Node]:
    for node in nodes(block):
        if type(node) is ir.Assign:
            for target in node.targets:
                yield target.obj if type(target) is ir.Sub else target
        elif type(node) is ir.Call and type(node.func) is ir.Attr:
            yield node.func.obj
