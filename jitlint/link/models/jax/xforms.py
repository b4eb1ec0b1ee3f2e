"""Transforms that return functions: jit, vmap, grad and their kin (layer: ``link``, room ``models``).

`apply` makes the transformed function a value; `call` runs it: arguments that are not static become tracers, the
function runs in a new world, and its result leaves that world again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import Wrap
from jitlint.infer.grounds import RULED, at_most
from jitlint.infer.lattice import join, modes_among
from jitlint.infer.places import Step
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Ext,
    Func,
    L,
    Partial,
    Py,
    S,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.budgets import MAX_STACK
from jitlint.link.engine.domain import Repeat, Transformed
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine, Site
from jitlint.link.engine.world import CHECKED, TWICE, World
from jitlint.link.models.arrays import layers
from jitlint.link.models.frameworks import lifted, settings
from jitlint.link.models.jax import (
    arity,
    arrival,
    boundaries,
    carries,
    custom_rules,
    demands,
    hashed,
    mapping,
    operands,
)
from jitlint.link.models.jax.rebuilding import rebuild
from jitlint.link.models.maps import lanes, varying
from jitlint.link.models.trees import leaf_shapes
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import iteration, parameters, pytrees
from jitlint.link.values.questions.averaging import average_in
from jitlint.link.values.questions.signatures import (
    Signature,
    constant_ints,
    describe,
    signature,
    static_names,
)
from jitlint.syntax import ir
from jitlint.syntax.children import below

CALLED: Final = "and called here"
RUN: Final = "runs under"
"""What is said of a transformed function where it is called, and of one that a loop or a branch runs."""


def apply(m: Machine, f: Frame, at: int, spec: Wrap, args: Args) -> Value:
    """``jax.jit(f, ...)``: the transformed function, or a partial application when the function is missing."""
    named: dict[str, Value] = dict(args.kw)
    for name, value in zip(spec.params, args.pos):
        named[name] = value
    target = named.pop(spec.function, None)
    more = {"**": args.kw_more} if args.kw_more is not None else {}
    if target is None:
        if spec.asks or (
            spec.name == "jax.jit" and m.catalogue.view.behaves("jit-makes-decorators") is False
        ):
            return UNKNOWN  # this asks for the function
        return Partial(Ext(spec.name), list(args.pos), {**args.kw, **more}, (f.module.name, at))
    named.update(more)
    if spec.axes and not named.keys() <= {*(name.lstrip("*") for name in spec.params), "**"}:
        # what is not known may say how arguments and results are mapped
        named = {spec.axes: UNKNOWN, **({spec.results: UNKNOWN} if spec.results else {}), **named}
    out: Value | None = None
    alts = alternatives(target)
    fits = len(alts) == 1 or _are_written(m, f, at)
    for alt in alts:
        one = _make(m, f, at, spec, alt, named, fits)
        out = one if out is None else join(out, one)
    return out if out is not None else UNKNOWN


def _are_written(m: Machine, f: Frame, at: int) -> bool:
    """Whether the options stand in the call as they are: what it is told by variables may be meant for another function."""
    call = m.texts.table(f).calls.get(at)
    options = [arg.value for arg in call.args if arg.name] if call is not None else []
    said = (
        part for part in below(options) if not isinstance(part, (ir.Const, ir.Tuple, ir.List, ir.UnaryOp))
    )
    return call is not None and next(said, None) is None


def _make(
    m: Machine, f: Frame, at: int, spec: Wrap, target: Value, options: dict[str, Value], fits: bool
) -> Value:
    """fits: what the options say of parameters goes with the function."""
    staged = bool(spec.modes & S)
    known = type(target) in operands.FUNCTIONS
    known = known or (bool(spec.axes) and layers.is_layer(target)) or hashed.is_heavy(target)
    if staged:
        key = (f.module.name, at)
        m.jit_sites[key] = m.jit_sites.get(key, False) or known
    if spec.lifts or (type(target) is Class and spec.name.startswith("flax.nnx.")):
        return lifted.transformed(f, at, spec, target, options)
    if not known:
        demands.check_function(m, f, at, spec, spec.function, target)
        return UNKNOWN
    if staged and not f.world.level:
        _nobody_else_calls(target)
    x = Xform(spec, target, options, (f.module.name, at), f.module)
    m.domains.on_make(f, at, x)
    if not f.world.excused:
        m.sites.append(Site(x, f.module, f.steps, f.world, f.ground, f.confidence, f.entry))
    mapping.check_form(m, f, at, x)
    if fits:
        boundaries.check_static_spec(m, f, at, x)
    return x


def _nobody_else_calls(target: Value) -> None:
    """A function that is made to be staged needs no run in the host world."""
    while isinstance(target, (Partial, Bound)):
        target = target.func
    if type(target) is Func:
        target.fn.cold = True


def mark_called(x: Value) -> None:
    """A transformed function inside another needs no run of its own."""
    while True:
        if isinstance(x, Xform):
            made: Xform | None = x
            while made is not None:
                made.called, made = True, made.origin
            x = x.target
        elif isinstance(x, (Bound, Partial)):
            x = x.func
        else:
            return


def wrapped_in_turns(alts: Sequence[Value]) -> bool:
    """Whether these are one function mapped again in each turn of a loop: how often it is mapped is not known."""
    for alt in alts:
        target, sites = alt, set[tuple[str, int]]()
        while type(target) is Xform:
            if target.site in sites and target.spec.axes:
                return True
            sites.add(target.site)
            target = target.target
            if alt is not target and any(target is other for other in alts):
                return True
    return False


def without_ranks(args: Args) -> Args:
    """The arguments, with nothing known of their numbers of axes."""
    pos = [pytrees.with_rank(value, None) for value in args.pos]
    kw = {name: pytrees.with_rank(value, None) for name, value in args.kw.items()}
    return Args(pos, kw, args.more, args.kw_more)


def call(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> Value:
    """Call a transformed function."""
    spec: Wrap = x.spec
    args = _without_taken(spec, args)
    if spec.lifts and type(x.target) is Class:
        return lifted.made(x, evaluator.call(m, f, at, x.target, args))
    if type(x.target) is Xform and wrapped_in_turns([x]):
        args = without_ranks(args)
    if not _expects_an_error(f, x):
        mark_called(x)
    if x.broken or f.depth >= MAX_STACK:
        if not x.broken:
            m.limits.meet("depth", f.module.name, at, f.qualname)
        return UNKNOWN
    w = f.world
    if _runs_as_it_is(w, spec):
        return _custom_result(m, f, at, x, evaluator.call(m, _body_frame(f, spec), at, x.target, args))
    sig = signature(x.target)
    if spec.custom:
        return custom_rules.call(m, f, at, x, args)
    if demands.refuses_arguments(m, f, at, x, args) or arity.lacks_argument(m, f, at, x, args):
        return UNKNOWN
    if spec.settings:
        arrived = settings.arrived(x, sig, args, w.level + 1)
    else:
        arrived = arrival.arguments(m, f, at, x, sig, args)
    world = _world_inside(f, x, args)
    inner = _frame_inside(f, x, world, at)
    arrived = varying.arrived(f, x, arrived)
    _tell_lanes(m, inner, x, arrived)
    transformed = Transformed(x, args, inner, at, arrived)
    m.domains.on_transform(f, transformed)
    if spec.modes and not spec.kernel:
        rebuild(m, f, inner, at, args, arrived, spec.modes)
    result = evaluator.call(m, inner, at, x.target, arrived)
    m.domains.on_result(f, transformed, result)
    outer = modes_among((*args.pos, *args.kw.values(), *_closed_over(f, x.target)), 2)
    return _leave(m, f, at, inner, x, args, result, outer)


def _frame_inside(f: Frame, x: Xform, world: World, at: int) -> Frame:
    """Where a transformed function runs."""
    ground = "test" if x.module.is_test and f.ground in ("jit", "test") and not f.steps else f.ground
    inner = scopes.in_world(f, world, _steps(f, x, at), ground)
    if x.spec.settings:
        inner.confidence = at_most(f.confidence, Confidence.LIKELY)  # updates are compiled as a rule
    return inner


def _without_taken(spec: Wrap, args: Args) -> Args:
    """What is left for the function of what the one that was made of it is given."""
    if not spec.takes:
        return args
    kept = {name: value for name, value in args.kw.items() if name not in spec.takes}
    return Args(args.pos, kept, args.more, args.kw_more)


def _closed_over(f: Frame, target: Value) -> list[Value]:
    """What a function that is defined inside of a trace, and those that it calls, have from the functions around them."""
    out: list[Value] = []
    waiting, seen = [target] if f.world.level else [], set[tuple[int, int]]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Func):
            place = (one.fn.id, one.scope.key)
            held = _held(one) if one.scope.fn is not None and place not in seen else []
            seen.add(place)
        else:
            held = _wrapped(one)
        out += [value for value in held if not isinstance(value, _FUNCTIONS)]
        waiting += [value for value in held if isinstance(value, _FUNCTIONS)]
    return out


_FUNCTIONS: Final = (Bound, Func, Partial, Xform)


def _held(func: Func) -> list[Value]:
    """The variables of the function around that a function takes."""
    found = map(func.scope.vars.get, func.fn.outer_names)
    return [value for value in found if value is not None]


def _wrapped(value: Value) -> list[Value]:
    """The function behind another one, and what it is given beforehand."""
    if isinstance(value, Xform):
        return [value.target]
    if isinstance(value, Partial):
        return [value.func, *value.args, *value.keywords.values()]
    return [value.func, value.recv] if isinstance(value, Bound) else []


def _tell_lanes(m: Machine, inner: Frame, x: Xform, arrived: Args) -> None:
    """A batch has many lanes, or devices, unless they are to do the same."""
    spec: Wrap = x.spec
    devices = bool(spec.specs) or bool(spec.modes & S)
    own = arrival.lanes(x, arrived) if spec.axes or spec.specs else frozenset[int]()
    alike = devices and _sets_up(x.target)
    if not alike and arrival.gives_one(x):
        alike = not (devices and _averages(m, x.target))
    if (spec.axes or spec.specs) and not alike:
        lanes = frozenset[int]() if devices else own
        m.domains.on_repeat(inner, Repeat(arrival.batched(x, arrived), True, devices, lanes))


def _averages(m: Machine, target: Value) -> bool:
    """Whether a function puts what devices have of their own together, and does not ask, be it in a branch, which one it runs on."""
    sig = signature(target)
    if sig is None or average_in(m, sig.func) is None:
        return False
    return not any(
        type(part) is ir.Call and last_name(part.func) == "axis_index" for part in sig.func.fn.parts
    )


def _sets_up(target: Value) -> bool:
    """Whether a function, by its name, makes what every device holds a copy of."""
    while isinstance(target, (Bound, Partial, Xform)):
        target = target.target if isinstance(target, Xform) else target.func
    words = lexicon().keys
    if type(target) is not Func or target.fn.name.rpartition("_")[2] in words.stepping:
        return False
    return naming.begins_with(target.fn.name, words.setting_up)


def _world_inside(f: Frame, x: Xform, args: Args) -> World:
    spec: Wrap = x.spec
    world = f.world.inside(spec.modes, S, spec.looks, spec.kernel, spec.forward, spec.pushes)
    within = spec.modes & L and not spec.pushes and f.world.pushed and modes_among(args.pos) & L
    marks = (CHECKED if spec.result == "checkify" else 0) | (TWICE if spec.pushes_around or within else 0)
    world = world.but(marks=marks) if marks else world
    maps = spec.specs or "axis_name" in x.options or lanes.follows(x, world)
    return varying.mapped(x, world) if maps else world


def _runs_as_it_is(w: World, spec: Wrap) -> bool:
    """Whether a function runs as if nothing were around it."""
    return bool(w.eager_jit and spec.modes & S) or (spec.modes == 0 and not spec.custom)


def _body_frame(f: Frame, spec: Wrap) -> Frame:
    """Where the function runs under what is no trace; of two results, the second is its derivative rule."""
    return custom_rules.by_own_rule(f) if spec.result == "first" else f


def _expects_an_error(f: Frame, x: Xform) -> bool:
    """Whether a test calls the program's function to see it fail: that says nothing of how others call it."""
    return f.world.excused and f.module.is_test and not x.module.is_test


