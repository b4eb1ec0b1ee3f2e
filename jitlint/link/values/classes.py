"""Class definitions, construction of instances, and what library base classes add (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import Role
from jitlint.infer.grounds import GUESSED
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    NONE,
    STR,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Method,
    Partial,
    Py,
    Scope,
    Seq,
    Tree,
    Tup,
    Value,
    alternatives,
)
from jitlint.link.engine import evaluator, scopes, status
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.values import callbacks, fields, parameters, pytrees
from jitlint.link.values.library_objects import variable
from jitlint.link.values.questions import filling
from jitlint.link.values.questions.kinds import find_method, is_enumeration, mro
from jitlint.syntax import ir


def define(m: Machine, f: Frame, node: ir.ClassDef) -> Value:
    """Run a class statement."""
    bases: list[Value] = []
    options: dict[str, Value] = {}
    for arg in node.bases:
        value = evaluator.evaluate(m, f, arg.value)
        if arg.name is None:
            bases.extend(alternatives(value))
        else:
            options[arg.name] = value
    scope = Scope({}, f.scope, None, f.scope.key, f.world.level, f.token)
    info = ClassInfo(
        len(m.classes) + 1, f.module, node.name, node.qualname, node.at, bases, scope.vars, {}, f.scope
    )
    m.classes.append(info)
    inherit(m, info)
    if f.world.level:
        status.record_inner(m, f, "class", node.at, node.name)
    outer_scope, outer_cls = f.scope, f.cls
    f.scope, f.cls = scope, info
    try:
        evaluator.run_block(m, f, node.body)
    finally:
        f.scope, f.cls = outer_scope, outer_cls
    info.namespace = scope.vars
    if info.pytree and info.shape == "" and info.data_fields is None:
        flatten = flatten_method(info)
        if flatten is not None:  # registered in a way of its own
            fields.registered(m, f, node.at, info, flatten)
    if "__hash__" in scope.vars:
        info.hashable = scope.vars["__hash__"] is not NONE
    elif "__eq__" in scope.vars:
        info.hashable = False
    _note_members(m, info)
    info.extern = info.extern or bool(options)
    init_subclass(m, f, node.at, info, options)
    info.extern = info.extern or any("__init_subclass__" in c.namespace for c in mro(info)[1:])
    return _decorated(m, f, node, info)


def _note_members(m: Machine, info: ClassInfo) -> None:
    """What is found by its name alone, for receivers that are not known, and what is asked for every name."""
    info.watched = info.watched or "__getattribute__" in info.namespace
    for name, value in info.namespace.items():
        if name.startswith("__") and name.endswith("__"):
            m.special_methods.setdefault(name, []).append(info)
        elif type(value) is Func and not name.startswith("__") and name not in m.catalogue.common_methods:
            m.methods_by_name.setdefault(name, []).append((info, value))
        elif type(value) is Descr and value.kind != "staticmethod" and name not in m.catalogue.common_methods:
            m.properties_by_name.setdefault(name, []).append((info, value.func))


def _decorated(m: Machine, f: Frame, node: ir.ClassDef, info: ClassInfo) -> Value:
    out: Value = Class(info)
    for decorator_node in reversed(node.decorators):
        decorator = evaluator.evaluate(m, f, decorator_node)
        result = evaluator.call(m, f, decorator_node.at, decorator, Args([out]))
        if type(decorator) is ExtInst:
            _made_by_others(info)
        if result is not UNKNOWN and type(result) is not ExtInst:
            out = result
        elif type(decorator) is not Ext or not decorator.dotted.startswith(
            lexicon().types.harmless_decorators
        ):
            _made_by_others(info)
    return out


def _made_by_others(info: ClassInfo) -> None:
    """A decorator that is not known may register a class as a pytree, and make it a dataclass with a hash."""
    info.extern = True
    if _has_own_equality(info):
        info.hashable = None


def init_subclass(m: Machine, f: Frame, at: int, info: ClassInfo, options: dict[str, Value]) -> None:
    """Run what the bases do to every subclass, such as registering it as a pytree."""
    meta = options.pop("metaclass", None)
    if type(meta) is Ext and meta.dotted == "abc.ABCMeta":
        info.stands_for_others = True
    if type(meta) is Class:
        info.metaclass = meta.info
        info.extern = True
    for base in mro(info)[1:]:
        info.metaclass = info.metaclass or base.metaclass
        hook = base.namespace.get("__init_subclass__")
        if hook is not None:
            func = hook.func if type(hook) is Descr else hook
            evaluator.call(m, f, at, func, Args([Class(info)], options))
            break


def inherit(m: Machine, info: ClassInfo) -> None:
    role = _role_of(m, info)
    for base in info.bases:
        if type(base) is Class:
            role = role or _role_of(m, base.info) or m.class_roles.get(base.info.id)
            _inherit_own(info, base.info)
        elif type(base) is Ext:
            found = _inherit_from_library(m, info, base.dotted)
            role = role or found
        elif type(base) is not ExtInst or base.dotted != "namedtuple":
            info.extern = True
    if role is not None:
        m.class_roles[info.id] = role
        info.role = role.name
        info.pytree = info.pytree or role.self_traced
        if role.dataclass and info.shape == "":
            info.shape = "dataclass"


def _role_of(m: Machine, info: ClassInfo) -> Role | None:
    return m.transforms.roles.get(f"{info.module.name}.{info.qualname}")


def _inherit_own(info: ClassInfo, parent: ClassInfo) -> None:
    """What a class has from a class of the project."""
    parent.stands_for_others = True
    info.watched = info.watched or parent.watched
    if (parent.shape == "namedtuple" and parent.fields) or parent.shape == "dict":
        info.shape = info.shape or parent.shape
        info.fields.update(parent.fields)
    info.extern = info.extern or parent.extern
    info.pytree = info.pytree or (parent.pytree and parent.role in ("eqx", "struct"))


def _inherit_from_library(m: Machine, info: ClassInfo, base: str) -> Role | None:
    if base in ("typing.NamedTuple", "typing_extensions.NamedTuple"):
        info.shape = "namedtuple"
        return None
    if base in ("typing.TypedDict", "typing_extensions.TypedDict"):
        info.shape = "dict"
        return None
    info.stands_for_others = info.stands_for_others or base in lexicon().types.abstract_bases
    found = m.transforms.roles.get(base)
    if found is None and base not in lexicon().types.harmless_bases:
        info.extern = True
    return found


def decorate(m: Machine, f: Frame, at: int, kind: str, cls: Class, options: dict[str, Value]) -> Value:
    """Apply a class decorator that the catalogue knows: dataclass, struct, chex, pytree, register_dataclass, static."""
    info = cls.info
    if kind in ("dataclass", "struct", "chex"):
        info.shape = "dataclass"
        frozen, unsafe = _flag(options, "frozen"), _flag(options, "unsafe_hash")
        by_value = kind == "dataclass" and _flag(options, "eq", True) is not False
        if frozen is not False and by_value and _has_own_equality(info):
            info.hashable = None  # the decorator puts a hash of the fields in its place
        info.hashed_by_fields = by_value and frozen is True and info.hashable is None
        if by_value and frozen is False and unsafe is not None and not info.hashable:
            info.hashable = unsafe
    if kind == "static":
        info.pytree, info.data_fields = True, frozenset()
    if kind == "pytree":
        fields.registered(m, f, at, info, flatten_method(info))
    if kind in ("struct", "chex", "register_dataclass"):
        info.pytree = info.constructed = True
        fields.mark_fields(info, kind, options)
    return cls


def _has_own_equality(info: ClassInfo) -> bool:
    """Whether a class has lost the hash of its bases only because it says itself what it is equal to."""
    return info.hashable is False and "__eq__" in info.namespace


def _flag(options: dict[str, Value], name: str, otherwise: bool = False) -> bool | None:
    """An option of `dataclasses.dataclass`; None where its value is not known."""
    value = options.get(name)
    if value is None:
        return otherwise
    return value.const if type(value) is Py and isinstance(value.const, bool) else None


def flatten_method(info: ClassInfo) -> Value | None:
    """The method by which a class says what its children are."""
    for cls in mro(info):
        for name in ("tree_flatten", "tree_flatten_with_keys"):
            if name in cls.namespace:
                return cls.namespace[name]
    return None


def instantiate(m: Machine, f: Frame, at: int, info: ClassInfo, args: Args) -> Value:
    """``C(...)``."""
    if is_enumeration(info):
        return Py("static")
    handed = m.transforms.handed.get(f"{info.module.name}.{info.qualname}")
    if handed is not None:
        callbacks.hand_over(m, f, handed, args)
    if info.shape == "namedtuple" and "__new__" not in info.namespace:
        made = Tup(tuple(_fill(m, f, at, info, args).values()), info)
        m.domains.on_make(f, at, made)
        return made
    other = callbacks.made_instead(m, f, at, info, args)
    if other is not None:
        return other
    inst = Inst(info, {}, f.world.level, f.token, info.extern)
    m.domains.on_make(f, at, inst)
    callbacks.run_makers(m, f, at, inst, args)
    init = find_method(inst, "__init__")
    if init is not None:
        evaluator.call(m, f, at, init, Args([inst, *args.pos], args.kw, args.more, args.kw_more))
        _convert(m, f, at, inst)
        filling.check(m, f, at, inst)
        return inst
    refers = _variable_base(m, info)
    if refers is not None:
        return variable(f, refers, args)
    fielded = next((cls for cls in mro(info) if cls.shape == "dataclass"), None)
    if fielded is not None:  # whose constructor those inherit that are not decorated themselves
        inst.attrs.update(_fill(m, f, at, fielded, args))
        inst.open = inst.open or info.role == "linen"
        post = find_method(inst, "__post_init__")
        if post is not None:
            evaluator.call(m, f, at, post, Args([inst]))
        _set_up(m, f, at, inst)
        return inst
    if find_method(inst, "__new__") is not None or info.extern:
        _perhaps_filled(inst)
    return inst


def bare(m: Machine, f: Frame, at: int, cls: Value | None) -> Value:
    """``object.__new__(cls)``: an object on which no constructor ran; somebody sets its attributes one by one."""
    if type(cls) is not Class or cls.info.shape == "namedtuple":
        return UNKNOWN
    inst = Inst(cls.info, {}, f.world.level, f.token, True)
    m.domains.on_make(f, at, inst)
    return inst


def _variable_base(m: Machine, info: ClassInfo) -> str | None:
    """The library's class of references to arrays that a class derives from."""
    names = (base.dotted for cls in mro(info) for base in cls.bases if type(base) is Ext)
    return next((name for name in names if name in m.transforms.variables), None)


