"""Calls of library names: which of the models answers (layer: ``link``, room ``models``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Optional

import msgspec

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import GUESSED
from jitlint.infer.lattice import traced_modes, why_of
from jitlint.infer.program import FuncInfo
from jitlint.infer.spreading import VARIES
from jitlint.infer.values import (
    NO_CONST,
    TRUE,
    UNKNOWN,
    Arr,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Partial,
    Py,
    Tree,
    Value,
    alternatives,
    const_of,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.domain import Store
from jitlint.link.engine.events import tracer_inside
from jitlint.link.engine.frame import Args, Frame, result_level
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import arrays, binding, layers, making, numpy_calls, results, shape_calls
from jitlint.link.models.frameworks import train_states
from jitlint.link.models.jax import boundaries, carries, directions, exporting, higher, jax_calls, xforms
from jitlint.link.models.maps import varying
from jitlint.link.models.python import builtin_calls as python_calls
from jitlint.link.models.python import dispatch, stdlib_calls
from jitlint.link.models.trees import leaves
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.tables.results import only_result
from jitlint.link.values import callbacks, classes, hashing
from jitlint.link.values.library_objects import COMPILED, is_initialiser, made, makes_initialiser, variable
from jitlint.link.values.questions import sorting
from jitlint.syntax import ir

Handler = Callable[[Machine, Frame, int, Args], Value]

MEMO = "functools.lru_cache.cached"
_PARTIAL: Final = "jax.tree_util.Partial"
_BOUND: Final = "$bound"
WRAPS = "functools.wraps.applied"


def call(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value:
    """Call the library function ``dotted`` (a canonical name)."""
    out = _call(m, f, at, dotted, args)
    if f.world.spread:
        out = varying.after_library(f, dotted, args, out)
    answer = m.domains.on_library(f, at, dotted, args, out)
    return out if answer is None else answer


def _call(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value:
    if dotted in lexicon().arrays.sorts_keys and sorting.refuses(m, f, at, dotted, args):
        return UNKNOWN
    handler = _HANDLERS[dotted]
    if handler is not None:
        args = _asked_leaves(m, f, at, args)
        if dotted.startswith("jax.") and _refuses(m, f, at, dotted, args):
            return UNKNOWN
        return handler(m, f, at, args)
    made = _described(m, f, at, dotted, args)
    if made is not None:
        return made
    fn = m.catalogue.function(dotted)
    if fn is not None:
        if args.kw:
            args = _asked_leaves(m, f, at, args)
        out = arrays.call_api(m, f, at, fn, args)
        return making.initialiser(dotted, args) if makes_initialiser(dotted, out) else out
    if m.catalogue.constant(dotted) == "dtype" and args.pos:
        return _dtype_call(m, f, dotted, args)
    numpy = m.catalogue.numpy(dotted)
    if numpy is not None:
        return numpy_calls.call_numpy(m, f, at, numpy, args)
    tables = m.transforms
    if dotted in tables.layers:
        arrays.check_layer(m, f, at, dotted, tables.layers[dotted], args)
    if dotted in tables.roles or any(dotted.startswith(p) for p in tables.modules):
        return layers.pooled(m, f, at, dotted, args) or layers.made(m, dotted, args)
    if dotted in lexicon().types.modules:
        return _call_module(m, f, at, dotted)
    return _unknown(m, f, at, dotted, args)


def _described(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value | None:
    if dotted in m.transforms.variables:
        return variable(f, dotted, args)
    return _transformed(m, f, at, dotted, args) or shape_calls.answered(m, f, at, dotted, args)


def _transformed(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value | None:
    """A call of what takes functions: transforms, loops and branches of JAX, decorators; None for anything else."""
    tables = m.transforms
    wrap, spec = tables.wraps.get(dotted), tables.calls.get(dotted)
    known = wrap or spec
    if known is not None and not boundaries.takes(m, f, at, known, args):
        if spec is not None:
            _run_by(m, f, at, spec, args)  # what else is wrong shows when the call is mended
        return UNKNOWN
    if wrap is not None:
        return xforms.apply(m, f, at, wrap, args)
    if spec is not None:
        return _run_by(m, f, at, spec, args)
    kind = tables.decorators.get(dotted)
    if kind is not None:
        return _decorate(m, f, at, dotted, kind, args)
    handed = tables.handed.get(dotted)
    return None if handed is None else callbacks.hand_over(m, f, handed, args)


def _run_by(m: Machine, f: Frame, at: int, spec: HigherOrder, args: Args) -> Value:
    """A call of what runs functions at once."""
    if spec.curried and len(args.pos) < len(spec.params):
        return Partial(Ext(spec.name), args.pos, args.kw)
    if spec.params[0] not in args.kw and not args.pos:
        return UNKNOWN
    if spec.name.startswith("jax.") and sorting.refuses(m, f, at, spec.name, args):
        return UNKNOWN
    _ask_leaves(m, f, at, args)  # what it takes for leaves is followed there
    return higher.run(m, f, at, spec, args)


def _asked_leaves(m: Machine, f: Frame, at: int, args: Args) -> Args:
    """The arguments of a function over pytrees, in the light of ``is_leaf``."""
    if "is_leaf" not in args.kw:
        return args
    _ask_leaves(m, f, at, args)
    return leaves.without_told(m, f, at, args)


def _ask_leaves(m: Machine, f: Frame, at: int, args: Args) -> None:
    """Functions over pytrees ask the one given as ``is_leaf`` about every node."""
    if f.world.level and args.kw and type(args.kw.get("is_leaf")) is Func:
        callbacks.run_callbacks(m, f, at, Args([args.kw["is_leaf"]]), surely=True)


def _refuses(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> bool:
    """Whether a function that a model of its own answers is called in a form that it does not have; its static arguments
    are looked at, too."""
    fn = m.catalogue.function(dotted)
    if fn is None:
        return False
    arrays.check_static(m, f, at, fn, args, skip=lexicon().python.own_checks.get(dotted, ""))
    return binding.check(m, f, at, fn, args, results.bind(fn, args), None)


class _Handlers(dict[str, Optional[Handler]]):
    """The model of a library function, None if it has none; looked for once per name."""

    def __missing__(self, dotted: str) -> Handler | None:
        found = self[dotted] = (
            python_calls.BUILTIN_CALLS.get(dotted)
            or jax_calls.JAX_CALLS.get(dotted)
            or stdlib_calls.handler_of(dotted)
            or _OWN.get(dotted)
        )
        return found


_HANDLERS: Final = _Handlers()


def _call_module(m: Machine, f: Frame, at: int, dotted: str) -> Value:
    """A module of JAX is called, most often in the place of the function of its name."""
    inside = f"{dotted}.{dotted.rpartition('.')[2]}"
    known = (
        m.catalogue.function(inside) is not None or m.catalogue.canonical(inside) in m.catalogue.transforms
    )
    m.emit(
        f, ApiMisuse, at, None, api=dotted, problem="wrong-call", detail="module", cure=inside if known else "",
        exception="TypeError",
    )  # fmt: skip
    return UNKNOWN


def _unknown(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value:
    """A library function nobody described: its result may hold what its arguments held."""
    modes = 0
    why = ""
    if (
        dotted in lexicon().errors.expecting
        or dotted.rpartition(".")[2] in lexicon().errors.expecting_methods
    ):
        callbacks.run_expecting(m, f, at, args)
        return made(f, dotted)
    if f.world.level:
        callbacks.run_callbacks(m, f, at, args)
    if "register" in dotted:
        for value in args.pos:
            if type(value) is Class:
                value.info.pytree = True
                value.info.extern = True
    for value in (*args.pos, *args.kw.values()):
        part = traced_modes(value, 2)
        modes |= part
        why = why or (why_of(value) if part else "")
    if modes:
        return Tree(modes | f.world.here, why, result_level(f, (*args.pos, *args.kw.values())), GUESSED)
    return ExtInst(dotted, dict(args.kw)) if dotted.endswith("field") else made(f, dotted)


def call_instance(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """Call an object of a library: a layer maps arrays to arrays."""
    own = _INSTANCES.get(obj.dotted)
    if own is not None:
        return own(m, f, at, obj, args)
    modes = 0
    why = ""
    for value in (*args.pos, *args.kw.values()):
        modes |= traced_modes(value, 2) & ~VARIES
        why = why or why_of(value)
    m.domains.on_library(f, at, f"{obj.dotted}.__call__", args, owner=obj)
    sized = _initialised(m, f, at, obj, args) if is_initialiser(obj) else layers.called(m, f, at, obj, args)
    if sized is not None:
        return sized
    if any(obj.dotted.startswith(p) for p in m.transforms.modules):
        here = modes | f.world.here
        return Tree(here, why or "a layer of a traced function", f.world.level) if here else UNKNOWN
    if modes:
        return Tree(modes | f.world.here, why, f.world.level, GUESSED)
    first = args.pos[0] if args.pos else UNKNOWN
    return first if type(first) in (Func, Class) and len(args.pos) == 1 and not args.kw else UNKNOWN


def _initialised(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value | None:
    """What an initialiser draws, or fills: numbers of a shape, as `jax.random.normal` does."""
    fn = m.catalogue.function(making.DRAWS)
    drawn = making.drawn(obj, args)
    if fn is None or drawn is None:
        return None
    if tracer_inside(drawn.pos[1]) is not None:
        fn = msgspec.structs.replace(fn, name=obj.dotted)
    return arrays.call_api(m, f, at, fn, drawn)


def _pulled_back(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """What `jax.vjp` gave is called."""
    loop = obj.attrs["loop"]
    if type(loop) is Py and loop.const:
        carries.emit_reverse(m, f, at, str(loop.const))
    directions.check_cotangent(m, f, at, obj, args)
    return directions.pulled_back(f, obj, args)


def _dtype_call(m: Machine, f: Frame, dotted: str, args: Args) -> Value:
    """``jnp.float32(x)``."""
    value = args.pos[0]
    here = f.world.here
    rank = results.nested_rank(value)
    return Arr(
        traced_modes(value) | here,
        results.dtype_named(Ext(dotted)),
        rank,
        why_of(value),
        result_level(f, [value]),
    )


def _decorate(m: Machine, f: Frame, at: int, dotted: str, kind: str, args: Args) -> Value:
    """A decorator of the catalogue, applied or only configured."""
    target = args.pos[0] if args.pos else None
    if kind == "wraps":
        return Partial(Ext(WRAPS), [target], {}) if target is not None else UNKNOWN
    if target is None or type(target) is Py:
        return Partial(Ext(dotted), [], dict(args.kw))
    if kind == "identity":
        return target
    if kind == "memo":
        return Partial(Ext(MEMO), [target], {})
    if kind == "cached_property":
        return Descr("cached_property", target)
    if type(target) is Class:
        target.info.frozen |= _freezes(dotted, args.kw.get("frozen"))
        return classes.decorate(m, f, at, kind, target, {**args.kw, **_register_options(args)})
    return target


def _freezes(dotted: str, frozen: Value | None) -> bool:
    """Whether a decorator makes a class whose fields cannot be assigned."""
    return frozen is TRUE or (frozen is None and dotted in lexicon().types.freezing)


def _register_options(args: Args) -> dict[str, Value]:
    """``register_dataclass(cls, data_fields, meta_fields)`` by position."""
    return dict(zip(("data_fields", "meta_fields"), args.pos[1:]))


def _partial(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if not args.pos:
        return UNKNOWN
    func = args.pos[0]
    if args.more is not None or args.kw_more is not None:
        keywords = {**args.kw, **({"**": args.kw_more} if args.kw_more is not None else {})}
        keywords |= {"*": args.more} if args.more is not None else {}
        return Partial(func, list(args.pos[1:]), keywords, (f.module.name, at))
    if type(func) is Ext and func.dotted in m.transforms.wraps and len(args.pos) == 1:
        return Partial(func, [], dict(args.kw), (f.module.name, at))
    return Partial(func, list(args.pos[1:]), dict(args.kw), (f.module.name, at))


def _tree_partial(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A function with arguments bound that is a pytree of these."""
    out = _unknown(m, f, at, _PARTIAL, args)
    if not args.pos or args.more is not None or args.kw_more is not None:
        return out
    return ExtInst(_PARTIAL, {**made(f, _PARTIAL).attrs, _BOUND: _partial(m, f, at, args)})


