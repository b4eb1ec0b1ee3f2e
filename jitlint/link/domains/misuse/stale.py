"""New parts of a state that are computed and lost, while the old ones go on (layer: ``link``, room ``domains``).

``key, sub = split(state.key)`` makes a new key for the state; ``state._replace(v=v)`` keeps the old one in it. What it does: reads the statements of a
function, and what the one that is called returns. What it does not: speak of a variable that is read anywhere, or of a
part that no variable of its own name is computed for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence, Set
from itertools import chain
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate, KeyReuse
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Class
from jitlint.link.domains.misuse import auxiliary, carried, turns
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, bound_names, inner_functions
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_TRAINED: Final = "apply_gradients"
_RENEWING: Final = frozenset({"replace", "_replace", _TRAINED})
_RANDOM: Final = "jax.random."


class Lost:
    """What a function computes for nobody. unread: variables that it binds once and never mentions again. filled: lists
    that it makes and fills, and never reads."""

    __slots__ = ("filled", "unread")

    def __init__(self, own: Sequence[ir.Node], names: Iterable[str], outer: Set[str] = frozenset()) -> None:
        mentioned = Counter(names)
        self.unread = frozenset(name for name, times in mentioned.items() if times == 1 and name not in outer)
        self.filled = _only_filled(own, mentioned)


Known = dict[Hashable, Lost]
"""Of functions, by their numbers, and of modules, by their names, what they compute for nobody: looked up once."""


def _lost_in(known: Known, fn: FuncInfo) -> Lost:
    if fn.id not in known:
        outer = {*fn.node.global_names, *fn.node.nonlocal_names}
        known[fn.id] = Lost(fn.parts, _own_names(fn), outer)
    return known[fn.id]


def _lost_by(known: Known, module: ModuleInfo) -> Lost:
    """What the body of a module, and nothing else in it, mentions."""
    if module.name not in known:
        code = chain.from_iterable(module.code())
        known[module.name] = Lost((), [part.id for part in code if type(part) is ir.Name])
    return known[module.name]


def check(known: Known, m: Machine, f: Frame, node: ir.Assign) -> None:
    """Record what a call gives anew and nobody reads, where the old one goes on."""
    call, fn = node.value, f.fn
    if type(call) is not ir.Call or f.module.is_test or naming.is_benchmark(f.module.path):
        return
    if not any(isinstance(target, ir.Tuple) for target in node.targets):
        if fn is not None:
            _check_folded(m, f, fn, call)
        return
    if fn is None:
        if f.loops:
            turns.check(m, f, node, call, _gone(node, _lost_by(known, f.module)))
        return
    lost = _lost_in(known, fn)
    if lost.filled:
        _check_collected(m, f, fn, node, lost)
    gone = _gone(node, lost)
    if gone:
        _check_gone(m, f, fn, node, call, gone)


def _gone(node: ir.Assign, lost: Lost) -> list[str]:
    """The variables of an assignment that nobody reads."""
    names = [name.id for name in bound_names(node.targets)]
    return [name for name in names if name == "_" or name in lost.unread]


def _check_gone(m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, call: ir.Call, gone: list[str]) -> None:
    """Some variables that an assignment binds are read by nobody."""
    _check_unread(m, f, fn, node, gone)
    _check_stored(m, f, fn, node, call, gone)
    _check_optimiser(m, f, fn, node, call, gone)
    carried.check(m, f, fn, node, call, gone)
    old = auxiliary.old_part(m, f, node, call, gone)
    place = _keeps(m, f, fn, _owner(old, {param.name for param in fn.node.params}), old.name) if old else None
    if old is not None and place is not None:
        _lost(m, f, node, old.name, place)
    passed = auxiliary.old_variable(m, f, node, call, gone)
    if passed:
        m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, kept=passed)
    turns.check(m, f, node, call, gone)


def _check_unread(m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, gone: list[str]) -> None:
    """A variable that nobody reads holds the new version of a part that a state keeps as it was."""
    for name in gone:
        part = _part_of(m, f, fn, name) if not name.startswith("_") else None
        place = _keeps(m, f, fn, *part) if part is not None else None
        if part is not None and place is not None:
            _lost(m, f, node, part[1], place, name)


def _check_stored(
    m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, call: ir.Call, gone: list[str]
) -> None:
    """A part of an object goes into a call beside others, which are stored when they come back, while it has a variable of its
    name: ``self.params, rest, loss = self.step(self.params, self.rest)``."""
    params = {param.name for param in fn.node.params}
    kept = {_owner(part, params) for target in node.targets for part in below(target)} - {""}
    for arg in call.args:
        part = arg.value
        if type(part) is not ir.Attr or part.name not in gone or not _owner(part, kept):
            continue
        if not any(_stores(other, part.name) for other in _everywhere(fn)):
            m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, kept=part.name)


def _check_optimiser(
    m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, call: ir.Call, gone: list[str]
) -> None:
    """The new state of an optimiser is thrown away, and goes on as it was in the state of the training."""
    target = node.targets[0]
    pair = target.elts if type(target) is ir.Tuple and len(target.elts) == 2 else ()
    if not pair or type(pair[1]) is not ir.Name or pair[1].id not in gone or len(call.args) < 2:
        return
    old = call.args[1].value
    owner = _owner(old, {param.name for param in fn.node.params})
    if type(old) is ir.Attr and owner and carried.is_optimiser(m, f, call.func):
        place = _keeps(m, f, fn, owner, old.name)
        if place is not None:
            _lost(m, f, node, old.name, place)


def _check_folded(m: Machine, f: Frame, fn: FuncInfo, call: ir.Call) -> None:
    """A constant is folded into a key of a state, which goes on with that key."""
    if len(call.args) != 2 or type(call.args[1].value) is not ir.Const:
        return
    key = call.args[0].value
    owner = _owner(key, {param.name for param in fn.node.params})
    folds = bool(owner) and paths.dotted(m, f, call.func) == f"{_RANDOM}fold_in"
    if folds and type(key) is ir.Attr and _keeps(m, f, fn, owner, key.name) is not None:
        m.emit(f, KeyReuse, call.at, None, Confidence.LIKELY, api="", how="constant")


def _owner(node: ir.Node, names: Set[str]) -> str:
    """The variable, of some, of which an expression is an attribute."""
    owner = node.obj if type(node) is ir.Attr else None
    return owner.id if type(owner) is ir.Name and owner.id in names else ""


def _lost(m: Machine, f: Frame, node: ir.Assign, name: str, place: ir.Call, new: str = "") -> None:
    """name: the part of which the old one goes on; new: the variable that has the new one."""
    also = (Step(f.module.name, node.at, f"`{new or name}` is computed here"),)
    call = node.value
    if type(call) is ir.Call and paths.dotted(m, f, call.func).startswith(_RANDOM):
        m.emit(f, KeyReuse, place.at, None, Confidence.LIKELY, api="", how="kept", also=also)
    else:
        m.emit(f, DroppedUpdate, place.at, None, Confidence.LIKELY, kept=name, also=also)


def _everywhere(fn: FuncInfo) -> Iterator[ir.Node]:
    """The nodes of a function and of those written in it."""
    yield from fn.parts
    for inner in inner_functions(fn.module, fn.body):
        yield from inner.parts


def _own_names(fn: FuncInfo) -> Iterator[str]:
    """The names that a function mentions, and those that functions written in it take from around them."""
    yield from (part.id for part in fn.parts if type(part) is ir.Name)
    for inner in inner_functions(fn.module, fn.body):
        own = set(inner.node.local_names)
        yield from (part.id for part in inner.parts if type(part) is ir.Name and part.id not in own)


def _part_of(m: Machine, f: Frame, fn: FuncInfo, name: str) -> tuple[str, str] | None:
    """The state, and its part, that a variable is called for, if the function reads that, or hands the state to one that may."""
    params = {param.name for param in fn.node.params}
    read = [(_owner(part, params), part.name) for part in _everywhere(fn) if type(part) is ir.Attr]
    owned = {pair for pair in read if pair[0]}
    found = {pair for pair in owned if _is_called(pair[1], name)}
    found = found or _trained_part(fn, name, owned) or _collected_part(m, f, fn, name, owned)
    return found.pop() if len(found) == 1 else None


def _trained_part(fn: FuncInfo, name: str, owned: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The part of this name of a state that the function trains."""
    elsewhere = _is_part_elsewhere(fn, name)
    return {(owner, name) for owner, method in owned if method == _TRAINED and elsewhere}


