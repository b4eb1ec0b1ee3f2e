"""Calls of methods of arrays, updates, containers, library objects and transformed functions (layer: ``link``, room ``models``)."""

from __future__ import annotations

from typing import Any

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.dims import shape_text
from jitlint.infer.events import ApiMisuse, OutOfBounds
from jitlint.infer.grounds import GUESSED, SEEN, USED
from jitlint.infer.lattice import traced_modes, why_of
from jitlint.infer.mappings import COLLECTIONS
from jitlint.infer.objects import forget_notes
from jitlint.infer.spreading import VARIES
from jitlint.infer.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Arr,
    At,
    Bound,
    Class,
    Descr,
    ExtInst,
    Inst,
    Py,
    Seq,
    Super,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.domain import Change
from jitlint.link.engine.events import emit_convert, hurt
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import arrays, layers, numpy_calls, results, shapes
from jitlint.link.models.frameworks import train_states
from jitlint.link.models.python import command_lines, containers, dispatch
from jitlint.link.values import bounds, classes, fitting, pytrees, subscripts
from jitlint.link.values.library_objects import APPLIED, COLLECTION, COMPILED, LOWERED, VARIABLE
from jitlint.link.values.questions import about, colliding, cutting, outside, padded
from jitlint.link.values.questions.kinds import find_method


def call(m: Machine, f: Frame, at: int, obj: Value, name: str, args: Args) -> Value:
    """``obj.name(...)`` for receivers that are no project objects."""
    t = type(obj)
    a: Any = obj
    if t is Arr:
        return _array(m, f, at, a, name, args)
    if t is Tree:
        return _tree(m, f, at, a, name, args)
    if t is At:
        return _update(m, f, at, a, name, args)
    found = containers.call_method(m, f, at, obj, name, args)
    if found is not None:
        return found
    if t is Xform:
        return _transformed(m, f, at, a, name, args)
    if t is Inst:
        return _inherited(m, f, at, a, name, args)
    if t is ExtInst:
        return _library_object(m, f, at, a, name, args)
    if t is Super:
        return _super(m, f, at, a, name, args)
    if t is Descr:
        return Descr(a.kind, a.func, args.pos[0] if name == "setter" and args.pos else a.setter)
    return _of_class(m, f, at, a, name, args) if t is Class else UNKNOWN


def _of_class(m: Machine, f: Frame, at: int, cls: Class, name: str, args: Args) -> Value:
    """A method that a class has from a library."""
    if name == "create" and train_states.is_state(cls.info):
        return train_states.created(m, f, at, cls.info, args)
    return UNKNOWN


def _array(m: Machine, f: Frame, at: int, obj: Arr, name: str, args: Args) -> Value:
    if obj.host:
        if name in lexicon().arrays.host_in_place_methods:
            m.domains.on_change(f, Change(at, obj, name))
        if name == "resize":
            forget_notes(obj)
        if _is_other(name, args):
            return UNKNOWN
        if name in lexicon().arrays.converters:
            return STATIC
        return _of_numpy(m, obj, name, args)
    to = lexicon().arrays.converters.get(name)
    if to is not None:
        emit_convert(m, f, at, obj, to, name)
        return STATIC
    if name == "block_until_ready":
        return obj
    fn = m.catalogue.array_method(name)
    if fn is None:
        return UNKNOWN
    out = arrays.call_api(m, f, at, fn, args, obj)
    if type(out) is Arr and obj.kind is USED and out is not obj:
        out.kind = max(out.kind, USED)  # a method of what is perhaps of another class gives one of that class
    answer = m.domains.on_library(f, at, f"jax.Array.{name}", args, out, obj)
    return out if answer is None else answer


def _is_other(name: str, args: Args) -> bool:
    """Whether a method may be none of an array, or, of one of NumPy, give something else: of a tracer, or, as `x.view(Frozen)`, one
    of a class of its own."""
    traced = name != "dot" and any(traced_modes(value) for value in args.pos)
    return traced or any(type(value) is Class for value in args.pos)


def _of_numpy(m: Machine, obj: Arr, name: str, args: Args) -> Arr:
    """What a method of an array of NumPy gives: it has the axes that one of JAX's has."""
    out = Arr(0, None, None, "", 0, SEEN, True)
    out.about = about.kept(obj, name)
    fn = m.catalogue.array_method(name)
    in_place = name in lexicon().arrays.host_in_place_methods
    if fn is not None and not in_place and args.more is None and args.kw_more is None:
        bound = results.bind(fn, args)
        out.dtype = results.dtype_of_method(m, fn, bound, obj, name)
        rank = m.catalogue.rank(fn.name)
        out.rank = rank.of(results.described(bound, obj)) if rank is not None else None
        arrays.measure(m, fn, bound, obj, out)
    return out


