"""Constructors that refuse what JAX puts a pytree together with (layer: ``link``, room ``domains``).

JAX calls the function that puts an object together with whatever a transform makes of its leaves: batches with one axis more,
gradients that are negative, `None`, placeholders. What it does: reads whether that function is nothing but the constructor, and whether
this raises for the shape, the type or the value of a leaf; or ``__post_init__`` for its shape, where the constructor of a dataclass
is called in any case, or whether that takes other arguments than the fields. What it does not: speak of checks that know of such leaves, by the words in their conditions, or that look only
at what is static.
Source: https://docs.jax.dev/en/latest/pytrees.html#custom-pytrees-and-initialization
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse, Truth
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Func
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import bound_by, by_parameter, last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import flattening, parameters
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir
from jitlint.syntax.children import below

_AWARE: Final = frozenset(
    {
        "object",
        "hasattr",
        "is_array",
        "is_array_like",
        "ShapeDtypeStruct",
        "PyTreeDef",
        "isinstance",
        "type",
        "callable",
    }
)
"""Words in conditions of who knows that a leaf may be anything."""
_NO_FIELDS: Final = frozenset({"ClassVar", "KW_ONLY", "InitVar"})
_FORMS: Final = frozenset({"shape", "ndim"})
_SIZES: Final = _FORMS | {"size"}
_EQUAL: Final = frozenset({"==", "!="})
_ORDER: Final = frozenset({"<", "<=", ">", ">="})


class _Check(NamedTuple):
    """Where a constructor, or a function that it hands a leaf to, raises for the leaf."""

    leaf: str
    fn: FuncInfo
    at: int


def check(m: Machine) -> None:
    """Record functions that put an object together by a constructor which may refuse."""
    for info in m.classes:
        if not info.pytree or (info.extern and info.rebuilt is None) or info.module.is_test:
            continue
        _check_fields(m, info)
        _check_names(m, info)
        unflatten, init = _unflatten(info), function_of(member(info, "__init__"))
        call = _constructing(unflatten) if unflatten is not None else None
        if unflatten is None or init is None or call is None:
            continue
        found = next(_checks(m, init, _leaves(info, init)), None)
        if found is not None:
            frame = Frame(unflatten.module, unflatten.module.scope, HOST, ground="jit")
            step = Step(found.fn.module.name, found.at, f"`{found.fn.qualname}` raises for some here")
            m.emit(
                frame, TransformMisuse, call.at, None, Confidence.LIKELY, where=(unflatten.module.name, unflatten.qualname),
                when=(_Unsaid(found),),
                problem="refusing-constructor", parameter=found.leaf, detail=info.name, also=(step,),
            )  # fmt: skip


def _check_fields(m: Machine, info: ClassInfo) -> None:
    """Record a dataclass that refuses the form of a leaf once its fields are set."""
    post = function_of(member(info, "__post_init__")) if _is_called_each_time(info) else None
    if post is None:
        return
    data = flattening.data_names(info)
    own = {name for name, (_, default) in info.fields.items() if not flattening.is_static_field(default)}
    kept = _untouched(post, own - info.meta_fields if data is None else data)
    for part in _raising(post):
        leaf = _asked(below(part.test), kept, forms=True)
        if leaf:
            raised = [one for one in part.body if type(one) is ir.Raise] if type(part) is ir.If else [part]
            frame = Frame(post.module, post.module.scope, HOST, ground="jit")
            m.emit(
                frame, TransformMisuse, raised[0].at, None, Confidence.LIKELY, where=(post.module.name, post.qualname),
                when=(_Unsaid(_Check(leaf, post, part.at)),),
                problem="refusing-dataclass", parameter=leaf, detail=info.name,
            )  # fmt: skip
            return


def _is_called_each_time(info: ClassInfo) -> bool:
    """Whether the constructor of a dataclass is what puts its objects together."""
    if info.extern or info.constructed:
        return info.constructed and not info.extern
    unflatten = _unflatten(info) if info.shape == "dataclass" else None
    return unflatten is not None and _constructing(unflatten) is not None


def _check_names(m: Machine, info: ClassInfo) -> None:
    """Record a constructor of a registered dataclass that does not take the fields, which JAX gives it by name. One that a base has is
    replaced by that of the decorator."""
    init = function_of(info.namespace.get("__init__"))
    told = info.constructed and info.data_fields is not None and not info.opaque_flatten
    if (
        init is None
        or init.resigned
        or not told
        or info.extern
        or info.metaclass
        or "__new__" in info.namespace
    ):
        return
    odd = _foreign(info, init)
    if odd:
        frame = Frame(init.module, init.module.scope, HOST, ground="jit")
        m.emit(
            frame, TransformMisuse, init.node.at, None, Confidence.LIKELY, where=(init.module.name, init.qualname),
            problem="foreign-constructor", parameter=odd, detail=info.name,
        )  # fmt: skip


def _foreign(info: ClassInfo, init: FuncInfo) -> str:
    """What a constructor lacks, or wants beside the fields, in words; "" if it takes them all, and needs nothing else."""
    params = init.node.params[1:]
    lacking = _untaken(info, params)
    if lacking:
        return f"takes no `{lacking}`"
    known = {*info.fields, *(info.data_fields or ()), *info.meta_fields}
    wanted = [param.name for param in params if param.default is None and param.kind not in ("var", "kwvar")]
    return next((f"needs `{name}`" for name in wanted if name not in known), "")


def _untaken(info: ClassInfo, params: Sequence[ir.Param]) -> str:
    """The first field that a constructor does not take by name, or ""."""
    if any(param.kind == "kwvar" for param in params):
        return ""
    data = info.data_fields or frozenset()
    given = [name for name in info.fields if name in data] or sorted(data)
    taken = {param.name for param in params if param.kind in ("any", "kwonly")}
    return next((name for name in given if name not in taken and not _is_of_class(info, name)), "")


def _is_of_class(info: ClassInfo, name: str) -> bool:
    """Whether an annotation says that no object has a value of its own."""
    annotation = info.fields[name][0] if name in info.fields else None
    text = annotation.value if type(annotation) is ir.Const else None
    named = annotation.obj if type(annotation) is ir.Sub else annotation
    return isinstance(text, str) or (named is not None and last_name(named) in _NO_FIELDS)


class _Unsaid:
    """Of a constructor that refuses: it holds if no trace was seen to run into its check, which is said there."""

    __slots__ = ("_check",)

    def __init__(self, check: _Check) -> None:
        self._check = check

    def holds(self, found: Found) -> bool:
        """Whether nothing is said of that function."""
        fn = self._check.fn
        places = (event.place for event in found.values() if type(event) is Truth)
        return all((place.module, place.function) != (fn.module.name, fn.qualname) for place in places)


def _unflatten(info: ClassInfo) -> FuncInfo | None:
    """What puts an object of a class together, of the class itself or its own method."""
    if info.rebuilt is not None:
        return function_of(info.rebuilt[1])
    return function_of(member(info, "tree_unflatten")) if member(info, "tree_flatten") is not None else None


def _constructing(unflatten: FuncInfo) -> ir.Call | None:
    """The call of the constructor, if that is all: ``cls(*children)``."""
    call = only_returned(unflatten.parts)
    given = type(call) is ir.Call and type(call.func) is ir.Name and any(arg.star for arg in call.args)
    return call if given and type(call) is ir.Call else None


def _leaves(info: ClassInfo, init: FuncInfo) -> frozenset[str]:
    """The parameters of a constructor that are leaves, where it is known."""
    params = [param.name for param in init.node.params[1:] if param.kind in ("pos", "any")]
    data = flattening.data_names(info)
    if data is not None:
        return data.intersection(params)
    flatten = function_of(info.rebuilt[0]) if info.rebuilt is not None else None
    pair = only_returned(flatten.parts) if flatten is not None else None
    nothing_else = type(pair) is ir.Tuple and len(pair.elts) == 2 and _is_empty(pair.elts[1])
    return frozenset(params) if nothing_else else frozenset()


def _is_empty(node: ir.Node) -> bool:
    return (type(node) is ir.Const and node.kind == "none") or (type(node) is ir.Tuple and not node.elts)


def _checks(m: Machine, init: FuncInfo, leaves: frozenset[str]) -> Iterator[_Check]:
    """Where a constructor refuses a leaf, itself or in a function that it calls."""
    kept = _untouched(init, leaves)
    yield from _refusals(init, kept)
    scope = init.values[0].scope if init.values else init.module.scope
    for call in (part for part in init.parts if type(part) is ir.Call) if kept else ():
        called = parameters.resolve(m, scope, call.func)
        if type(called) is not Func or called.fn.node.is_generator:
            continue
        given = {
            name: node.id
            for name, node in by_parameter(call, called.fn.node.params)
            if name and type(node) is ir.Name and node.id in kept
        }
        for found in _refusals(called.fn, frozenset(given)):
            yield found._replace(leaf=given[found.leaf])


def _untouched(init: FuncInfo, leaves: Iterable[str]) -> frozenset[str]:
    """Leaves that a constructor checks as it gets them."""
    return frozenset(leaves).difference(*map(bound_by, init.parts))


def _refusals(fn: FuncInfo, leaves: frozenset[str]) -> Iterator[_Check]:
    for part in _raising(fn) if leaves else ():
        leaf = _asked(below(part.test), leaves)
        if leaf:
            yield _Check(leaf, fn, part.at)


def _raising(fn: FuncInfo) -> Iterator[ir.If | ir.Assert]:
    """The statements that raise for some condition."""
    for part in fn.parts:
        raises = type(part) is ir.If and any(type(one) is ir.Raise for one in part.body)
        if isinstance(part, ir.Assert) or (raises and isinstance(part, ir.If)):
            yield part


def _asked(test: Sequence[ir.Node], leaves: frozenset[str], forms: bool = False) -> str:
    """The leaf whose form or value a condition asks for, "" if it asks for none, or knows that it may be anything. forms: of an
    attribute of the object itself, and no value."""
    if _is_aware(test):
        return ""
    trailing = {id(part.obj) for part in test if type(part) is ir.Sub and _counts_from_end(part.index)}
    looked_at = [part for part in (_equated(test) if forms else test) if id(part) not in trailing]
    asked = [name for part in looked_at for name in (_own_form(part) if forms else _compared(part))]
    return next((name for name in asked if name in leaves), "")


def _compared(part: ir.Node) -> list[str]:
    """The names whose form is asked, or that something is larger or smaller than."""
    if type(part) is ir.Attr and part.name in _FORMS:
        return [last_name(part.obj)]
    if type(part) is not ir.Compare or _ORDER.isdisjoint(part.ops):
        return []
    plain = [one for one in (part.left, *part.rights) if not _has_form(one)]
    return [one.id for one in below(plain) if type(one) is ir.Name]


def _is_aware(test: Sequence[ir.Node]) -> bool:
    """Whether a condition has a word of who knows that a leaf may be anything."""
    names = [part for part in test if type(part) is ir.Name and part.id in _AWARE]
    return any(not _is_of_tracer(name, test) for name in names)


def _equated(test: Sequence[ir.Node]) -> list[ir.Node]:
    """What must be equal to something, or must not."""
    comparisons = [part for part in test if type(part) is ir.Compare and not _EQUAL.isdisjoint(part.ops)]
    return [one for part in comparisons for one in below([part.left, *part.rights])]


def _own_form(part: ir.Node) -> list[str]:
    """The attribute of the object whose form is asked: ``self.scale.ndim``."""
    held = part.obj if type(part) is ir.Attr and part.name in _FORMS else None
    return [held.name] if type(held) is ir.Attr and type(held.obj) is ir.Name else []


def _has_form(node: ir.Node) -> bool:
    """Whether an expression is about the form of something: that is looked at by itself."""
    return any(type(part) is ir.Attr and part.name in _SIZES for part in below(node))


def _counts_from_end(index: ir.Node) -> bool:
    """Whether an index is of the last axes, which a batch has as well."""
    node = index.lo if type(index) is ir.Slice else index
    return type(node) is ir.UnaryOp or (
        type(node) is ir.Const and isinstance(node.value, int) and node.value < 0
    )


def _is_of_tracer(name: ir.Name, test: Sequence[ir.Node]) -> bool:
    """Whether a condition only asks whether something is a tracer: what is none may be anything all the same."""
    calls = [part for part in test if type(part) is ir.Call and part.func is name]
    return any(last_name(arg.value) == "Tracer" for call in calls for arg in call.args)
