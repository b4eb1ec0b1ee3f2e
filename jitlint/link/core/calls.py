"""Calls: from a callable value to the activation of a function, memoised per context (layer: ``link``, room ``core``)."""

from __future__ import annotations

import operator
from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.freezing import TooLarge, freeze_all, freeze_call
from jitlint.infer.grounds import at_most, weaken
from jitlint.infer.lattice import join, joined, or_unknown, traced_modes
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    FRESH,
    NONE,
    STR,
    UNKNOWN,
    Arr,
    At,
    Bound,
    Class,
    Descr,
    Ext,
    ExtInst,
    Func,
    Inst,
    Method,
    Partial,
    Py,
    Scope,
    Seq,
    Super,
    Tup,
    Union,
    Value,
    Xform,
)
from jitlint.link.core import contexts, disguises, left_out, retests, trials
from jitlint.link.engine import effects, evaluator, reading, status
from jitlint.link.engine.budgets import MAX_ITEMS, MAX_STACK
from jitlint.link.engine.domain import Activation
from jitlint.link.engine.frame import BY_CHOICE, Args, Frame
from jitlint.link.engine.machine import Machine, Memo
from jitlint.link.models import registry as libraries
from jitlint.link.models.arrays import binding, methods, numpy_calls
from jitlint.link.models.jax import arity, xforms
from jitlint.link.models.jax.takers import takers
from jitlint.link.models.python import dispatch
from jitlint.link.tables import mocks
from jitlint.link.values import boxes, classes, keys, parameters
from jitlint.link.values.questions.kinds import find_method
from jitlint.link.values.questions.taking import cannot_bind, with_bound
from jitlint.syntax import ir

_NO_FUNCTIONS: Final = frozenset({Arr, At, Py, Tup})
_FEW_WAYS: Final = 3
"""So many tuples are spread one by one."""


def make_function(m: Machine, f: Frame, index: int) -> Func:
    """The function value of a ``def`` or ``lambda``: its code, the scope it closes over, its defaults."""
    fn = f.module.functions[index]
    defaults: dict[str, Value] = {}
    for param in fn.node.params:
        if param.default is not None:
            defaults[param.name] = evaluator.evaluate(m, f, param.default)
    scope: Scope | None = f.scope
    if f.cls is not None:
        scope = f.scope.parent
    value = Func(fn, scope if scope is not None else f.scope, defaults, f.cls)
    if len(fn.values) < 2:
        fn.values.append(value)
    m.domains.on_make(f, fn.node.at, value)
    return value


def decorated(m: Machine, f: Frame, value: Func) -> Value:
    """Apply the decorators, innermost first. One that is not understood leaves its argument as it is."""
    out: Value = value
    for node in reversed(value.fn.node.decorators):
        decorator = evaluator.evaluate(m, f, node)
        result = call(m, f, node.at, decorator, Args([out]))
        if type(decorator) is Ext and m.catalogue.view.removed(decorator.dotted) is not None:
            return UNKNOWN  # whoever has the name does with the function what nobody here knows
        if not _takes_the_same(decorator, out, result):
            value.fn.resigned = True
        kept = type(result) is ExtInst and result.dotted not in (dispatch.DISPATCH, numpy_calls.FOR_EACH)
        if result is not UNKNOWN and not (kept and type(decorator) in (Ext, ExtInst, Method)):
            out = result
        elif type(decorator) in (Ext, ExtInst, Method):
            value.fn.veiled = True
        elif result is UNKNOWN:
            value.fn.disguised = True
    return UNKNOWN if out is value and dispatch.is_one_of_many(value.fn) else out


def _takes_the_same(decorator: Value, given: Value, result: Value) -> bool:
    """Whether what a decorator gives is called as what it got: a transform, or what gives that back, as a function of the
    project or a method such as `defjvp` may."""
    if type(result) is Xform and result.target is given and arity.hands_on(result):
        return True
    takes_rule = type(decorator) is Method and type(decorator.obj) is Xform
    return result is given and (type(decorator) is Func or takes_rule)