def _steps(f: Frame, x: Xform, at: int) -> tuple[Step, ...]:
    made = Step(x.site[0], x.site[1], f"`{describe(x.target)}` is {_verb(x.spec.name)} here", RULED.word)
    here = Step(f.module.name, at, CALLED)
    if f.steps:
        return (*f.steps, made if x.site == (f.module.name, at) else here)
    return (made,) if x.site == (f.module.name, at) else (made, here)


def _verb(name: str) -> str:
    short = name.rpartition(".")[2]
    return {"jit": "jitted with `jax.jit`", "vmap": "batched with `jax.vmap`"}.get(
        short if name.startswith("jax.") else "", f"traced by `{name}`"
    )


def _leave(
    m: Machine, f: Frame, at: int, inner: Frame, x: Xform, args: Args, result: Value, outer: int
) -> Value:
    spec: Wrap = x.spec
    if spec.strict and spec.modes & S:
        boundaries.check_output(m, inner, x, result)
    elif spec.mute and x.site != (f.module.name, at):
        boundaries.check_mute(m, inner, x, result)
    _check_reverse(m, f, at, x, args, result)
    demands.check_result(m, f, at, x, result)
    w = f.world
    kept = outer & ~S if not w.here else outer
    drop = spec.modes if w.spread else spec.modes | varying.MARKS
    out = pytrees.lower(result, drop, w.here, w.level, kept, as_is=spec.filter, sized=not spec.specs)
    if spec.axes:
        out = lanes.with_axis(x.options.get("out_axes"), out, mapping.lanes(x, args))
    elif spec.excluded or spec.sliced:
        out = pytrees.with_rank(out, None)  # how many axes are looped over is for the arguments to say
    if spec.result == "same":
        return out
    if spec.result == "checkify":
        return Tup((UNKNOWN, out))
    if spec.result == "array":
        return Arr(w.here, None, None, "", w.level)
    differentiated = spec.result in ("grad", "jacobian", "value_and_grad")
    return _differentiated(m, f, x, args, out, outer & L) if differentiated else UNKNOWN


