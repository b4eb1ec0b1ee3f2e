"""Which parameters are PRNG keys, as the function's own uses say (layer: ``link``, room ``domains``).

A parameter handed to a `jax.random` function as its key, directly or through a function of the project that does so,
is a key. One that is made into a key, or asked for its type, is perhaps something else.
"""

from __future__ import annotations

from typing import Any

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Arr,
    Class,
    Ext,
    Func,
    Mod,
    Partial,
    Scope,
    Tree,
    Union,
    Value,
    Xform,
)
from jitlint.link.domains.keys import copies
from jitlint.link.domains.keys import libraries as key_libraries
from jitlint.link.domains.keys.ledger import RANDOM
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names
from jitlint.link.values.keys import named
from jitlint.link.values.library_objects import is_initialiser
from jitlint.link.values.questions.kinds import member, mro
from jitlint.syntax import ir


def name_all(m: Machine, takes: tuple[str, ...], func: Func, bound: dict[str, Value]) -> None:
    """Give every argument that is a key a name of its own where it has none. takes: the parameters that are."""
    if Arr in map(type, bound.values()):
        _name_arrays(m, bound)
    for name in takes:
        value = bound.get(name, NONE)
        if value is UNKNOWN:
            key: Value = named(m, Arr(0, "key"))
            bound[name] = Union((NONE, key)) if name in func.defaults else key
        elif type(value) is Arr and value.key is None and value.dtype is None and not value.host:
            bound[name] = named(m, value)
        elif type(value) is Tree and value.evidence in ("", "array"):
            array = Arr(value.modes, "key", None, value.why, value.level, value.traced)
            bound[name] = named(m, array)


def _name_arrays(m: Machine, bound: dict[str, Value]) -> None:
    for name, value in bound.items():
        if type(value) is Arr and value.dtype == "key" and value.key is None:
            bound[name] = named(m, value)


def key_parameters(m: Machine, fn: FuncInfo) -> tuple[str, ...]:
    """The parameters that are keys. Cached on the function."""
    if fn.keys is None:
        fn.keys = ()  # while it is being found out, for functions that call each other
        names = {
            p.name
            for i, p in enumerate(fn.node.params)
            if p.kind not in ("var", "kwvar") and not _is_number(p) and (i or p.name not in ("self", "cls"))
        }
        if names:
            scan = _Scan(m, fn)
            scan.walk(fn, names)
            declared = [p.name for p in fn.node.params if p.name in names and _is_declared(p.annotation)]
            fn.keys = tuple(name for name in [*scan.found, *declared] if name not in scan.refuted)
    return fn.keys


def _is_number(param: ir.Param) -> bool:
    return type(param.default) is ir.Const and param.default.kind != "none"


def _is_declared(annotation: ir.Node | None) -> bool:
    """Whether an annotation says that a parameter is one key, perhaps an optional one."""
    if type(annotation) is ir.BinOp:
        return _is_declared(annotation.left)
    if type(annotation) is ir.Attr:
        return annotation.name in lexicon().types.keys
    return type(annotation) is ir.Name and annotation.id in lexicon().types.keys