def make_super(m: Machine, f: Frame, explicit: list[Value]) -> Value:
    """``super()`` or ``super(C, self)``."""
    if len(explicit) == 2 and type(explicit[0]) is Class:
        return Super(explicit[0].info, explicit[1])
    if f.owner is not None and f.recv is not None:
        return Super(f.owner, f.recv)
    return UNKNOWN


def call(m: Machine, f: Frame, at: int, callee: Value, args: Args) -> Value:
    """Call any value."""
    t = type(callee)
    c: Any = callee
    if f.world.mocked and mocks.is_one(f.world.mocked, callee):
        return UNKNOWN
    if t is Func:
        return call_function(m, f, at, c, args)
    if t is Ext:
        return libraries.call(m, f, at, c.dotted, args)
    if t is Method:
        return methods.call(m, f, at, c.obj, c.name, args)
    if t is Bound:
        return call(m, f, at, c.func, Args([c.recv, *args.pos], args.kw, args.more, args.kw_more))
    if t is Class:
        return classes.instantiate(m, f, at, c.info, args)
    if t is Xform:
        return xforms.call(m, f, at, c, args)
    if t is Partial:
        return call(m, f, at, c.func, with_bound(c, args))
    if t is Union:
        return _call_each(m, f, at, c, args)
    if _is_object(callee):
        return _call_instance(m, f, at, c, args)
    if t is ExtInst:
        return libraries.call_instance(m, f, at, c, args)
    if t is Descr:
        return call(m, f, at, c.func, args)
    return _call_unknown(m, f, at, callee, args)


def _is_object(value: Value) -> bool:
    return type(value) is Inst or (type(value) is Tup and value.cls is not None)


def _call_unknown(m: Machine, f: Frame, at: int, callee: Value, args: Args) -> Value:
    if type(callee) in _NO_FUNCTIONS:
        binding.attribute_called(m, f, at)
    m.domains.on_unknown(f, args)
    return UNKNOWN


def ways(value: Value) -> tuple[tuple[Value, ...], ...]:
    """The tuples that ``*value`` may spread, when these are few and known."""
    tuples = [alt.items for alt in value.alts if type(alt) is Tup] if type(value) is Union else []
    return tuple(tuples) if type(value) is Union and len(tuples) == len(value.alts) <= _FEW_WAYS else ()


def call_each_way(m: Machine, f: Frame, at: int, callee: Value, args: Args) -> Value:
    """A call that spreads one of several tuples: each is tried by itself, since Python may refuse the length of one."""
    if not args.ways:
        return call(m, f, at, callee, args)
    found: list[Value] = []
    for items in keys.exclusive(f, args.ways):
        found.append(call(m, f, at, callee, Args([*args.pos, *items], args.kw, None, args.kw_more)))
    return or_unknown(joined(found))


def _call_each(m: Machine, f: Frame, at: int, callee: Union, args: Args) -> Value:
    out: Value | None = None
    confidence = f.confidence
    several = sum(alt is not NONE for alt in callee.alts) > 1  # what begins as None is set when it is called
    sure = weaken(confidence, 1) if several else confidence  # one of several: which of them is not known here
    entry, f.entry = f.entry, at_most(f.entry, Confidence.LIKELY)  # each got here from somewhere
    dispatched, f.dispatched = f.dispatched, BY_CHOICE if several else f.dispatched
    twins = {alt.dotted.removeprefix("jax.") for alt in callee.alts if type(alt) is Ext}
    if xforms.wrapped_in_turns(callee.alts):
        args = xforms.without_ranks(args)
    for alt in keys.exclusive(f, takers(callee.alts, args) if several else callee.alts):
        # Who chooses between NumPy and its twin takes NumPy for what is not traced.
        host = type(alt) is Ext and alt.dotted in twins and len(twins) < len(callee.alts)
        f.confidence = weaken(sure, 1) if host else sure
        value = call(m, f, at, alt, args)
        out = value if out is None else join(out, value)
    f.confidence, f.entry, f.dispatched = confidence, entry, dispatched
    return out if out is not None else UNKNOWN