def _perhaps_filled(inst: Inst) -> None:
    """A constructor that is not known may fill the annotated fields, and what is more."""
    inst.open = True
    for name in fields.ordered_fields(inst.cls):
        inst.attrs[name] = UNKNOWN


def _set_up(m: Machine, f: Frame, at: int, inst: Inst) -> None:
    """Run the methods in which a library lets users define submodules."""
    role = m.class_roles.get(inst.cls.id)
    for name in role.setup if role is not None else ():
        method = find_method(inst, name)
        if method is not None:
            inst.token = f.token
            evaluator.call(m, f, at, method, Args([inst]))


def set_up_again(m: Machine, f: Frame, obj: Inst, name: str, value: Value) -> Value | None:
    """An array that a library's set-up method makes, read inside of a trace (the caller's `World.here` says so): the method
    runs again there."""
    here, level = f.world.here, f.world.level
    method = _set_up_by(m, obj, name) if obj.level < level else ""
    if not method:
        return None
    why = f"`self.{name}`, which `{method}` makes anew in each trace"
    if type(value) is ExtInst and type(value.attrs.get("value")) is Tree:
        return ExtInst(value.dotted, {**value.attrs, "value": Tree(here, why, level)})
    if isinstance(value, (Arr, Tree)) and value.modes:
        return None
    if type(value) is Tree:
        return Tree(here, why, level, value.traced, value.evidence, value.kind)
    return pytrees.lift(value, here, level, why, True) if type(value) is Arr and not value.host else None