def _tree(m: Machine, f: Frame, at: int, obj: Tree, name: str, args: Args) -> Value:
    found = containers.call_method(m, f, at, obj, name, args)
    if found is not None:
        return found
    arr = obj.leaf()
    fits = obj.evidence == "array" or not _is_other(name, args)
    if fits and (name in lexicon().arrays.converters or m.catalogue.array_method(name) is not None):
        return _array(m, f, at, arr, name, args)
    return Tree(obj.modes, obj.why, obj.level, GUESSED)


def _update(m: Machine, f: Frame, at: int, obj: At, name: str, args: Args) -> Value:
    """``x.at[i].set(v)``; the index was checked when it was applied."""
    fn = m.catalogue.update_method(name)
    if fn is not None:
        arrays.check_static(m, f, at, fn, args, f"x.at[i].{name}")
    arr: Any = hurt(obj.arr, 7)
    modes = traced_modes(obj.arr) | f.world.here
    why = arr.why if arr is not None else ""
    for value in (*args.pos, *([obj.index] if obj.index is not None else [])):
        modes |= traced_modes(value)
        why = why or why_of(value)
    base = next((x for x in alternatives(obj.arr) if type(x) is Arr), None)
    out = Arr(modes, base.dtype if base else None, base.rank if base else None, why, f.world.level)
    if "mode" not in args.kw and obj.index is not None:
        if obj.beyond:
            m.emit(f, OutOfBounds, at, base, index="", size=obj.beyond, update=name)
        elif type(obj.arr) is Arr:
            outside.check(m, f, at, obj.arr, obj.index, name)
    if base is not None:
        _shape_update(m, f, at, obj, base, name, args, out)
    return out


def _shape_update(m: Machine, f: Frame, at: int, obj: At, base: Arr, name: str, args: Args, out: Arr) -> None:
    """Note the shape of what an update gives, or a reading; record numbers that do not fit."""
    if name == "get":
        index = () if obj.index is None else subscripts.index_parts(obj.index)
        dims = bounds.after(fitting.dims_of(base), index) if index else None
        out.rank, out.dims = (None if dims is None else len(dims)), fitting.known(dims)
    elif base is obj.arr:
        out.dims = base.dims
        if obj.index is not None and name != "apply" and not obj.problem:
            _fill(m, f, at, base, obj.index, name, args)
            if name == "set":
                colliding.check(m, f, at, obj, args)
    if obj.index is not None and not obj.problem:
        padded.check(m, f, at, obj.index, name, args)


def _fill(m: Machine, f: Frame, at: int, arr: Arr, index: Value, name: str, args: Args) -> None:
    """Record numbers that do not fit into the place that they are to fill."""
    value = args.pos[0] if args.pos else args.kw.get("values")
    if value is not None:
        cutting.check_update(m, f, at, arr, name, value)
    room = (
        bounds.replaced(fitting.dims_of(arr), subscripts.index_parts(index)) if fitting.is_sure(arr) else None
    )
    dims = fitting.dims_of(value) if value is not None and fitting.is_sure(value) else None
    if value is not None and room is not None and dims and not shapes.fits_into(dims, room):
        how, detail = (
            ("place-sizes", f"{shape_text(dims)} as {shape_text(room)}")
            if room
            else ("element", shape_text(dims))
        )
        fitting.report(m, f, at, f"x.at[i].{name}", how, detail, value)


def _transformed(m: Machine, f: Frame, at: int, x: Xform, name: str, args: Args) -> Value:
    if name in lexicon().arrays.rule_methods:
        m.ruled |= {x.site, (f.module.name, at)}
        kinds = ("fwd", "bwd") if name in ("defvjp", "def_vjp") else ("jvp",)
        if name == "def_fwd":
            kinds = ("fwd",)
        elif name == "def_bwd":
            kinds = ("bwd",)
        if name != "defjvps" and x.spec.custom in ("jvp", "vjp"):
            given = [(kind, args.get(i, kind)) for i, kind in enumerate(kinds)]
            x.rules.extend([(kind, rule) for kind, rule in given if rule is not None])
            m.rules.extend([rule for _, rule in given if rule is not None])
        return args.pos[0] if args.pos else NONE
    if name in ("init", "apply"):
        return _haiku(m, f, at, x, name, args)
    return _looked_at(m, f, at, x, args, name) if name in ("lower", "trace", "eval_shape") else UNKNOWN