def _differentiated(m: Machine, f: Frame, x: Xform, args: Args, out: Value, around: int) -> Value:
    """Derivatives, with the value of the function and what it gives beside it if that is asked for. around: as for a gradient."""
    spec: Wrap = x.spec
    has_aux = _has_aux(x)
    value, extra = _with_aux(out) if has_aux else (out, UNKNOWN)
    gradient = _gradient(f, x, args, around)
    if spec.result == "jacobian":
        gradient = pytrees.with_rank(gradient, None)
        if type(value) is not Arr:
            # The structure of the output, each leaf with the structure of the argument.
            gradient = pytrees.rebuild(value, gradient)
    if spec.result == "value_and_grad":
        return Tup((Tup((value, extra)) if has_aux else value, gradient))
    return Tup((gradient, extra)) if has_aux else gradient


def _with_aux(out: Value) -> tuple[Value, Value]:
    """The value and what the function gives beside it."""
    parts = iteration.known_items(out) if type(out) is Tup else None
    return (parts[0], parts[1]) if parts is not None and len(parts) == 2 else (UNKNOWN, UNKNOWN)


def _check_reverse(m: Machine, f: Frame, at: int, x: Xform, args: Args, result: Value) -> None:
    """Reverse mode cannot go through a loop whose number of turns is not known while tracing, unless the arguments come out of it."""
    if x.spec.result in ("grad", "value_and_grad"):
        items = iteration.known_items(result) if _has_aux(x) and type(result) is Tup else None
        result = items[0] if items else UNKNOWN if _has_aux(x) else result
    elif x.spec.name not in ("jax.jacrev", "jax.hessian"):
        return
    loop = carries.loop_behind(result)
    if loop and not any(map(carries.loop_behind, (*args.pos, *args.kw.values()))):
        carries.emit_reverse(m, f, at, loop)


