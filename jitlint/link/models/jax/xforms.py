"""Transforms that return functions: jit, vmap, grad and their kin (layer: ``link``, room ``models``).

`apply` makes the transformed function a value; `call` runs it: arguments that are not static become tracers, the
function runs in a new world, and its result leaves that world again.
"""

from __future__ import annotations

from typing import Any

from jitlint.catalogue.transforms import Wrap
from jitlint.infer.events import Step
from jitlint.infer.grounds import SEEN
from jitlint.infer.keys import Key, Runs
from jitlint.infer.lattice import join, traced_modes
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Ext,
    Func,
    Inst,
    L,
    Map,
    Method,
    Partial,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.domains.compilation import makers as compilation
from jitlint.link.domains.keys import uses as keys
from jitlint.link.domains.leaks import stores as leaks
from jitlint.link.domains.misuse import transforms as misuse
from jitlint.link.domains.unrolling import rows
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.machine import MAX_DEPTH, Args, Frame, Machine, Site, World
from jitlint.link.values import iteration, parameters, pytrees
from jitlint.link.values.signatures import Signature, constant_ints, describe, signature, static_names

CALLABLE_TYPES = (Func, Bound, Partial, Xform, Inst, Class, Method)


def apply(m: Machine, f: Frame, at: int, spec: Wrap, args: Args) -> Value:
    """``jax.jit(f, ...)``: the transformed function, or a partial application when the function is missing."""
    named: dict[str, Value] = dict(args.kw)
    for name, value in zip(spec.params, args.pos):
        named[name] = value
    target = named.pop(spec.function, None)
    more = {"**": args.kw_more} if args.kw_more is not None else {}
    if target is None:
        return Partial(Ext(spec.name), list(args.pos), {**args.kw, **more}, (f.module.name, at))
    named.update(more)
    out: Value | None = None
    for alt in alternatives(target):
        one = _make(m, f, at, spec, alt, named)
        out = one if out is None else join(out, one)
    return out if out is not None else UNKNOWN


def _make(m: Machine, f: Frame, at: int, spec: Wrap, target: Value, options: dict[str, Value]) -> Value:
    staged = bool(spec.modes & S)
    known = type(target) in CALLABLE_TYPES or type(target) is Ext
    if staged:
        key = (f.module.name, at)
        m.jit_sites[key] = m.jit_sites.get(key, False) or known
    if type(target) is Class and spec.name.startswith(("flax.linen.", "flax.nnx.")):
        return target
    if not known:
        return UNKNOWN
    if type(target) is Func and staged and not f.world.level:
        target.fn.cold = True
    x = Xform(spec, target, options, (f.module.name, at), f.module)
    x.born = m.captures.now
    if not f.world.level:
        compilation.born(f, at, x)
    if not f.world.excused:
        m.sites.append(Site(x, f.module, f.steps, f.world, f.ground, f.confidence))
    if spec.static_nums or spec.static_names:
        misuse.check_static_spec(m, f, at, x)
    return x


def mark_called(x: Value) -> None:
    """A transformed function inside another needs no run of its own."""
    while True:
        c: Any = x
        if type(x) is Xform:
            c.called = True
            x = c.target
        elif type(x) in (Bound, Partial):
            x = c.func
        else:
            return