def _looked_at(m: Machine, f: Frame, at: int, x: Xform, args: Args, name: str) -> Value:
    """What ``jitted.lower(x)`` and its kin give: the function is traced, and nothing is drawn yet."""
    looking = scopes.in_world(f, f.world, f.steps, confidence=f.confidence)
    looking.token = f.token
    evaluator.call(m, looking, at, x, args)
    return ExtInst(LOWERED, {APPLIED: x} if name != "eval_shape" else None)


def _haiku(m: Machine, f: Frame, at: int, x: Xform, name: str, args: Args) -> Value:
    """``hk.transform(f).apply``: runs ``f`` with the arguments that follow parameters, state and key."""
    keyless = type(x.target) is Xform and x.spec.name == "haiku.without_apply_rng"
    inner = x.target if keyless and type(x.target) is Xform else x
    if inner.spec.result not in ("haiku", "haiku_state"):
        return UNKNOWN
    stateful = inner.spec.result == "haiku_state"
    leading = (
        ["rng"]
        if name == "init"
        else ["params", *(["state"] if stateful else []), *([] if keyless else ["rng"])]
    )
    lead = sum(key not in args.kw for key in leading)
    rest = {key: value for key, value in args.kw.items() if key not in leading}
    with layers.given(f, args.get(0, "params") if name == "apply" else None):
        result = evaluator.call(m, f, at, inner.target, Args(args.pos[lead:], rest, args.more, args.kw_more))
    if name == "init":
        return Tree(f.world.here, "parameters of a model", f.world.level, GUESSED)
    return Tup((result, UNKNOWN)) if stateful else result


def _inherited(m: Machine, f: Frame, at: int, obj: Inst, name: str, args: Args) -> Value:
    if name == "replace" or name == "apply_gradients" or name == "clone":
        if name == "apply_gradients" and args.pos and train_states.is_state(obj.cls):
            m.emit(
                f, ApiMisuse, at, api=f"{obj.cls.name}.{name}", problem="wrong-call", detail="by-name",
                parameter="grads", exception="TypeError",
            )  # fmt: skip
        out = Inst(obj.cls, {**obj.attrs, **args.kw}, f.world.level, f.token, obj.open)
        out.modes, out.why = obj.modes, obj.why
        m.domains.on_make(f, at, out)
        return out
    if obj.cls.role == "linen":
        return _linen(m, f, at, obj, name, args)
    if obj.cls.role == "nnx":
        m.domains.on_library(f, at, f"flax.nnx.Module.{name}", args, owner=obj)
        return UNKNOWN
    if "assertRaises" in name:
        return ExtInst(f"unittest.{name}")
    return UNKNOWN


def _linen(m: Machine, f: Frame, at: int, obj: Inst, name: str, args: Args) -> Value:
    """What `flax.linen.Module` gives its subclasses."""
    m.domains.on_library(f, at, f"flax.linen.Module.{name}", args, owner=obj)
    if name == "param":
        for value in args.pos[1:2]:
            evaluator.call(m, f, at, value, Args([Arr(f.world.here, "key"), *args.pos[2:]]))
        return Tree(f.world.here | layers.learnt(f), f"a parameter of `{obj.cls.name}`", f.world.level)
    if name == "make_rng":
        return Arr(f.world.here, "key", 0, "`make_rng`", f.world.level)
    if name in ("apply", "init", "init_with_output"):
        return _run_module(m, f, at, obj, name, args)
    if name in ("is_initializing", "is_mutable_collection", "has_variable", "has_rng"):
        return Py("bool")
    if name in ("variable", "get_variable", "perturb"):
        value = Tree(f.world.here, f"{VARIABLE} `{obj.cls.name}`", f.world.level)
        if name != "variable":
            return value
        return ExtInst("flax.linen.Variable", {"value": value, COLLECTION: args.get(0, "col") or UNKNOWN})
    return UNKNOWN