def _collected_part(
    m: Machine, f: Frame, fn: FuncInfo, name: str, owned: set[tuple[str, str]]
) -> set[tuple[str, str]]:
    """The part of a state that is one of the collections in a variable."""
    collected = _collected(m, f, fn, name)
    found = {pair for pair in owned if pair[1] in collected}
    return found or {pair for part in collected for pair in _trained_part(fn, part, owned)}


def _collected(m: Machine, f: Frame, fn: FuncInfo, name: str) -> set[str]:
    """The collections of variables that a model changes, where a variable gets what it made of them; also by the same name in a
    function written inside, which hands that out."""
    calls = [
        part.value
        for part in _everywhere(fn)
        if type(part) is ir.Assign and type(part.value) is ir.Call and name in bound_by(part)
    ]
    return {name for call in calls for name in auxiliary.changed_through(m, f, call)}


def _is_part_elsewhere(fn: FuncInfo, name: str) -> bool:
    """Whether code of the same module reads such a part of something."""
    trains = any(type(part) is ir.Attr and part.name == _TRAINED for part in fn.parts)
    code = chain.from_iterable(fn.module.code()) if trains else ()
    return any(type(part) is ir.Attr and part.name == name for part in code)


def _is_called(part: str, name: str) -> bool:
    """Whether a variable is called as a part of a state is, or as its new version, or by the last of its words."""
    return name in (part, *(f"{word}_{part}" for word in carried.NEW)) or part.endswith(f"_{name}")