class _Scan:
    __slots__ = ("copies", "fn", "found", "m", "refuted")

    def __init__(self, m: Machine, fn: FuncInfo) -> None:
        self.m = m
        self.fn = fn
        self.found: dict[str, None] = {}
        self.refuted: set[str] = set()
        self.copies: dict[str, str] = {}
        """Variables that hold copies of a parameter, which is what a function gets that is mapped over them."""

    def walk(self, fn: FuncInfo, names: set[str]) -> None:
        """Look at every call in a function, nested ones included, where ``names`` are the parameters."""
        for node in fn.parts:
            if type(node) is ir.Assign and type(node.targets[0]) is ir.Name:
                one = self._copied(node.value)
                if one in names:
                    self.copies[node.targets[0].id] = one
        for node in fn.parts:
            if type(node) is ir.Call:
                self._call(node, names)
                self._over_copies(node, names)
            elif type(node) is ir.FuncDef or type(node) is ir.Lambda:
                self._nested(node.function, names)

    def _nested(self, index: int, names: set[str]) -> None:
        inner = self.fn.module.functions[index]
        left = names - {p.name for p in inner.node.params}
        if left:
            self.walk(inner, left)

    def _call(self, node: ir.Call, names: set[str]) -> None:
        given = [(i, a) for i, a in enumerate(node.args) if type(a.value) is ir.Name and a.value.id in names]
        for arg in node.args:
            if type(arg.value) is ir.Dict and (arg.name == "rngs" or self._initialises(node, arg.value)):
                self._streams(arg.value, names)
        if not given or any(a.star for a in node.args):
            return
        made = self._made(node.func)
        callee, before = self._callee(node)
        last = node.func.name if type(node.func) is ir.Attr else getattr(node.func, "id", "")
        for i, arg in given:
            value: Any = arg.value
            if last in lexicon().keys.seeds:
                self.refuted.add(value.id)
            elif self._takes(made, callee, i - before, arg.name):
                self.found[value.id] = None

    def _copied(self, node: ir.Node | None) -> str:
        """The variable that an expression makes an array of copies of, "" for any other expression."""
        made = resolve(self.m, self.fn, node.func) if type(node) is ir.Call else None
        one = copies.copied(node, made.dotted) if type(made) is Ext else None
        return one.id if type(one) is ir.Name else ""

    def _over_copies(self, node: ir.Call, names: set[str]) -> None:
        """``vmap(f)(broadcast_to(key, (n,)))``: what `f` takes for a key is one."""
        made = self._made(node.func)
        maker = resolve(self.m, self.fn, made.func) if type(made) is ir.Call else None
        wrap = self.m.transforms.wraps.get(maker.dotted) if type(maker) is Ext else None
        if wrap is None or not wrap.axes or type(made) is not ir.Call or not made.args:
            return
        mapped = made.args[0].value
        for i, arg in enumerate(node.args):
            given = arg.value
            one = self.copies.get(given.id, "") if type(given) is ir.Name else self._copied(given)
            if one in names and arg.name is None and not arg.star and self._is_key(mapped, i):
                self.found[one] = None

    def _is_key(self, func: ir.Expr, index: int) -> bool:
        """Whether a function that is written there takes what it gets at a position for a key."""
        inner = self.fn.module.functions[func.function] if type(func) is ir.Lambda else self._inner(func)
        if inner is not None:
            return _is_key_of(self.m, inner, index, "")
        return _takes_key(self.m, resolve(self.m, self.fn, func), index, "")

    def _made(self, func: ir.Expr) -> ir.Expr:
        """What is called: where a variable of the function holds it, the call that has made it, if that is the only one."""
        if type(func) is not ir.Name or func.id not in self.fn.node.local_names:
            return func
        made = [
            node.value
            for node in self.fn.parts
            if type(node) is ir.Assign and func.id in {name.id for name in bound_names(node.targets)}
        ]
        return made[0] if len(made) == 1 and type(made[0]) is ir.Call else func

    def _inner(self, func: ir.Expr) -> FuncInfo | None:
        """The function of that name that is written inside this one, if it gets its arguments as they are."""
        if type(func) is not ir.Name or func.id not in self.fn.node.local_names:
            return None
        written = [
            part.value if type(part) is ir.Assign else part
            for part in self.fn.parts
            if (type(part) is ir.FuncDef and part.name == func.id)
            or (type(part) is ir.Assign and func.id in {name.id for name in bound_names(part.targets)})
        ]
        node = written[0] if len(written) == 1 else None
        if type(node) is not ir.FuncDef and type(node) is not ir.Lambda:
            return None
        inner = self.fn.module.functions[node.function]
        return inner if all(map(self._hands_on, inner.node.decorators)) else None

    def _hands_on(self, decorator: ir.Expr) -> bool:
        """Whether a decorator is a transform that hands on its arguments as they are, as `jax.jit` does."""
        if type(decorator) is ir.Call and decorator.args:
            made = resolve(self.m, self.fn, decorator.func)
            is_partial = type(made) is Ext and made.dotted == "functools.partial"
            decorator = decorator.args[0].value if is_partial else decorator.func
        found = resolve(self.m, self.fn, decorator)
        wrap = self.m.transforms.wraps.get(found.dotted) if type(found) is Ext else None
        return wrap is not None and not wrap.axes

    def _callee(self, node: ir.Call) -> tuple[Value, int]:
        """What is given the arguments, and how many come before the first: of ``partial(f, key)``, that is ``f``."""
        callee = resolve(self.m, self.fn, node.func)
        if type(callee) is Ext and callee.dotted == "functools.partial":
            return resolve(self.m, self.fn, node.args[0].value), 1
        return callee, 0

    def _takes(self, func: ir.Expr, callee: Value, index: int, name: str | None) -> bool:
        """Whether an argument is a key. index: its position, which says nothing when it has a name."""
        index = index if name is None else -1
        inner = self._inner(func)
        if inner is not None:
            return _is_key_of(self.m, inner, index, name or "")
        if type(func) is ir.Call:
            return self._mapped(func, index, name or "") or self._bound(func, index, name or "")
        return _takes_key(self.m, callee, index, name or "")

    @staticmethod
    def _initialises(node: ir.Call, first: ir.Dict) -> bool:
        """``model.init({"params": key}, ...)``, whatever the model is."""
        named = [k.value for k in first.keys if type(k) is ir.Const]
        method = node.func.name if type(node.func) is ir.Attr else ""
        return key_libraries.PARAMETERS in named and method in lexicon().keys.initialising

    def _streams(self, node: ir.Dict, names: set[str]) -> None:
        """``rngs={"dropout": key}``: what starts the streams of a module is a key."""
        for value in node.values:
            if type(value) is ir.Name and value.id in names:
                self.found[value.id] = None

    def _bound(self, made: ir.Call, index: int, name: str) -> bool:
        """Whether ``partial(f, x)`` hands an argument to ``f``, and ``f`` takes it for a key."""
        maker = resolve(self.m, self.fn, made.func)
        if type(maker) is not Ext or maker.dotted != "functools.partial" or any(a.star for a in made.args):
            return False
        given = [arg.value for arg in made.args if arg.name is None]
        target = resolve(self.m, self.fn, given[0]) if given else UNKNOWN
        return _takes_key(self.m, target, index + len(given) - 1 if index >= 0 else index, name)

    def _mapped(self, made: ir.Call, index: int, name: str) -> bool:
        """Whether ``jax.vmap(f, in_axes=...)`` hands an argument to ``f`` as it is, and ``f`` takes it for a key."""
        maker = resolve(self.m, self.fn, made.func)
        wrap = self.m.transforms.wraps.get(maker.dotted) if type(maker) is Ext else None
        if wrap is None or not made.args or made.args[0].name is not None:
            return False
        target = resolve(self.m, self.fn, made.args[0].value)
        if not wrap.axes:
            return _takes_key(self.m, target, index, name)
        axes = next((a.value for a in made.args if a.name == wrap.axes), None)
        shared = type(axes) is ir.Tuple and 0 <= index < len(axes.elts) and _is_none(axes.elts[index])
        return shared and _takes_key(self.m, target, index, name)