def _call_instance(m: Machine, f: Frame, at: int, callee: Inst | Tup, args: Args) -> Value:
    method = find_method(callee, "__call__")
    if type(method) is Inst:
        return UNKNOWN  # an object that is called through an object, perhaps through itself
    if method is not None:
        return call(m, f, at, method, Args([callee, *args.pos], args.kw, args.more, args.kw_more))
    return classes.call_inherited(m, f, at, callee, args) if isinstance(callee, Inst) else UNKNOWN


def bind_arguments(f: Frame, func: Func, args: Args) -> dict[str, Value]:
    """Parameters to values as Python binds them. What an unknown ``*`` or ``**`` may fill is its element."""
    pos, kw = args.pos, args.kw
    names = func.fn.positional
    if names is not None and len(pos) == len(names) and not kw and args.more is None and args.kw_more is None:
        return dict(zip(names, pos))  # most calls
    out: dict[str, Value] = {}
    kw = dict(kw)
    used = 0
    for param in func.fn.node.params:
        kind, name = param.kind, param.name
        if kind == "var":
            rest = list(pos[used:])
            used = max(used, len(pos))
            out[name] = (
                Tup(tuple(rest))
                if args.more is None
                else Seq("tuple", None, joined([args.more, *rest]), FRESH)
            )
        elif kind == "kwvar":
            out[name] = boxes.make_map(f, kw, args.kw_more, STR)
            kw = {}
        elif kind in ("pos", "any") and used < len(pos):
            out[name] = pos[used]
            used += 1
        elif kind != "pos" and name in kw:
            out[name] = kw.pop(name)
        elif args.more is not None and kind in ("pos", "any"):
            out[name] = _or_default(func, name, args.more)
        elif args.kw_more is not None and kind != "pos":
            out[name] = _or_default(func, name, args.kw_more)
        else:
            out[name] = func.defaults.get(name, UNKNOWN)
    return out


def _or_default(func: Func, name: str, value: Value) -> Value:
    default = func.defaults.get(name)
    return value if default is None else UNKNOWN


def call_function(m: Machine, f: Frame, at: int, func: Func, args: Args) -> Value:
    """Call a function of the project in the caller's world."""
    if func.fn.registers:
        for value in (*args.pos, *args.kw.values()):
            if type(value) is Class:
                value.info.hand_over()  # perhaps as a pytree
    if not f.world.level and (f.fn is None or f.fn.hosted) and not f.module.is_test:
        func.fn.hosted = True
    if cannot_bind(func, args):
        return UNKNOWN  # Python says so, and the function never runs
    fn = func.fn
    bound = bind_arguments(f, func, args)
    bound = disguises.taken(fn, bound)
    parameters.refine(m, func, bound)
    if f.fn is not fn and not f.module.is_test:
        fn.reached = True
    result = disguises.given(fn, activate(m, f, at, func, bound))
    return dispatch.narrowed(fn, bound, result) if type(result) is Union else result