def _set_up_by(m: Machine, obj: Inst, name: str) -> str:
    """The library's set-up method that makes an attribute, "" for what a constructor is given."""
    role = m.class_roles.get(obj.cls.id)
    if role is None or not role.setup or name in fields.ordered_fields(obj.cls):
        return ""
    return next((method for method in role.setup if find_method(obj, method) is not None), "")


def _fill(m: Machine, f: Frame, at: int, info: ClassInfo, args: Args) -> dict[str, Value]:
    out: dict[str, Value] = {}
    pos = list(args.pos)
    for name, (_, default) in fields.ordered_fields(info).items():
        if type(default) is ExtInst and default.dotted.endswith("field"):
            if _is_false(default.attrs.get("init")):
                continue
            if not pos and name not in args.kw:
                out[name] = _converted(m, f, at, default, _by_itself(m, f, at, default))
                continue
        if pos:
            out[name] = pos.pop(0)
        elif name in args.kw:
            out[name] = args.kw[name]
        elif default is not None and args.kw_more is None:
            out[name] = default
        else:
            out[name] = UNKNOWN
        out[name] = _converted(m, f, at, default, out[name])
    return out


def _convert(m: Machine, f: Frame, at: int, inst: Inst) -> None:
    """What the fields make of what a constructor has put there."""
    for name, (_, default) in fields.ordered_fields(inst.cls).items():
        if name in inst.attrs:
            inst.attrs[name] = _converted(m, f, at, default, inst.attrs[name])


