"""What annotations, defaults and uses say about a parameter that no known call fills (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.evidence import array_ground, parameter_evidence
from jitlint.infer.grounds import RULED, SAID, USED
from jitlint.infer.lattice import join
from jitlint.infer.objects import seen_as
from jitlint.infer.program import ClassInfo, ModuleInfo
from jitlint.infer.values import (
    INT,
    NONE,
    STATIC,
    STR,
    UNKNOWN,
    Arr,
    Class,
    Ext,
    Func,
    Inst,
    Mod,
    Py,
    Scope,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine import imports
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.builtin_names import BUILTINS
from jitlint.link.values import classes, flattening, pytrees
from jitlint.link.values.library_objects import is_initialiser
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

MAX_DEPTH = 3


def value_of(m: Machine, scope: Scope, node: ir.Node | None, depth: int = MAX_DEPTH) -> Value | None:
    """An untraced stand-in for "any value of this annotation", or None when it says nothing."""
    if node is None or depth <= 0:
        return None
    if type(node) is ir.Const:
        return NONE if node.kind == "none" else None
    if type(node) is ir.BinOp and node.op == "|":
        return _either(m, scope, [node.left, node.right], depth)
    if type(node) is ir.Sub:
        return _subscripted(m, scope, node, depth)
    found = resolve(m, scope, node)
    if found is UNKNOWN:
        return _alias(m, scope, node, depth)
    return _named(m, found, depth)


def _alias(m: Machine, scope: Scope, node: ir.Node, depth: int) -> Value | None:
    """What a name stands for that a module gives to an annotation: ``Array = Union[np.ndarray, jax.Array]``."""
    found = _meant(m, scope, node)
    if found is None or (found[0].name, found[2]) in m.resolving:
        return None
    info, meant, name = found
    m.resolving.add((info.name, name))
    value = value_of(m, info.scope, meant, depth)
    m.resolving.discard((info.name, name))
    return value


def _meant(m: Machine, scope: Scope, node: ir.Node) -> tuple[ModuleInfo, ir.Expr, str] | None:
    """The alias that a name of an annotation is: where it is written, what, and its name there."""
    if type(node) is ir.Attr:
        owner = resolve(m, scope, node.obj)
        return _written(m, owner.info, node.name) if type(owner) is Mod else None
    if type(node) is not ir.Name:
        return None
    while scope.parent is not None:
        scope = scope.parent
    info = m.by_scope.get(scope.key)
    return _written(m, info, node.id) if info is not None else None


def _written(
    m: Machine, info: ModuleInfo, name: str, hops: int = MAX_DEPTH
) -> tuple[ModuleInfo, ir.Expr, str] | None:
    """How a module, or the one that it imports the name from, writes an alias."""
    source = _source(m, info, name) if hops else None
    if source is not None:
        return _written(m, *source, hops - 1)
    meant = [
        statement.value
        for statement in info.tree.body
        if type(statement) is ir.Assign
        and any(type(t) is ir.Name and t.id == name for t in statement.targets)
    ]
    written = len(meant) == 1 and (type(meant[0]) is ir.Sub or _is_either(meant[0]))
    return (info, meant[0], name) if written else None


def _source(m: Machine, info: ModuleInfo, name: str) -> tuple[ModuleInfo, str] | None:
    """The module of the project that a name is imported from, and the name there."""
    for statement in info.tree.body:
        if type(statement) is ir.ImportFrom:
            part = next((p for p in statement.names if (p.asname or p.name) == name), None)
            base = imports.absolute(info, statement.module, statement.level)
            source = imports.find(m, info, base) if part is not None else None
            if part is not None and source is not None:
                return source, part.name
    return None


def _is_either(node: ir.Expr) -> bool:
    return type(node) is ir.BinOp and node.op == "|"


def may_be_python(m: Machine, scope: Scope, node: ir.Node | None, depth: int = MAX_DEPTH) -> bool:
    """Whether an annotation allows Python numbers beside arrays, as `jax.typing.ArrayLike` does."""
    if node is None or not depth:
        return False
    if type(node) is ir.BinOp and node.op == "|":
        return any(may_be_python(m, scope, side, depth) for side in (node.left, node.right))
    if type(node) is ir.Sub:
        parts = node.index.elts if type(node.index) is ir.Tuple else [node.index]
        base = resolve(m, scope, node.obj)
        either = type(base) is Ext and base.dotted in ("typing.Union", "typing.Optional")
        return either and any(may_be_python(m, scope, p, depth) for p in parts)
    found = resolve(m, scope, node)
    alias = _meant(m, scope, node) if found is UNKNOWN else None
    if alias is not None:
        return may_be_python(m, alias[0].scope, alias[1], depth - 1)
    return type(found) is Ext and (
        found.dotted in lexicon().types.scalars or found.dotted in lexicon().types.arrays_or_numbers
    )


def resolve(m: Machine, scope: Scope, node: ir.Node | None) -> Value:
    """What a name or dotted path of an annotation denotes, without evaluating it."""
    if type(node) is ir.Name:
        look: Scope | None = scope
        while look is not None:
            found = look.vars.get(node.id)
            if found is not None:
                return found
            look = look.parent
        return BUILTINS.get(node.id, UNKNOWN)
    if type(node) is ir.Attr:
        obj = resolve(m, scope, node.obj)
        if type(obj) is Ext:
            return Ext(m.catalogue.canonical(f"{obj.dotted}.{node.name}"))
        if type(obj) is Mod:
            return obj.info.scope.vars.get(node.name, UNKNOWN)
        if type(obj) is Class:
            return obj.info.namespace.get(node.name, UNKNOWN)
    return UNKNOWN


def _named(m: Machine, value: Value, depth: int) -> Value | None:
    if type(value) is Class:
        if any(
            type(b) is Ext and b.dotted in lexicon().types.number_enums
            for c in mro(value.info)
            for b in c.bases
        ):
            return INT
        return instance_of(m, value.info, depth - 1)
    if type(value) is not Ext:
        return None
    name = value.dotted
    if name in m.transforms.arrays:
        return Arr(0, kind=SAID)
    types = lexicon().types
    kinds = [Py(kind) for kind in types.scalars.get(name, ())]
    if kinds:
        return kinds[0] if len(kinds) == 1 else Union(tuple(kinds))
    if name in types.maps:
        return Tree(0, evidence="map")
    if name in types.sequences:
        return Tree(0, evidence="seq")
    if name in types.trees:
        return Tree(0)
    if name == "numpy.ndarray":
        return Arr(0, host=True, kind=SAID)
    return None


def _subscripted(m: Machine, scope: Scope, node: ir.Sub, depth: int) -> Value | None:
    base = resolve(m, scope, node.obj)
    name = base.dotted if type(base) is Ext else ""
    parts: list[ir.Expr] = list(node.index.elts) if type(node.index) is ir.Tuple else [node.index]
    if name in ("typing.Optional",):
        return _either(m, scope, [*parts, ir.Const(0, "none")], depth)
    if name in ("typing.Union",):
        return _either(m, scope, parts, depth)
    if name in ("typing.Annotated", "typing.Final", "typing.ClassVar") and parts:
        return value_of(m, scope, parts[0], depth)
    if name in ("builtins.tuple", "typing.Tuple") and not any(_is_ellipsis(p) for p in parts):
        items = [value_of(m, scope, p, depth - 1) for p in parts]
        return Tup(tuple(i if i is not None else UNKNOWN for i in items))
    if name == "typing.Literal":
        return STR
    return _named(m, base, depth)


def _is_ellipsis(node: ir.Expr) -> bool:
    return type(node) is ir.Const and node.kind == "ellipsis"


def _either(m: Machine, scope: Scope, parts: list[ir.Expr], depth: int) -> Value | None:
    values = [value_of(m, scope, p, depth) for p in parts]
    array = _array_among(values)
    if array is not None:
        return array
    out: Value | None = None
    for value in values:
        if value is None:
            return None
        out = value if out is None else join(out, value)
    return out


def _array_among(values: list[Value | None]) -> Value | None:
    """What several annotations mean together if one of them is an array; None if none is."""
    known = [alt for value in values if value is not None for alt in alternatives(value)]
    arrays = [alt for alt in known if type(alt) is Arr]
    if not arrays:
        return None
    if None in values or not all(isinstance(alt, (Arr, Py)) for alt in known):
        return Tree(0)  # an array or something that holds arrays
    if len({array.host for array in arrays}) > 1:
        return Tree(0, evidence="array", kind=SAID)  # of NumPy or of JAX
    return join(arrays[0], NONE) if any(alt is NONE for alt in known) else arrays[0]


def instance_of(m: Machine, info: ClassInfo, depth: int = MAX_DEPTH) -> Value | None:
    """A stand-in for "any instance of this class": fields by annotation, else what its constructor makes."""
    if info.shape == "namedtuple":
        return Tup(tuple(_field(m, info, name, depth) for name in info.fields), info, said=True)
    if info.shape == "dict":
        return Tree(0, evidence="map")  # which of its keys may be left out is not asked
    if info.shape == "dataclass" or info.pytree:
        attrs = {}
        for cls in reversed(mro(info)):
            for name in cls.fields:
                attrs[name] = _field(m, cls, name, depth)
        return Inst(info, attrs, 0, None, True)
    return classes.cold_instance(m, info)


def _field(m: Machine, info: ClassInfo, name: str, depth: int) -> Value:
    annotation, default = info.fields[name]
    value = value_of(m, info.scope, annotation, depth)
    if (value is None or value is UNKNOWN) and default is not None and is_initialiser(default):
        return default  # whichever is given instead is called alike
    if type(value) is Arr and may_be_python(m, info.scope, annotation):
        return join(value, STATIC)  # a number of any kind
    return value if value is not None else UNKNOWN


def generic(m: Machine, func: Func, name: str, meant: bool = False) -> Value:
    """What `_stand_in` gives; that it will be traced is what the transform rules, nobody is seen to pass it."""
    value = _stand_in(m, func, name, meant)
    if type(value) is Arr or type(value) is Tree:
        value.traced = RULED
    return value


def _stand_in(m: Machine, func: Func, name: str, meant: bool) -> Value:
    """What a parameter may be when a transform's caller is not known: an untraced value that is then lifted.

    ``meant``: the function is only meant to be traced; then a parameter counts as an array only when its
    annotation or its uses say so, and everything else stays unknown.
    """
    param = next((p for p in func.fn.node.params if p.name == name), None)
    if param is None:
        return Tree(0)
    if param.annotation is not None:
        value = value_of(m, func.scope, param.annotation)
        if value is not None:
            if type(value) is Tree and value.evidence == "":
                value = Tree(0, evidence=parameter_evidence(func.fn).get(name, ""))
            return _of_library_use(value) if meant else _as_argument(func, name, value)
    kind = parameter_evidence(func.fn).get(name, "")
    ground = array_ground(func.fn, name)
    if meant and kind != "array":
        return UNKNOWN
    if kind == "array":
        return Arr(0, kind=ground)
    return Tree(0, evidence=kind, kind=ground if kind == "array" else USED)


def _as_argument(func: Func, name: str, value: Value) -> Value:
    """What an annotated parameter of a staged function gets: a number of any type, an array that is used as one."""
    if type(value) is Arr and not value.host and array_ground(func.fn, name) is USED:
        return Arr(0, kind=RULED)  # said and used: two grounds that agree
    return _as_leaves(value, MAX_DEPTH)


def _as_leaves(value: Value, depth: int) -> Value:
    """What is passed for an annotated value, leaf by leaf: `x: float` says little of the dtype and the rank."""
    if all(type(a) is Py and a.kind in pytrees.NUMBERS for a in alternatives(value)):
        return Arr(0, kind=SAID)
    if depth and type(value) is Tup and value.said:
        return value.of([_as_leaves(item, depth - 1) for item in value.items])
    if depth and type(value) is Inst and value.open and flattening.is_pytree(value.cls):
        static = flattening.static_names(value)
        return seen_as(
            value, {k: v if k in static else _as_leaves(v, depth - 1) for k, v in value.attrs.items()}
        )
    return value


def _of_library_use(value: Value) -> Value:
    """An annotated parameter of a function that a library is meant to trace: Python values stay settings."""
    if any(type(a) is Py and a.kind != "none" for a in alternatives(value)):
        return UNKNOWN if type(value) is Union else Py("static")
    return UNKNOWN if value is NONE else value


def _is_said_object(m: Machine, func: Func, name: str) -> bool:
    """Whether an annotation names a class of the project, which may have operators of its own."""
    param = next((p for p in func.fn.node.params if p.name == name), None)
    return param is not None and type(resolve(m, func.scope, param.annotation)) is Class


def refine(m: Machine, func: Func, bound: dict[str, Value]) -> None:
    """Let the function's own uses say what an unknown pytree among its arguments is, unless it says so itself."""
    for name, value in bound.items():
        if type(value) is Tree and value.evidence == "" and value.modes:
            kind = parameter_evidence(func.fn).get(name, "")
            if kind and not (kind == "array" and _is_said_object(m, func, name)):
                bound[name] = Tree(value.modes, value.why, value.level, value.traced, kind, USED)


def host_frame(m: Machine, func: Func) -> Frame:
    """A caller's frame for running a function that nobody in the project calls."""
    frame = Frame(
        func.fn.module, func.scope, HOST, None, 0, ground="test" if func.fn.module.is_test else "jit"
    )
    frame.token = object()
    return frame