def _has_aux(x: Xform) -> bool:
    aux = x.options.get("has_aux")
    return type(aux) is Py and aux.const is True


def _gradient(f: Frame, x: Xform, args: Args, around: int) -> Value:
    """A gradient has the structure of the argument it belongs to. around: whether a derivative around it goes on through it."""
    nums = constant_ints(x.options["argnums"]) if "argnums" in x.options else [0]
    many = "argnums" in x.options and type(x.options["argnums"]) is not Py
    out: list[Value] = []
    for n in nums if nums is not None else [0]:
        value = args.pos[n] if -len(args.pos) <= n < len(args.pos) else UNKNOWN
        modes = modes_among([value]) | f.world.here
        if value is UNKNOWN:
            out.append(Tree(modes | around, "", f.world.level))
        else:
            out.append(leaf_shapes.derivative_by(f, value, modes, around))
    return Tup(tuple(out)) if many else (out[0] if out else UNKNOWN)


def _custom_result(m: Machine, f: Frame, at: int, x: Xform, result: Value) -> Value:
    if x.spec.result in ("haiku", "haiku_state"):
        return UNKNOWN
    if x.spec.result == "first":
        parts = iteration.known_items(result) if type(result) is Tup else None
        return parts[0] if parts is not None and len(parts) == 2 else UNKNOWN
    return Tup((result, UNKNOWN)) if x.spec.result == "with_state" else result