def _run_module(m: Machine, f: Frame, at: int, obj: Inst, name: str, args: Args) -> Value:
    """A module is run with parameters, or for the first time."""
    method = args.kw.get("method")
    rest = args.pos[1:]
    kw = {k: v for k, v in args.kw.items() if k not in ("method", "rngs", "mutable", "capture_intermediates")}
    if type(method) is Bound:
        method = method.func  # of an object whose copy it is bound to
    target = method if method is not None and type(method) is not Py else find_method(obj, "__call__")
    if type(method) is Py and isinstance(method.const, str):
        target = find_method(obj, method.const)
    if target is None:
        return UNKNOWN
    with layers.given(f, args.get(0, "variables") if name == "apply" else None):
        result = evaluator.call(m, f, at, target, Args([obj, *rest], kw, args.more, args.kw_more))
    if name == "apply" and "mutable" not in args.kw:
        return result
    modes = traced_modes(result) | f.world.here
    variables = Tree(modes, why_of(result), f.world.level, GUESSED, COLLECTIONS, SEEN)
    paired = name == "init_with_output" or (name == "apply" and _is_set(args.kw["mutable"]))
    return Tup((result, variables)) if paired else variables


def _is_set(mutable: Value) -> bool:
    """Whether an argument is certainly not False, so that what was changed comes with the result."""
    if type(mutable) is Py:
        return mutable.kind == "str" or mutable.const is True
    return isinstance(mutable, (Seq, Tup))


def _library_object(m: Machine, f: Frame, at: int, obj: ExtInst, name: str, args: Args) -> Value:
    if "assertRaises" in name:
        return ExtInst(f"unittest.{name}")
    if obj.dotted == dispatch.DISPATCH:
        return dispatch.register(m, f, at, Args([obj, *args.pos])) if name == "register" else UNKNOWN
    if obj.dotted == command_lines.PARSER:
        return command_lines.method(m, f, at, obj, name, args)
    if obj.dotted == LOWERED and name in ("lower", "compile"):
        return obj if name == "lower" else ExtInst(COMPILED, obj.attrs)
    m.domains.on_library(f, at, f"{obj.dotted}.{name}", args, owner=obj)
    if obj.dotted in lexicon().arrays.generators:
        return _draw(m, f, at, name, args)
    applied = layers.applied(m, f, at, obj, args) if name == "apply" else None
    if applied is not None:
        return applied
    if name == "update" and obj.dotted in lexicon().contracts.pairs_functions:
        return Tup((_updates(f, args), UNKNOWN))
    return _computed(m, f, obj, name, args)


def _computed(m: Machine, f: Frame, obj: ExtInst, name: str, args: Args) -> Value:
    """What a method gives of which only the arguments are known."""
    modes = 0
    why = ""
    for value in (*args.pos, *args.kw.values()):
        modes |= traced_modes(value, 2) & ~VARIES
        why = why or why_of(value)
    if (modes or f.world.here) and m.transforms.computes(obj.dotted, name):
        return Arr(
            modes | f.world.here,
            None,
            None,
            why or f"`{name}` computes inside a traced function",
            f.world.level,
        )
    if modes:
        return Tree(modes | f.world.here, why, f.world.level, GUESSED)
    return ExtInst(f"{obj.dotted}.{name}") if name in ("at",) else UNKNOWN


def _updates(f: Frame, args: Args) -> Value:
    """What an optimiser makes of gradients, which is like them; a number becomes an array."""
    grads = args.get(0, "updates")
    if grads is None or type(grads) is Py:
        return UNKNOWN
    updates: Value = pytrees.remode(grads, lambda modes: (modes | f.world.here) & ~VARIES)
    return updates


def _draw(m: Machine, f: Frame, at: int, name: str, args: Args) -> Value:
    """A method of a random generator of NumPy."""
    fn = m.catalogue.numpy(f"numpy.random.Generator.{name}") or m.catalogue.numpy(f"numpy.random.{name}")
    return numpy_calls.call_numpy(m, f, at, fn, args) if fn is not None else UNKNOWN


def _super(m: Machine, f: Frame, at: int, obj: Super, name: str, args: Args) -> Value:
    """A method of a library base class."""
    if name in ("__init__", "__init_subclass__", "setUp", "tearDown", "__post_init__", "__setattr__"):
        return NONE
    if name == "__new__":
        return classes.bare(m, f, at, args.get(0, "cls"))
    recv = obj.recv
    return _linen(m, f, at, recv, name, args) if type(recv) is Inst and recv.cls.role == "linen" else UNKNOWN