def _converted(m: Machine, f: Frame, at: int, field: Value | None, value: Value) -> Value:
    """What a field makes of what it is given: ``eqx.field(converter=jnp.asarray)``."""
    converter = field.attrs.get("converter") if type(field) is ExtInst else None
    return (
        value
        if converter is None or converter is NONE
        else evaluator.call(m, f, at, converter, Args([value]))
    )


def _by_itself(m: Machine, f: Frame, at: int, field: ExtInst) -> Value:
    """What a field holds that the constructor is given nothing for."""
    factory = field.attrs.get("default_factory")
    if isinstance(factory, (Func, Ext, Class, Inst, Bound, Partial)):
        return evaluator.call(m, f, at, factory, Args([]))
    return field.attrs.get("default", UNKNOWN)


def _is_false(value: Value | None) -> bool:
    return type(value) is Py and value.const is False


def cold_instance(m: Machine, info: ClassInfo) -> Value:
    """An instance as the class's own constructor makes it from unknown arguments; made once per class."""
    if info.cold is None:
        if info.cold_running:
            return Inst(info, {}, 0, None, True)
        info.cold_running = True
        m.timeless += 1
        frame = Frame(info.module, info.scope, HOST, ground="test" if info.module.is_test else "jit")
        probe = Inst(info, {}, 0, frame.token, True)
        init = find_method(probe, "__init__")
        if type(init) is Func:
            bound = {p.name: calls_default(m, init, p) for p in init.fn.node.params}
            first = next(iter(bound), None)
            if first is not None:
                bound[first] = probe
            evaluator.activate(m, frame, info.at, init, bound)
            probe.attrs.update(
                (name, UNKNOWN) for name, value in probe.attrs.items() if _is_place(name, value)
            )
            info.cold = probe
        else:
            value = parameters.instance_of(m, info) if info.shape else None
            info.cold = value if type(value) is Inst else probe
            if type(info.cold) is Inst:
                _set_up(m, frame, info.at, info.cold)
        if type(info.cold) is Inst:
            info.cold.open = True
        info.cold_running = False
        m.timeless -= 1
    return info.cold