def _is_none(node: ir.Node | None) -> bool:
    return type(node) is ir.Const and node.kind == "none"


def _takes_key(m: Machine, callee: Value, index: int, name: str) -> bool:
    """Whether a callee's argument at a position or under a name is a key."""
    if is_initialiser(callee):
        return index == 0 or name == "key"
    if type(callee) is Ext:
        return _library_takes_key(m, callee, index, name)
    func, index = _written(callee, index)
    if func is None:
        return False
    return _is_key_of(m, func.fn, index, name)


def _is_key_of(m: Machine, fn: FuncInfo, index: int, name: str) -> bool:
    """Whether a function takes what it gets at a position or under a name for a key."""
    params = [p.name for p in fn.node.params if p.kind in ("pos", "any")]
    wanted = name or (params[index] if 0 <= index < len(params) else "")
    return wanted in key_parameters(m, fn)


def _library_takes_key(m: Machine, callee: Ext, index: int, name: str) -> bool:
    if callee.dotted.startswith(key_libraries.LAYERS):
        return name == "key"
    fn = m.catalogue.function(callee.dotted) if callee.dotted.startswith(RANDOM) else None
    takes = fn is not None and bool(fn.parameters) and fn.parameters[0].name == "key"
    return takes and (index == 0 or name == "key")


def _written(callee: Value, index: int) -> tuple[Func | None, int]:
    """The function of the project that a callee calls in the end, and the place that an argument has there."""
    while isinstance(callee, (Xform, Partial)):
        if isinstance(callee, Partial):
            index = index + len(callee.args) if index >= 0 else index
            callee = callee.func
        elif callee.spec.axes:
            return None, index
        else:
            callee = callee.target
    if type(callee) is Class:
        init = member(callee.info, "__init__")
        return (init, index + 1 if index >= 0 else index) if type(init) is Func else (None, index)
    return (callee, index) if type(callee) is Func else (None, index)


def resolve(m: Machine, fn: FuncInfo, node: ir.Node | None) -> Value:
    """What a dotted name means in a function's module, as far as the module's own variables say."""
    if type(node) is ir.Name:
        scope: Scope = fn.module.scope
        return scope.vars.get(node.id, UNKNOWN)
    if type(node) is ir.Attr and type(node.obj) is ir.Name and node.obj.id == "self":
        return _attribute(fn, node.name)
    if type(node) is ir.Attr:
        obj = resolve(m, fn, node.obj)
        if type(obj) is Ext:
            return Ext(m.catalogue.canonical(f"{obj.dotted}.{node.name}"))
        if type(obj) is Mod:
            return obj.info.scope.vars.get(node.name, UNKNOWN)
        if type(obj) is Class:
            return obj.info.namespace.get(node.name, UNKNOWN)
    return UNKNOWN


def _attribute(fn: FuncInfo, name: str) -> Value:
    """``self.name``, as the class around a method, or around a function inside it, has it."""
    around = fn.module.scope.vars.get(fn.qualname.partition(".")[0])
    if type(around) is Class:
        for cls in mro(around.info):
            found = cls.namespace.get(name)
            if found is not None:
                return Partial(found, [UNKNOWN], {}) if type(found) is Func else found
    return UNKNOWN