def _keeps(m: Machine, f: Frame, fn: FuncInfo, owner: str, name: str) -> ir.Call | None:
    """Where a state is made anew with the old part of this name in it, and nowhere with another one."""
    calls = [part for part in fn.parts if type(part) is ir.Call]
    renewing = [call for call in calls if _renews(m, f, call, owner)]
    if any(_may_give(call, name) for call in renewing) or any(_stores(p, name) for p in _everywhere(fn)):
        return None
    made = [call for call in calls if _is_made_with(m, f, call, owner, name)]
    return max([call for call in renewing if call.args] or made, key=lambda call: call.at, default=None)


def _may_give(call: ir.Call, name: str) -> bool:
    return any(arg.name == name or arg.star for arg in call.args)


def _stores(node: ir.Node, name: str) -> bool:
    """Whether a statement puts something into an attribute of this name."""
    targets = node.targets if type(node) is ir.Assign else []
    return any(type(target) is ir.Attr and target.name == name for target in targets)


def _renews(m: Machine, f: Frame, call: ir.Call, owner: str) -> bool:
    """Whether a call gives a state with some other parts."""
    func = call.func
    if type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == owner:
        return func.name in _RENEWING
    first = call.args[0].value if call.args else None
    if type(first) is not ir.Name or first.id != owner:
        return False
    dotted = paths.dotted(m, f, func)
    return dotted in lexicon().arrays.pure_functions and dotted.endswith(".replace")


def _is_made_with(m: Machine, f: Frame, call: ir.Call, owner: str, name: str) -> bool:
    """Whether a state of a class of the project is put together with the old part in it."""
    if type(paths.peek(m, f, call.func)) is not Class:
        return False
    values = [arg.value for arg in call.args]
    return any(type(part) is ir.Attr and part.name == name and _owner(part, {owner}) for part in values)


def _check_collected(m: Machine, f: Frame, fn: FuncInfo, node: ir.Assign, lost: Lost) -> None:
    """New versions of a part go into a list that nobody reads, and the state keeps the old part."""
    names = {name.id for name in bound_names(node.targets)}
    if not any(_filled_with(part, names) in lost.filled for part in fn.parts):
        return
    params = {param.name for param in fn.node.params}
    for part in below(node.value):
        owner = _owner(part, params)
        place = _keeps(m, f, fn, owner, part.name) if owner and type(part) is ir.Attr else None
        if place is not None and type(part) is ir.Attr:
            _lost(m, f, node, part.name, place)


def _filled_with(node: ir.Node, names: set[str]) -> str:
    """The variable of a list that gets one of these variables."""
    call = node.value if type(node) is ir.ExprStmt else None
    if type(call) is not ir.Call or type(call.func) is not ir.Attr or call.func.name != "append":
        return ""
    given = call.args[0].value if len(call.args) == 1 else None
    owner = call.func.obj
    return owner.id if type(owner) is ir.Name and type(given) is ir.Name and given.id in names else ""


def _only_filled(code: Sequence[ir.Node], mentioned: Counter[str]) -> frozenset[str]:
    """The lists that a function makes, fills and never reads."""
    made: set[str] = set()
    filled = Counter[str]()
    for part in code:
        if type(part) is ir.Assign and _is_list(part.value):
            made.update(bound_by(part))
        elif type(part) is ir.ExprStmt and type(part.value) is ir.Call:
            func = part.value.func
            if type(func) is ir.Attr and func.name == "append" and type(func.obj) is ir.Name:
                filled[func.obj.id] += 1
    return frozenset(name for name in made if filled[name] and mentioned[name] == filled[name] + 1)


def _is_list(node: ir.Expr) -> bool:
    return type(node) is ir.List or (
        type(node) is ir.Tuple and all(type(part) is ir.List for part in node.elts)
    )