def _static_inside(x: Xform, sig: Signature) -> tuple[set[int], set[str]]:
    """The static parameters of a transform and of those inside it: nobody can give them an array."""
    nums, names = set[int](), set[str]()
    target: Value = x
    while type(target) is Xform:
        found = static_names(target, sig)
        nums |= found[0]
        names |= found[1]
        target = target.target
    return nums, names


def run_generic(m: Machine, site: Site) -> Value:
    """Run a transformed function that no known code calls, with arguments as its signature suggests them."""
    x = site.xform
    sig = signature(x.target)
    if sig is None:
        mark_called(x)
        return UNKNOWN
    nums, names = _static_inside(x, sig)
    frame = Frame(
        site.module, site.module.scope, site.world, None, 0, site.frame_steps, site.ground, site.confidence
    )
    frame.entry = site.entry
    if site.module.is_test and not site.frame_steps:
        frame.ground = "test"
    frame.token = object()
    pos: list[Value] = []
    kw: dict[str, Value] = {}
    for i, param in enumerate(sig.params):
        if param.kind in ("var", "kwvar"):
            continue
        static = (param.kind in ("pos", "any") and i in nums) or param.name in names
        value = _receiver(m, x, sig, param) or (
            Py("static") if static else _generic_argument(m, x, sig, param)
        )
        if value is None:
            continue
        if param.kind == "kwonly" or len(pos) < i:
            kw[param.name] = value
        else:
            pos.append(value)
    more: Value | None = Tree(0) if sig.has_var else None
    return call(m, frame, x.site[1], x, Args(pos, kw, more))


def _receiver(m: Machine, x: Xform, sig: Signature, param: ir.Param) -> Value | None:
    first = param is sig.params[0] and x.spec.strict
    return boundaries.plain_receiver(m, sig.func, param.name) if first else None


def _generic_argument(m: Machine, x: Xform, sig: Signature, param: ir.Param) -> Value | None:
    """What is passed for a parameter that is not static, None if that is likely nothing."""
    if param.default is None:
        return parameters.generic(m, sig.func, param.name, meant=x.spec.filter or x.spec.kernel)
    if sig.func.defaults.get(param.name) is not NONE:
        return None
    given = parameters.generic(m, sig.func, param.name, meant=x.spec.filter)
    if all(type(alt) is Py for alt in alternatives(given)):
        return None  # a number or a flag that may be left out: nobody is seen to give one
    return join(NONE, given)