def _call_partial(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    function = obj.attrs.get(_BOUND)
    return UNKNOWN if function is None else evaluator.call(m, f, at, function, args)


def _memo_call(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A call through ``lru_cache``: the arguments are hashed, and nothing is kept when one of them refuses."""
    refused = False
    for value in (*args.pos[1:], *args.kw.values()):
        refused |= hashing.hashed(m, f, at, value, "lru_cache")
    func = args.pos[0]
    result = evaluator.call(m, f, at, func, Args(args.pos[1:], args.kw, args.more, args.kw_more))
    if type(func) is Func and not refused:
        given = [const_of(v) for v in (*args.pos[1:], *args.kw.values())]
        call = (func.fn.id, func.scope.key, repr(given)) if NO_CONST not in given else None
        if call is not None and not f.world.level:
            m.filled.add(call)
        if call not in m.filled:
            m.domains.on_store(f, Store(at, "lru_cache", func, func, result))
    return result


def _wraps_apply(m: Machine, f: Frame, at: int, args: Args) -> Value:
    if len(args.pos) != 2:
        return UNKNOWN
    wrapped, wrapper = args.pos
    for alt in alternatives(wrapper):
        if type(alt) is Func:
            alt.wraps = wrapped
    if type(wrapper) is Func and type(wrapped) is Func and _hands_on(wrapper, wrapped):
        wrapper.fn.cold = True  # nobody calls the wrapper itself
        return wrapped
    return wrapper


def _hands_on(wrapper: Func, wrapped: Func) -> bool:
    """Whether all that a wrapper does is ``return wrapped(*args, **kwargs)``: calling it is calling what it wraps."""
    call, params = only_result(wrapper.fn.body), wrapper.fn.node.params
    if type(call) is not ir.Call or type(call.func) is not ir.Name or wrapper.fn.node.decorators[1:]:
        return False
    taken = {(p.name, {"var": 1, "kwvar": 2}.get(p.kind, 0)) for p in params}
    given = {(a.value.id, a.star) for a in call.args if type(a.value) is ir.Name and a.name is None}
    plain = wrapper.fn.node.is_async or wrapper.fn.node.is_generator
    around = wrapper.scope.fn
    if plain or around is None or len(params) != 2 or {star for _, star in taken} != {1, 2}:
        return False
    stays = [p.name for p in around.node.params].count(call.func.id) and not _rebinds(around, call.func.id)
    return bool(stays) and taken == given and wrapper.scope.vars.get(call.func.id) is wrapped


def _rebinds(fn: FuncInfo, name: str) -> bool:
    """Whether a function, or one inside it, may give one of its parameters another value."""
    inner = any(name in other.node.nonlocal_names for other in fn.module.functions)
    return inner or name in CodeTable(fn.module, fn.body).bound


def _update_wrapper(m: Machine, f: Frame, at: int, args: Args) -> Value:
    wrapper, wrapped = args.get(0, "wrapper"), args.get(1, "wrapped")
    if wrapper is None or wrapped is None:
        return UNKNOWN
    return _wraps_apply(m, f, at, Args([wrapped, wrapper]))


_INSTANCES: Final[dict[str, Callable[[Machine, Frame, int, ExtInst, Args], Value]]] = {
    COMPILED: exporting.run_compiled,
    dispatch.DISPATCH: dispatch.call,
    jax_calls.UNRAVEL: jax_calls.unravelled,
    higher.PULLBACK: _pulled_back,
    _PARTIAL: _call_partial,
    numpy_calls.FOR_EACH: numpy_calls.for_each,
    exporting.EXPORTER: exporting.exported,
    exporting.CALL: exporting.called,
}

_OWN: dict[str, Handler] = {
    "flax.nnx.List": lambda m, f, at, args: _call(m, f, at, "builtins.list", args),
    "flax.nnx.data": lambda m, f, at, args: args.pos[0] if args.pos else UNKNOWN,
    f"{train_states.STATE}.create": train_states.create,
    "functools.partial": _partial,
    "functools.update_wrapper": _update_wrapper,
    MEMO: _memo_call,
    _PARTIAL: _tree_partial,
    WRAPS: _wraps_apply,
}