def activate(m: Machine, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> Value:
    """Run a function on bound parameters, or give what the same context gave before."""
    if m.schedule.calls is not None:
        m.schedule.note_call(f, func.fn)
    m.domains.on_bind(f, at, func, bound)
    bound, counts = contexts.with_few_counts(func.fn, bound)
    inherited = f.coarse and contexts.inherited(bound, f.coarse)
    frozen, has_keys = freeze_call(bound.values(), func, f.token)
    if type(frozen) is TooLarge:
        _met(m, "size", func.fn)
    sides = retests.handed(m, f, at, func)
    key = _context(f, func, sides, m.intern(frozen), f.confidence, inherited)
    memo = m.memo.get(key)
    known = _remembered(m, f, at, func, memo, bound)
    if known is not None:
        return known
    if f.depth >= MAX_STACK:
        _met(m, "depth", func.fn)
        left_out.forget(func.fn, bound)
        return UNKNOWN
    world = f.world
    where = contexts.OUTSIDE
    if world.level > 0 and (world.here > 0 or any(traced_modes(v) for v in bound.values())):
        where = contexts.GUESSED if f.confidence is Confidence.POSSIBLE else contexts.TRACED
    if memo is not None:
        level = memo.coarse
    else:
        level = contexts.needed(counts, func.fn, where, bound, f.depth, inherited, m.limits.room)
    if level == contexts.EXACT:
        memo = m.memo[key] = Memo(f, 0, m.sink.trial_number, memo)
        return _run(m, f, at, func, bound, sides, memo, f.confidence, inherited, has_keys)
    _met(m, "contexts", func.fn)
    return _run_coarse(m, f, at, func, bound, sides, key, where, level, has_keys)


def _run_coarse(
    m: Machine,
    f: Frame,
    at: int,
    func: Func,
    bound: dict[str, Value],
    sides: tuple[retests.Side, ...],
    exact: tuple[object, ...],
    where: str,
    level: int,
    has_keys: bool,
) -> Value:
    """Run a function in a context that stands for many: as coarse as it takes."""
    given, frozen = dict(bound), exact[-1]  # the variables of the call that it becomes
    while level < contexts.GIVEN_UP:
        less = contexts.coarse(bound, level)
        if not all(map(operator.is_, less.values(), given.values())):
            given, frozen = less, m.intern(freeze_all(less.values(), func, f.token))
        confidence = weaken(f.confidence, level - contexts.WITHOUT_NUMBERS)
        key = _context(f, func, sides, frozen, confidence, level)
        memo = m.memo.get(key)
        known = _remembered(m, f, at, func, memo, bound)
        if known is not None and memo is not None:
            m.memo[exact] = memo
            return known
        allowed = level if memo is not None else contexts.coarser(func, where, level, bound, m.limits.room)
        if allowed == level:
            memo = m.memo[key] = m.memo[exact] = Memo(f, level, m.sink.trial_number, memo)
            value = _run(m, f, at, func, given, sides, memo, confidence, level, has_keys)
            if memo.effects is not None:
                effects.replay(m, f, memo.effects, bound)
            return value
        level = allowed
    m.memo[exact] = Memo()
    return _left_out(m, func.fn, bound)


def _remembered(
    m: Machine, f: Frame, at: int, func: Func, memo: Memo | None, bound: dict[str, Value]
) -> Value | None:
    """What an earlier call in the same context gave, if that still holds; None if the function has to run."""
    if memo is None:
        return None
    if _holds(m, memo, f):
        return _again(m, f, at, func, memo, bound)
    return _left_out(m, func.fn, bound) if reading.is_spent(memo) else None


def _left_out(m: Machine, fn: FuncInfo, bound: dict[str, Value]) -> Value:
    """What a call gives that is not looked at."""
    _met(m, "calls", fn)
    left_out.forget(fn, bound)
    return UNKNOWN


def _context(
    f: Frame, func: Func, sides: tuple[retests.Side, ...], frozen: object, confidence: Confidence, coarse: int
) -> tuple[object, ...]:
    """Everything that a function can read, and what its events depend on. sides: that tests took of it. frozen: stands for the key of
    its arguments."""
    guessed: object = confidence is Confidence.POSSIBLE
    caught = f.caught
    if caught is not None and caught.traced:
        guessed = (guessed, caught.place.module, caught.place.at)
    enters = f.scope.level < f.world.floor == f.world.level
    return (
        func.fn.id,
        func.scope.key,
        f.world.key,
        guessed,
        coarse,
        enters,
        sides,
        frozen,
    )


def _met(m: Machine, limit: str, fn: FuncInfo) -> None:
    m.limits.meet(limit, fn.module.name, fn.node.name_at, fn.qualname)


def _holds(m: Machine, memo: Memo, f: Frame) -> bool:
    """Whether a remembered activation was as sure as this call is, not cut short where this one is not, and what it
    found counts here as well: what a trial found may have been thrown away. A container that it gave, and that has been
    changed since, is the one of another caller."""
    if not memo.done:
        return True
    if (memo.stamp is not None and memo.stamp != boxes.stamp(memo.value)) or not reading.still_holds(memo):
        return False
    if memo.trial and memo.trial != m.sink.trial_number and not trials.says_again(m, memo, f):
        return False
    sure = memo.confidence.rank >= f.confidence.rank and memo.entry.rank >= f.entry.rank
    return sure and memo.dispatched <= f.dispatched and memo.depth <= f.depth


def _run(
    m: Machine,
    f: Frame,
    at: int,
    func: Func,
    bound: dict[str, Value],
    sides: tuple[retests.Side, ...],
    memo: Memo,
    confidence: Confidence,
    coarse: int,
    has_keys: bool,
) -> Value:
    """Run a function, and remember what it gives and does."""
    fn = func.fn
    world = f.world
    number = m.new_activation()
    if m.stop is not None:
        m.stop()
    variables = {**bound, **dict(sides), "$paths": NONE} if sides else bound
    scope = Scope(variables, func.scope, fn, number, world.level, f.token)
    steps = trials.steps_to(f, at, fn)
    frame = Frame(fn.module, scope, world, fn, f.depth + 1, steps, f.ground, confidence)
    said, missing = len(m.sink.record), m.sink.missing
    frame.caught = f.caught if f.caught is not None and f.caught.traced else None
    frame.cls = None
    frame.coarse = coarse
    frame.dispatched = f.dispatched
    frame.has_keys = has_keys
    frame.entry = f.entry
    cuts = m.limits.cuts
    if world.level:
        status.record(m, frame, bound, f.steps)
    watched, outer = effects.watch(bound), reading.begun(m)
    m.domains.on_enter(f, frame)
    _set_receiver(frame, func, bound)
    reached = evaluator.run_block(m, frame, fn.body)
    if frame.exits:
        left = (
            frame.exits if not reached else {n: join(v, scope.vars.get(n, v)) for n, v in frame.exits.items()}
        )
        scope.vars = {**scope.vars, **left}
    value = _result(fn, frame, reached)
    read = m.boxes_read.values()
    memo.value, memo.effects = effects.remembered(watched, value, read, not coarse, number)
    memo.stamp = boxes.stamp(value) if memo.value is value else None
    memo.done = True
    reading.ended(m, memo, outer)
    if m.limits.cuts > cuts:
        memo.depth = f.depth
    activation = Activation(at, func, bound, value, watched)
    memo.summaries = m.domains.summarise(frame, activation)
    if memo.trial and m.sink.missing == missing:
        memo.found = trials.found(f, frame, m.sink.record[said:])
    m.domains.on_leave(f, frame, activation)
    return value


def _again(m: Machine, f: Frame, at: int, func: Func, memo: Memo, bound: dict[str, Value]) -> Value:
    """A remembered call: the domains repeat what it did, its arguments are changed as its own were."""
    rename, value, again = None, memo.value, None
    reading.again(m, memo)
    if memo.trial:
        trials.say_again(m, f, at, func.fn, memo)
    if memo.effects is not None:
        again = effects.Again(m, f, memo.effects, bound)
        value = again.value(value)
    if memo.summaries:
        made = again.made() if again is not None else {}
        rename = m.domains.replay(f, Activation(at, func, bound, value, made=made), memo.summaries)
    if again is not None:
        again.change(f, rename)
    return value if rename is None else rename(value)


def _set_receiver(frame: Frame, func: Func, bound: dict[str, Value]) -> None:
    """Remember what ``super()`` means here."""
    if func.owner is not None and bound:
        frame.scope.vars.setdefault("__class__", Class(func.owner))
        frame.recv = next(iter(bound.values()))
        frame.owner = func.owner


def _generated(fn: FuncInfo, frame: Frame) -> Seq:
    """What a generator gives: each thing in its place, if all of them are written one after the other."""
    level = frame.world.level
    written = [part for part in fn.body if type(part) is ir.ExprStmt and type(part.value) is ir.Yield]
    if 1 < len(written) == len(frame.yields) <= MAX_ITEMS and not any(
        isinstance(part, (ir.Return, ir.Try)) or (type(part) is ir.Yield and part.is_from)
        for part in fn.parts
    ):
        return Seq("iter", frame.yields, None, level)
    return Seq("iter", None, joined(frame.yields), level)


def _result(fn: FuncInfo, frame: Frame, reached: bool) -> Value:
    if fn.node.is_async:
        return UNKNOWN
    if fn.node.is_generator:
        return _generated(fn, frame)
    if reached and fn.is_stub:
        return UNKNOWN  # a stub: whoever overrides it returns something
    if reached:
        return NONE if frame.returns is None else join(frame.returns, NONE)
    return frame.returns if frame.returns is not None else UNKNOWN
