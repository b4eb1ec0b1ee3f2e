"""Functions of the project that do nothing but make a value, called as statements (layer: ``link``, room ``domains``).

What it does: reads the statements of the function, and of those that it calls: nothing is stored, printed, raised or asked of
somebody unknown. In a trace the result of any such function is missed. Elsewhere somebody may want to see that it runs, so there
only what gives another version of its argument counts. What it does not: look into methods, which others may override, or
into compiled functions, which are called once before a clock is read.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Class, Func, S
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import bound_names, by_parameter, inner_functions
from jitlint.link.tables.results import only_result
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

_DEEP: Final = 4
"""So many functions may call one another."""
_QUIET: Final = (
    ir.Assign, ir.AnnAssign, ir.AugAssign, ir.Break, ir.Continue, ir.ExprStmt, ir.For, ir.FuncDef, ir.If, ir.Pass, ir.Return,
)  # fmt: skip
_LOUD: Final = (ir.Await, ir.Yield)
_FILLS: Final = frozenset({"append", "extend", "insert", "update"})
_CONTAINERS: Final = frozenset({"dict", "list"})
_MAKES: Final = ("__init__", "__new__", "__post_init__")


def makes(m: Machine, f: Frame, node: ir.Call) -> str:
    """The name of the function of the project that a call is of, if nothing but its result can be wanted; else ""."""
    func = paths.peek(m, f, node.func)
    if type(func) is not Func or (type(node.func) is ir.Attr and func.owner is not None):
        return ""
    fn = func.fn
    result = only_result(fn.body)
    kept = any(
        isinstance(arg.value, (ir.Name, ir.Attr, ir.Sub)) for arg in node.args
    )  # what is made here, nobody misses
    wanted = kept and result is not None and _is_another(m, inside(func), fn, result)
    if not wanted and not (f.world.here & S and _gives_something(fn)):
        return ""
    given = _given(m, f, node, fn)
    return fn.name if given is not None and _computes(m, func, given, _DEEP) else ""


def inside(func: Func) -> Frame:
    """A frame in which the names mean what they mean around a function."""
    return Frame(func.fn.module, func.scope, HOST)


def computes(m: Machine, func: Func) -> bool:
    """Whether a function or a method does nothing but make a value, whatever it is given."""
    return _computes(m, func, frozenset(), _DEEP)


def _gives_something(fn: FuncInfo) -> bool:
    """Whether each ``return`` gives a value that was computed."""
    results = [part.value for part in fn.parts if type(part) is ir.Return]
    return bool(results) and not any(
        result is None or isinstance(result, (ir.Const, ir.Name)) for result in results
    )


def _is_another(m: Machine, around: Frame, fn: FuncInfo, result: ir.Expr) -> bool:
    """Whether a function gives another version of its argument: the same with other fields, elements or leaves."""
    if type(result) is not ir.Call:
        return False
    params, words = {param.name for param in fn.node.params}, lexicon()
    if type(result.func) is ir.Attr:
        owner = result.func.obj
        array = updated_at(m, result.func)
        if array is not None:
            return _mentions(array, params)
        if type(owner) is ir.Name and owner.id in params:
            return result.func.name in words.contracts.renewing
    dotted = paths.dotted(m, around, result.func)
    renews = dotted in words.arrays.pure_functions or dotted in words.buffers.tree_maps
    return renews and any(_mentions(arg.value, params) for arg in result.args)


def updated_at(m: Machine, func: ir.Attr) -> ir.Node | None:
    """The array of which a method makes a new one with other elements, ``x`` of ``x.at[i].set``."""
    place = func.obj.obj if type(func.obj) is ir.Sub else None
    known = type(place) is ir.Attr and place.name == "at" and m.catalogue.update_method(func.name) is not None
    return place.obj if known and type(place) is ir.Attr else None


def _mentions(node: ir.Node, names: Set[str]) -> bool:
    return type(node) is ir.Name and node.id in names


def _given(m: Machine, f: Frame, node: ir.Call, fn: FuncInfo) -> frozenset[str] | None:
    """The parameters that get functions which only compute; None where the call hands over another one."""
    found: set[str] = set()
    for name, written in by_parameter(node, fn.node.params):
        value = paths.peek(m, f, written)
        if type(written) is ir.Lambda:
            lambda_ = f.module.functions[written.function]
            if not _is_quiet(m, f, lambda_, frozenset(), _DEEP):
                return None
            found.add(name)
        elif type(value) is Func:
            if not _computes(m, value, frozenset(), _DEEP):
                return None
            found.add(name)
    return frozenset(found)


def _computes(m: Machine, func: Func, given: frozenset[str], deep: int) -> bool:
    """Whether a function does nothing but make a value. given: parameters that are functions which do so."""
    fn = func.fn
    if not deep or fn.node.decorators or fn.node.is_generator or fn.node.is_async or fn.module.is_test:
        return False
    return not fn.is_stub and _is_quiet(m, inside(func), fn, given, deep)


def _is_quiet(m: Machine, around: Frame, fn: FuncInfo, given: frozenset[str], deep: int) -> bool:
    """Whether the body of a function, and the functions written in it, only compute."""
    inner = list(inner_functions(fn.module, fn.body))
    named = frozenset(one.name for one in inner if not one.node.is_lambda)
    for one in (fn, *inner):
        if one.node.is_generator or one.node.is_async or one.node.global_names or one.node.nonlocal_names:
            return False
        own = frozenset(name for each in (fn, *inner) for name in each.node.local_names)
        known = _Known(m, around, own, _containers(one), given | named, deep)
        if not all(_is_quiet_part(known, part) for part in one.parts):
            return False
    return True


def _containers(fn: FuncInfo) -> frozenset[str]:
    """The variables that a function makes lists and dicts itself."""
    made = [part for part in fn.parts if type(part) is ir.Assign and _is_container(part.value)]
    return frozenset(name.id for part in made for name in bound_names(part.targets))


def _is_container(node: ir.Expr) -> bool:
    """Whether a list or a dict is made: as a display, or by its class."""
    called = node.func if type(node) is ir.Call else None
    return isinstance(node, (ir.List, ir.Dict)) or (type(called) is ir.Name and called.id in _CONTAINERS)


class _Known:
    """What is known of the names in a function. own: its variables. lists: those that it makes containers itself.
    given: those that are functions which only compute."""

    __slots__ = ("around", "deep", "given", "lists", "m", "own")

    def __init__(
        self,
        m: Machine,
        around: Frame,
        own: frozenset[str],
        lists: frozenset[str],
        given: frozenset[str],
        deep: int,
    ) -> None:
        self.m = m
        self.around = around
        self.own = own
        self.lists = lists
        self.given = given
        self.deep = deep


def _is_quiet_part(known: _Known, part: ir.Node) -> bool:
    if type(part) is ir.Call:
        return _is_quiet_call(known, part)
    if isinstance(part, _LOUD):
        return False
    if type(part) is ir.Assign:
        return all(_is_own(known, target) for target in part.targets)
    if isinstance(part, (ir.AnnAssign, ir.AugAssign)):
        return _is_own(known, part.target)
    if type(part) is ir.ExprStmt and type(part.value) is ir.Call and type(part.value.func) is ir.Attr:
        # what is called and not kept is called for what it does: `x.delete()`
        return part.value.func.name in _FILLS
    return not isinstance(part, _STATEMENTS) or isinstance(part, _QUIET)


_STATEMENTS: Final = (
    ir.Assert, ir.ClassDef, ir.Del, ir.Global, ir.Import, ir.ImportFrom, ir.Match, ir.Raise, ir.Try, ir.While, ir.With,
)  # fmt: skip


def _is_own(known: _Known, target: ir.Node) -> bool:
    """Whether an assignment binds variables, or fills a container that the function has made."""
    if isinstance(target, (ir.Tuple, ir.List)):
        return all(_is_own(known, part) for part in target.elts)
    if type(target) is ir.Starred:
        return _is_own(known, target.value)
    if type(target) is ir.Sub:
        return _mentions(target.obj, known.lists)
    return type(target) is ir.Name


def _is_quiet_call(known: _Known, call: ir.Call) -> bool:
    if not all(_is_quiet_function(known, arg.value) for arg in call.args):
        return False
    func = call.func
    if type(func) is ir.Name and func.id in known.own | known.given:
        return func.id in known.given
    root = func
    while isinstance(root, ir.Attr):
        root = root.obj
    if type(func) is ir.Attr and (type(root) is not ir.Name or root.id in known.own):
        return _is_quiet_method(known, func)
    dotted = paths.dotted(known.m, known.around, func)
    if dotted:
        return _is_quiet_library(known, dotted, call)
    value = paths.peek(known.m, known.around, func)
    if type(value) is Func:
        return _computes(known.m, value, _handed_on(known, call, value.fn), known.deep - 1)
    return type(value) is Class and _is_plain(value)


def _handed_on(known: _Known, call: ir.Call, fn: FuncInfo) -> frozenset[str]:
    """The parameters that get functions which only compute, of those that were looked at."""
    return frozenset(
        name
        for name, value in by_parameter(call, fn.node.params)
        if name and (type(value) is ir.Lambda or _mentions(value, known.given))
    )


def _is_quiet_function(known: _Known, node: ir.Node) -> bool:
    """Whether what is handed on is no function, or one that only computes."""
    value = (
        paths.peek(known.m, known.around, node)
        if type(node) is not ir.Name or node.id not in known.own
        else None
    )
    if type(value) is Func:
        return _computes(known.m, value, frozenset(), known.deep - 1)
    return True


def _is_quiet_method(known: _Known, func: ir.Attr) -> bool:
    """Whether a method of an array, of a container that the function has made or of a state only computes."""
    name, words = func.name, lexicon().arrays
    if updated_at(known.m, func) is not None:
        return True
    if name in _FILLS:
        return _mentions(func.obj, known.lists)
    if name in lexicon().contracts.renewing:
        return True
    return name not in words.in_place_methods and known.m.catalogue.array_method(name) is not None


def _is_plain(value: Class) -> bool:
    """Whether an object of a class is made by nothing but its fields, or keeps what it is given."""
    own = [cls.namespace[name] for cls in mro(value.info) for name in _MAKES if name in cls.namespace]
    if value.info.shape in ("namedtuple", "dataclass"):
        return not own
    return not value.info.extern and len(own) == 1 and type(own[0]) is Func and _only_keeps(own[0].fn)


def _only_keeps(fn: FuncInfo) -> bool:
    """Whether a constructor does nothing but put its parameters into attributes."""
    return fn.name == "__init__" and all(
        type(part) is ir.Assign
        and isinstance(part.value, (ir.Name, ir.Const))
        and _is_attribute(part.targets)
        for part in fn.body
    )


def _is_attribute(targets: Sequence[ir.Expr]) -> bool:
    return all(type(target) is ir.Attr and type(target.obj) is ir.Name for target in targets)


def _is_quiet_library(known: _Known, dotted: str, call: ir.Call) -> bool:
    """Whether a function of a library only computes, and does not call what nobody knows."""
    words = lexicon().arrays
    if dotted in words.pure_maps:
        first = call.args[0].value if call.args else None
        return type(first) is not ir.Name or first.id not in known.own - known.given
    if dotted in words.pure_functions or dotted in words.pure_builtins:
        return True
    return dotted.startswith(tuple(words.pure_modules)) and known.m.catalogue.function(dotted) is not None
