"""Optimisers of `optax` that are put together, or applied, so that they do something else (layer: ``link``, room ``domains``).

What it does: looks at what a chain is made of and in which order, at a learning rate that a schedule gives once, at a mask that
hands on what it leaves out, at updates that are subtracted, at states that begin anew at each step, and at a value that is gone down
in the place of its gradients. What it does not: judge numbers.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OddOptimiser
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import FALSE, TRUE, UNKNOWN, ExtInst, Func, Map, Py, Tree, Value, const_of, py
from jitlint.link.domains.contracts import swapped, unkept
from jitlint.link.engine import evaluator, surroundings
from jitlint.link.engine.domain import Library, Transformed
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_by, last_name, path_text
from jitlint.link.values import paths
from jitlint.link.values.library_objects import COPIES
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir

_MASKED: Final = "optax.masked"
_CHAIN: Final = "optax.chain"
_SITE: Final = "$made"
"""The attribute in which such an optimiser remembers where it was made."""
_MODULE: Final = "$made in"
_FUNCTION: Final = "$made by"
_WHOLE: Final = "$whole"
"""Of a chain: one of its parts is a whole optimiser."""
_MASK: Final = "$mask"
_INIT: Final = "init"
_DEPTH: Final = 4


def made(m: Machine, f: Frame, library: Library) -> None:
    """An optimiser is made."""
    words, args, dotted = lexicon().contracts, library.args, library.dotted
    if dotted == _CHAIN and args.more is None:
        _check_order(m, f, library.at, args.pos)
        if type(library.result) is ExtInst and any(map(_is_complete, args.pos)):
            library.result.attrs[_WHOLE] = TRUE
    elif dotted in words.complete:
        _check_rate(m, f, library.at, args.get(0, "learning_rate"))
    inner, mask = args.get(0, "inner"), args.get(1, "mask")
    whole = _is_whole(inner) or (type(inner) is ExtInst and _WHOLE in inner.attrs)
    if dotted == _MASKED and type(library.result) is ExtInst and whole and mask is not None:
        place = {_SITE: py(library.at), _MODULE: py(f.module.name), _FUNCTION: py(f.qualname)}
        library.result.attrs |= {**place, _MASK: mask}


def started(m: Machine, f: Frame, at: int, owner: ExtInst, params: Value | None) -> None:
    """The state of an optimiser is made: is it one that hands on what its mask leaves out, all by itself."""
    site, module, function, mask = (owner.attrs.get(name) for name in (_SITE, _MODULE, _FUNCTION, _MASK))
    if owner.dotted != _MASKED or type(site) is not Py or type(module) is not Py or type(function) is not Py:
        return
    by_name = type(mask) is Func and _goes_by_name(m, mask)
    if type(mask) is Func and params is not None:
        mask = evaluator.call(m, f, at, mask, Args([params]))
    if mask is not None and _leaves_out(mask, by_name):
        m.emit(
            f, OddOptimiser, int(str(site.const)), None, Confidence.LIKELY,
            where=(str(module.const), str(function.const)), problem="masked", name=_MASKED,
        )  # fmt: skip


def _goes_by_name(m: Machine, func: Func, depth: int = 2) -> bool:
    """Whether a function, or one that it calls, looks at what leaves are called."""
    inside = Frame(func.fn.module, func.scope, HOST)
    for call in (part for part in func.fn.parts if type(part) is ir.Call):
        callee = paths.peek(m, inside, call.func)
        if last_name(call.func) in lexicon().contracts.by_name:
            return True
        if depth and type(callee) is Func and _goes_by_name(m, callee, depth - 1):
            return True
    return False


def _leaves_out(mask: Value, by_name: bool, depth: int = _DEPTH) -> bool:
    """Whether a dict of flags certainly has one that says no, or flags that differ from key to key. by_name: a function computes them
    from what leaves are called, so that they differ."""
    if type(mask) is Py:
        return mask is FALSE or (by_name and mask.kind == "bool" and mask is not TRUE)
    if type(mask) is not Map or not depth:
        return by_name and (mask is UNKNOWN or type(mask) is Tree)
    by_key = type(mask.rest) is Py and mask.rest.kind == "bool"
    return (
        by_key
        or (by_name and mask.rest is UNKNOWN)
        or any(_leaves_out(part, by_name, depth - 1) for part in mask.entries.values())
    )


def updated(m: Machine, f: Frame, at: int, signed: bool, remembers: bool) -> None:
    """``updates, state = tx.update(grads, state)``: what becomes of the updates, and where the state is from. signed: the updates
    go down the slope, as those of a whole optimiser do, and those of its parts do not. remembers: the state has arrays."""
    pair = surroundings.bound_pair(f, at)
    updates = pair[0].elts[0] if pair is not None else None
    if pair is None or type(updates) is not ir.Name:
        return
    for place, node, _ in derivatives.descents(f) if signed else ():
        if type(node) is ir.Name and node.id == updates.id and place > at:
            m.emit(f, OddOptimiser, place, None, Confidence.LIKELY, problem="subtracted", name=updates.id)
    state = derivatives.argument(pair[1], 1, "state")
    if state is not None and remembers:
        unkept.check(m, f, pair[0], pair[1], state)
    if type(state) is ir.Name and not f.module.is_test:
        _check_state(m, f, pair, state, remembers)


def _check_state(
    m: Machine, f: Frame, pair: tuple[ir.Tuple, ir.Call], state: ir.Name, remembers: bool
) -> None:
    """A state that is made right before, in the place of one that came in, or of the one that the step before left."""
    call, new = pair[1], pair[0].elts[1]
    fn, begun = f.fn, _begun(f.fn, call, state.id)
    if fn is None or begun is None or not (_is_plain(m, f, begun.at) and _is_plain(m, f, f.at)):
        return
    came_in = any(param.name == state.id for param in fn.node.params)
    forgotten = remembers and type(new) is ir.Name and not unkept.is_kept(fn, new.id, call)
    if came_in or forgotten:
        when = () if came_in else (unkept.GoesRound(m, fn),)
        m.emit(
            f, OddOptimiser, begun.at, None, Confidence.LIKELY, when=when, problem="restarted", name=state.id
        )  # fmt: skip


def _begun(fn: FuncInfo | None, call: ir.Call, state: str) -> ir.Assign | None:
    """The one statement before a step that makes its state: ``state = tx.init(params)``."""
    begins = [part for part in bound_once.bindings(fn, state) if part.at < call.at and part.value is not call]
    made = begins[0].value if len(begins) == 1 else None
    return begins[0] if type(made) is ir.Call and last_name(made.func) == _INIT else None


def _is_plain(m: Machine, f: Frame, at: int) -> bool:
    """Whether a statement runs once in each run of its function."""
    around = m.texts.table(f).around.get(at, ())
    return all(node is None or type(node) is ir.With for node, _ in around)


def derived(m: Machine, f: Frame, transformed: Transformed) -> None:
    """``value, grads = jax.value_and_grad(loss)(params)``: which of both are the parameters moved along."""
    x = transformed.x
    _check_place(m, f)
    valued = x.spec.result == derivatives.VALUED and "has_aux" not in x.options
    pair = surroundings.bound_pair(f)
    order = swapped.order(x, pair[0]) if pair is not None else ""
    if order:
        m.emit(f, OddOptimiser, f.at, None, Confidence.LIKELY, problem="misnamed", name=order)
        return
    pair = pair if valued else None
    first, second = pair[0].elts if pair is not None else (None, None)
    if pair is None or type(first) is not ir.Name or type(second) is not ir.Name:
        return
    at = f.at
    downhill = _gone_down(f, at, pair[1])
    wrong = first.id in downhill and second.id not in downhill
    if wrong and bound_once.only_binding(f.fn, first.id) is not None:
        m.emit(f, OddOptimiser, at, None, Confidence.LIKELY, problem="swapped", name=first.id)


def _check_place(m: Machine, f: Frame) -> None:
    """``grads = jax.grad(loss)(params)`` in a function that goes down from what it is given, and takes it by something else, which
    is the same at each of its calls."""
    node, fn = surroundings.statement(f), f.fn
    if fn is None or type(node) is not ir.Assign or type(node.value) is not ir.Call:
        return
    if derivatives.kind_of(m, f, node.value.func)[0] not in derivatives.DERIVED:
        return
    params = frozenset(param.name for param in fn.node.params)
    table, names = m.texts.table(f), bound_by(node)
    if not names or table.mentions_through(node.value, params | frozenset(fn.node.local_names)):
        return
    for place, down, start in derivatives.descents(f):
        taken = type(down) is ir.Name and down.id == names[-1] and place > node.at
        if taken and type(start) is ir.Name and start.id in params:
            m.emit(
                f, OddOptimiser, node.value.at, None, Confidence.LIKELY, problem="elsewhere", name=start.id
            )


def _gone_down(f: Frame, at: int, call: ir.Call) -> set[str]:
    """The variables that are subtracted, after a place, from what a call was given."""
    given = {path_text(arg.value) for arg in call.args}
    later = [one for one in derivatives.descents(f) if one[0] > at and path_text(one[2]) in given]
    return {node.id for _, node, _ in later if type(node) is ir.Name}


def _check_order(m: Machine, f: Frame, at: int, parts: list[Value]) -> None:
    """Clipping that comes when an optimiser with a memory has taken the gradients in."""
    words = lexicon().contracts
    taken = False
    for part in parts:
        if taken and type(part) is ExtInst and part.dotted in words.clipping:
            m.emit(f, OddOptimiser, at, None, Confidence.LIKELY, problem="clipped-late", name=part.dotted)
            return
        taken = taken or _is_complete(part)


def _is_complete(value: Value | None) -> bool:
    """Whether it is an optimiser with a memory of the gradients and a learning rate."""
    return type(value) is ExtInst and _is_whole(value) and COPIES in value.attrs


def _is_whole(value: Value | None) -> bool:
    """Whether it is an optimiser with a learning rate."""
    return type(value) is ExtInst and value.dotted in lexicon().contracts.complete


def _check_rate(m: Machine, f: Frame, at: int, rate: Value | None) -> None:
    """A learning rate that a schedule gives for a step that is written down."""
    node = bound_once.written(f.fn, derivatives.argument(m.texts.table(f).calls.get(at), 0, "learning_rate"))
    if type(node) is not ir.Call or len(node.args) != 1 or f.world.level:
        return
    schedule, step = paths.peek(m, f, node.func), node.args[0].value
    known = type(schedule) is ExtInst and schedule.dotted in lexicon().contracts.schedules
    if known and type(step) is ir.Const and rate is not None and const_of(rate) is not None:
        name = last_name(node.func)
        m.emit(f, OddOptimiser, at, None, Confidence.LIKELY, problem="once", name=name)