def _is_place(name: str, value: Value) -> bool:
    """Whether an attribute is kept free for what others put there later, whatever that is."""
    if name.startswith("_"):
        return False
    return (
        not value.entries
        if type(value) is Map and value.rest is None
        else type(value) is Seq and value.items == []
    )


def calls_default(m: Machine, func: Func, param: ir.Param) -> Value:
    """What a parameter is in a run without known callers, in the host world."""
    if param.kind == "var":
        return Seq("tuple", None, UNKNOWN, 0)
    if param.kind == "kwvar":
        return Map({}, UNKNOWN, 0, None, STR)
    value = parameters.value_of(m, func.scope, param.annotation)
    if type(value) is Arr and (
        type(func.defaults.get(param.name)) is Py or parameters.may_be_python(m, func.scope, param.annotation)
    ):
        return UNKNOWN
    return value if value is not None else UNKNOWN


def inherited(m: Machine, f: Frame, at: int, obj: Inst, name: str) -> Value:
    """An attribute that neither the instance nor its project classes define."""
    role = m.class_roles.get(obj.cls.id)
    if role is not None and name in role.methods:
        return Method(obj, name)
    if obj.cls.pytree and name == "replace":
        return Method(obj, name)
    if name == "variant" and _has_variants(f, obj.cls):
        return Ext("jax.jit")  # chex runs a test once with `self.variant` as `jax.jit`
    if name in lexicon().errors.expecting_methods and obj.cls.extern:
        return Ext(f"unittest.case.TestCase.{name}")
    return UNKNOWN


def _has_variants(f: Frame, info: ClassInfo) -> bool:
    """Whether a test is one of chex that runs traced: its class has a base from there, or it stands under a decorator
    from there; and its ``@chex.variants(...)``, if there is one, asks for a variant that traces.
    """
    known = any(type(b) is Ext and b.dotted.startswith("chex.") for cls in mro(info) for b in cls.bases)
    for node in f.fn.node.decorators if f.fn is not None else ():
        if _asks_for_no_trace(node):
            return False
        known = _is_of_chex(f, node) or known
    return known


def _asks_for_no_trace(node: ir.Node) -> bool:
    if type(node) is not ir.Call or not isinstance(node.func, (ir.Attr, ir.Name)):
        return False
    name = node.func.name if isinstance(node.func, ir.Attr) else node.func.id
    if name == "all_variants":
        return {arg.name for arg in node.args if _is_declined(arg)} >= _TRACING
    return name == "variants" and not any(_asks_for_a_trace(arg) for arg in node.args)


def _is_of_chex(f: Frame, node: ir.Node) -> bool:
    while isinstance(node, (ir.Call, ir.Attr)):
        node = node.func if isinstance(node, ir.Call) else node.obj
    value = scopes.lookup(f, node.id) if type(node) is ir.Name else UNKNOWN
    return type(value) is Ext and value.dotted.partition(".")[0] == "chex"


def _asks_for_a_trace(arg: ir.Arg) -> bool:
    return bool(arg.star) or (arg.name in _TRACING and not _is_declined(arg))


_TRACING: Final = frozenset({"with_jit", "with_pmap"})
"""The variants of chex that trace."""


def _is_declined(arg: ir.Arg) -> bool:
    return type(arg.value) is ir.Const and not arg.value.value  # `with_jit=False`


def call_inherited(m: Machine, f: Frame, at: int, obj: Inst, args: Args) -> Value:
    """Calling an instance whose ``__call__`` comes from a library."""
    modes = 0
    for value in (*args.pos, *args.kw.values()):
        modes |= traced_modes(value)
    return Tree(modes | f.world.here, "", f.world.level, GUESSED) if obj.cls.extern and modes else UNKNOWN