def call(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> Value:
    """Call a transformed function."""
    spec: Wrap = x.spec
    mark_called(x)
    if x.broken or f.depth >= MAX_DEPTH:
        return UNKNOWN
    w = f.world
    if (w.eager_jit and spec.modes & S) or (spec.modes == 0 and not spec.custom):
        return _custom_result(m, f, at, x, evaluator.call(m, f, at, x.target, args))
    sig = signature(x.target)
    if spec.custom:
        return _call_custom(m, f, at, x, args)
    rows.called(m, f, x, sig, args)
    lifted = _lift_arguments(m, f, at, x, sig, args)
    backwards = spec.result in ("grad", "value_and_grad") or spec.name in ("jax.jacrev", "jax.hessian")
    reverse = (f.module.name, f.qualname, at, False) if backwards else None
    world = w.inside(spec.modes, S, reverse, spec.looks)
    steps = _steps(f, x, at)
    ground = "test" if x.module.is_test and f.ground in ("jit", "test") and not f.steps else f.ground
    inner = scopes.in_world(f, world, steps, ground)
    if spec.axes:
        inner.many = Runs(_batched_keys(x, inner, lifted))
    root = world.floor and not w.floor
    before = m.captures.root() if root else None
    result = evaluator.call(m, inner, at, x.target, lifted)
    if root:
        m.captures.called(f, x, before)
    outer = 0
    for value in (*args.pos, *args.kw.values()):
        outer |= traced_modes(value, 2)
    return _leave(m, f, inner, x, args, result, outer)


def _steps(f: Frame, x: Xform, at: int) -> tuple[Step, ...]:
    made = Step(x.site[0], x.site[1], f"`{describe(x.target)}` is {_verb(x.spec.name)} here")
    here = Step(f.module.name, at, "and called here")
    if f.steps:
        return (*f.steps, made if x.site == (f.module.name, at) else here)
    return (made,) if x.site == (f.module.name, at) else (made, here)


def _verb(name: str) -> str:
    short = name.rpartition(".")[2]
    return {"jit": "jitted with `jax.jit`", "vmap": "batched with `jax.vmap`"}.get(
        short if name.startswith("jax.") else "", f"traced by `{name}`"
    )


def _lift_arguments(m: Machine, f: Frame, at: int, x: Xform, sig: Signature | None, args: Args) -> Args:
    spec: Wrap = x.spec
    nums, names, known = static_names(x, sig, None if args.more is not None else len(args.pos))
    level = f.world.level + 1
    positional = sig.positional if sig is not None else []
    only = _differentiated(x, len(args.pos)) if spec.argnums else None
    axes = _axes(x) if spec.axes else {}
    skip = set(pytrees.constant_strings(x.options[spec.excluded])) if spec.excluded in x.options else set()
    pos: list[Value] = []
    for i, value in enumerate(args.pos):
        name = positional[i].name if i < len(positional) else ""
        if i in nums or name in skip:
            bad = misuse.check_static_value(m, f, at, x, name or f"argument {i}", value)
            pos.append(UNKNOWN if bad else value)
        elif not known or (only is not None and i not in only) or axes.get(i) is NONE:
            pos.append(value)
        else:
            lifted = _lift_one(m, f, at, x, sig, name, value, level)
            pos.append(_keep_unbatched(axes.get(i), value, lifted))
    kw: dict[str, Value] = {}
    for name, value in args.kw.items():
        if name in names:
            kw[name] = UNKNOWN if misuse.check_static_value(m, f, at, x, name, value) else value
        elif not known or only is not None:
            kw[name] = value
        else:
            kw[name] = _lift_one(m, f, at, x, sig, name, value, level)
    more = args.more if args.more is None else _lift_more(x, args.more, level)
    kw_more = args.kw_more if args.kw_more is None else _lift_more(x, args.kw_more, level)
    return Args(pos, kw, more, kw_more)


def _lift_more(x: Xform, value: Value, level: int) -> Value:
    if x.spec.kernel:
        return _references(value, x.spec.modes, level, "")
    return pytrees.lift(value, x.spec.modes, level, "", x.spec.filter)


def _lift_one(
    m: Machine, f: Frame, at: int, x: Xform, sig: Signature | None, name: str, value: Value, level: int
) -> Value:
    spec: Wrap = x.spec
    if value is UNKNOWN and sig is not None and name:
        value = parameters.generic(m, sig.func, name, meant=spec.filter or spec.kernel)
    if spec.strict and not spec.kernel:
        misuse.check_argument(m, f, at, x, name, value)
    why = f"parameter `{name}` of `{describe(x.target)}`" if name else ""
    if spec.kernel:
        return _references(value, spec.modes, level, why)
    if spec.axes:
        value = pytrees.with_rank(value, -1)
    return pytrees.lift(value, spec.modes, level, why, spec.filter)


def _references(value: Value, modes: int, level: int, why: str) -> Value:
    """What a kernel gets for its arguments: mutable references, whose elements are traced."""
    if type(value) is Tup:
        return Tup(tuple([_references(v, modes, level, why) for v in value.items]), value.cls)
    return value if value is NONE else Tree(modes, why, level, SEEN, "ref", SEEN)


def _differentiated(x: Xform, given: int) -> set[int]:
    value = x.options.get(x.spec.argnums)
    if value is None:
        return {0}
    found = constant_ints(value)
    return {n % given if n < 0 and given else n for n in found or ()}


def _axes(x: Xform) -> dict[int, Value]:
    """Positions whose axis is not the same integer for every leaf: None, or a container with None in it."""
    value = x.options.get(x.spec.axes)
    items = iteration.known_items(value) if value is not None and type(value) is not Map else None
    if items is None:
        return {0: NONE} if value is NONE else {}
    return {i: item for i, item in enumerate(items) if type(item) in (Tup, Seq, Map) or item is NONE}


def _batched_keys(x: Xform, inner: Frame, args: Args) -> frozenset[Key]:
    """The keys that every element of a batch has one of its own of."""
    axes = _axes(x)
    given = [v for i, v in enumerate(args.pos) if axes.get(i) is not NONE]
    found = frozenset(keys.inside([*given, *args.kw.values()]))
    return found if inner.many is None else found & inner.many.own


def _keep_unbatched(axes: Value | None, before: Value, after: Value) -> Value:
    """The batched argument, but as it was where its axis is None."""
    if axes is NONE:
        return before
    a: Any = axes
    b: Any = before
    c: Any = after
    if type(axes) is Map and type(before) is Map and type(after) is Map:
        entries = {k: _keep_unbatched(a.entries.get(k), b.entries[k], v) for k, v in c.entries.items()}
        return Map(entries, c.rest, c.level)
    known = all(type(v) in (Tup, Seq) and v.items is not None for v in (a, b, c))
    if known and type(before) is type(after) and len(a.items) == len(c.items):
        parts = [_keep_unbatched(*part) for part in zip(a.items, b.items, c.items)]
        return Tup(tuple(parts), c.cls) if type(after) is Tup else Seq(c.kind, parts, None, c.level)
    return after


def _leave(m: Machine, f: Frame, inner: Frame, x: Xform, args: Args, result: Value, outer: int) -> Value:
    spec: Wrap = x.spec
    if spec.strict and spec.modes & S:
        misuse.check_output(m, inner, x, result)
    leaks.returned(m, inner, x.target, result)
    w = f.world
    out = pytrees.lower(result, spec.modes, w.here, w.level, outer & ~S if not w.here else outer)
    if spec.axes:
        out = pytrees.with_rank(out, 1 if "out_axes" not in x.options else None)
    if spec.result == "same":
        return out
    aux = x.options.get("has_aux")
    has_aux = type(aux) is Py and aux.const is True
    value: Value = out
    extra: Value = UNKNOWN
    if has_aux:
        parts = iteration.known_items(out) if type(out) is Tup else None
        value, extra = (parts[0], parts[1]) if parts is not None and len(parts) == 2 else (UNKNOWN, UNKNOWN)
    gradient = _gradient(m, f, x, args)
    if spec.result == "jacobian" and type(value) is not Arr:
        # The structure of the output, each leaf with the structure of the argument.
        gradient = pytrees.rebuild(value, gradient)
    if spec.result == "grad" or spec.result == "jacobian":
        return Tup((gradient, extra)) if has_aux else gradient
    if spec.result == "value_and_grad":
        return Tup((Tup((value, extra)) if has_aux else value, gradient))
    if spec.result == "checkify":
        return Tup((UNKNOWN, out))
    if spec.result == "array":
        return Arr(w.here, None, None, "", w.level)
    return UNKNOWN


def _gradient(m: Machine, f: Frame, x: Xform, args: Args) -> Value:
    """A gradient has the structure of the argument it belongs to."""
    nums = constant_ints(x.options["argnums"]) if "argnums" in x.options else [0]
    many = "argnums" in x.options and type(x.options["argnums"]) is not Py
    out: list[Value] = []
    for n in nums if nums is not None else [0]:
        value = args.pos[n] if -len(args.pos) <= n < len(args.pos) else UNKNOWN
        modes = traced_modes(value) | f.world.here
        if value is UNKNOWN:
            out.append(Tree(modes, "", f.world.level))
        else:
            out.append(pytrees.rebuild(value, Arr(modes & ~L, "float", None, "", f.world.level)))
    return Tup(tuple(out)) if many else (out[0] if out else UNKNOWN)


def _custom_result(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> Value:
    if x.spec.result in ("haiku", "haiku_state"):
        return UNKNOWN
    if x.spec.result == "first":
        parts = iteration.known_items(result) if type(result) is Tup else None
        return parts[0] if parts is not None and len(parts) == 2 else UNKNOWN
    return result


def _call_custom(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> Value:
    """A function with its own derivative rules: the rules run when it is differentiated inside a trace."""
    w = f.world
    plain = World(w.here, w.level, w.excused, w.eager_jit, w.modes, None, w.floor, w.expected)
    inner = scopes.in_world(f, plain, f.steps)
    result = evaluator.call(m, inner, at, x.target, args)
    traced = f.world.here or any(traced_modes(v) & ~L for v in args.pos)
    if not traced:
        return result
    nondiff: list[int] = []
    if "nondiff_argnums" in x.options:
        nondiff = constant_ints(x.options["nondiff_argnums"]) or []
    if "nondiff_argnames" in x.options or args.more is not None or args.kw_more is not None:
        return result  # which argument goes where in the rules is not known
    given = _by_position(x, args)
    lead = [given[n] if n < len(given) else UNKNOWN for n in nondiff if n >= 0]
    rest = tuple(v for i, v in enumerate(given) if i not in nondiff)
    for kind, rule in x.rules:
        if kind == "jvp":
            evaluator.call(m, f, at, rule, Args([*lead, Tup(rest), Tup(rest)]))
        elif kind == "fwd":
            forward = evaluator.call(m, f, at, rule, Args(list(given)))
            residuals = forward.items[1] if type(forward) is Tup and len(forward.items) == 2 else UNKNOWN
            backward = next((r for k, r in x.rules if k == "bwd"), None)
            if backward is not None:
                evaluator.call(m, f, at, backward, Args([*lead, residuals, _cotangent(f, result)]))
    return result


def _by_position(x: Xform, args: Args) -> list[Value]:
    """The arguments in the order of the parameters, defaults filled in, as the derivative rules get them."""
    sig = signature(x.target)
    out = list(args.pos)
    if sig is None:
        return out
    for param in sig.positional[len(out) :]:
        out.append(args.kw.get(param.name, sig.func.defaults.get(param.name, UNKNOWN)))
    return out


def _cotangent(f: Frame, result: Value) -> Value:
    modes = f.world.here or traced_modes(result)
    if result is UNKNOWN:
        return Tree(modes, "the cotangent", f.world.level)
    return pytrees.rebuild(result, Arr(modes, None, None, "the cotangent", f.world.level))


def run_generic(m: Machine, site: Site) -> Value:
    """Run a transformed function that no known code calls, with arguments as its signature suggests them."""
    x = site.xform
    sig = signature(x.target)
    if sig is None:
        mark_called(x)
        return UNKNOWN
    nums, names, _ = static_names(x, sig)
    frame = Frame(
        site.module, site.module.scope, site.world, None, 0, site.frame_steps, site.ground, site.confidence
    )
    if site.module.is_test and not site.frame_steps:
        frame.ground = "test"
    frame.token = object()
    pos: list[Value] = []
    kw: dict[str, Value] = {}
    for i, param in enumerate(sig.params):
        static = (param.kind in ("pos", "any") and i in nums) or param.name in names
        if param.kind in ("var", "kwvar"):
            continue
        if static:
            value: Value = Py("static")
        elif param.default is not None:
            if sig.func.defaults.get(param.name) is not NONE:
                continue
            value = join(NONE, parameters.generic(m, sig.func, param.name, meant=x.spec.filter))
        else:
            value = parameters.generic(m, sig.func, param.name, meant=x.spec.filter or x.spec.kernel)
        if param.kind == "kwonly" or len(pos) < i:
            kw[param.name] = value
        else:
            pos.append(value)
    more: Value | None = Tree(0) if sig.has_var else None
    return call(m, frame, x.site[1], x, Args(pos, kw, more))
