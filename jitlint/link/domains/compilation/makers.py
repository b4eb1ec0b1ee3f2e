"""Compiled functions that are made again and again: JIT501 and JIT502 (layer: ``link``, room ``domains``).

What it does: follows where transformed functions, partials and inner functions are made in host code, and where the
compiled ones are called. A compiled function belongs to the function object it was made of: made of a new object, it
is traced and compiled anew; made of the same one, JAX finds the old program, but only after a slow search. What it
does not: look at arguments (`compilation_arguments`) or decide how often a function runs (`compilation_runs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import JitCreation
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    Bound,
    Class,
    Ext,
    Func,
    Inst,
    Method,
    Partial,
    Union,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.domains.compilation import arguments as compilation_arguments
from jitlint.link.domains.compilation import objects, variants
from jitlint.link.domains.compilation import runs as compilation_runs
from jitlint.link.domains.compilation.log import (
    BIRTHS,
    Birth,
    CallSite,
    CompilationLog,
    EagerLoop,
    PerCall,
    births,
)
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import naming
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.tables.ir_walk import by_parameter
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

WATCHED: Final = frozenset({Func, Bound, Xform, Partial, Inst, Method})
"""Types of values that a call may be about."""

CALLABLE: Final = frozenset({Func, Bound, Xform, Union, Inst})

_MEMOS: Final = ("cache", "memo")


def born(f: Frame, at: int, value: Value) -> None:
    """Remember that a value with its own identity is made here."""
    found = BIRTHS.of(f)
    if found is None:
        found = {}
        BIRTHS.put(f, found)
    found[at] = Birth(value, f.loops, f.at)


def after_call(log: CompilationLog, f: Frame, node: ir.Call, callee: Value, result: Value) -> None:
    """Look at a call in host code: which function is called, is its result new, is it a compiled one."""
    for alt in alternatives(callee):
        _called_one(log, f, node, alt)
    func = _function(callee)
    if type(result) is Union and func is not None:
        for alt in alternatives(result):
            if type(alt) is Xform and (func.fn.id, id(alt)) in log.fresh:
                born(f, node.at, alt)  # a helper that compiles what it is given, unless it is told not to
        return
    if type(result) not in WATCHED:
        return
    if isinstance(callee, (Ext, Class)) if func is None else (func.fn.id, id(result)) in log.fresh:
        born(f, node.at, result)


def _called_one(log: CompilationLog, f: Frame, node: ir.Call, callee: Value) -> None:
    func = _function(callee)
    if func is not None:
        sites = log.sites.setdefault(func.fn.id, {})
        known = sites.get((f.module.name, node.at))
        if known is None or known.frame.depth < f.depth:  # who is called knows more than who runs on its own
            sites[f.module.name, node.at] = CallSite(f, node, f.loops)
        if f.loops:
            _handed_on(log, f, node, func)
    if compiles(callee):
        _called(log, f, node, callee, node.func)
    elif type(callee) is Xform and compiles(callee.target):
        if type(node.func) is ir.Call and node.func.args:
            _called(log, f, node, callee.target, node.func.args[0].value)  # of `jax.vmap(compiled)(x)`
    elif type(callee) is Bound and compiles(callee.func):
        compilation_arguments.check(log, f, log.m.texts.table(f), node, callee.func, 1)


def _handed_on(log: CompilationLog, f: Frame, node: ir.Call, func: Func) -> None:
    """A function may get a compiled one that is made on the spot, and call it."""
    params = func.fn.node.params[1:] if func.owner is not None else func.fn.node.params
    for name, value in by_parameter(node, params):
        made = births(f).get(value.at) if type(value) is ir.Call else None
        if made is not None and compiles(made.value) and _calls(func.fn, name):
            _called(log, f, node, made.value, value)


def _calls(fn: FuncInfo, name: str) -> bool:
    calls = (part.func for part in fn.parts if type(part) is ir.Call)
    return any(type(func) is ir.Name and func.id == name for func in calls)


def compiles(value: Value) -> TypeGuard[Xform]:
    return type(value) is Xform and value.spec.name in lexicon().compilation.transforms


def control_flow(log: CompilationLog, f: Frame, node: ir.Call, name: str) -> None:
    """Look at a loop or branch of JAX in host code: is it given a function that is made anew each time."""
    fn = f.fn
    doubtful = f.module.is_test or f.world.excused or f.world.eager_jit
    if not births(f) or doubtful or (fn is not None and fn.traced_contexts):
        return
    table = log.m.texts.table(f)
    found = _given_anew(f, table, node, name)
    if found is None:
        return
    made, what = found
    site = (f.module.name, node.at)
    if made.loops:
        loop = made.loops[-1]
        done = (f.module.name, "jit", node.at) in log.done
        if not (done or variants.is_written(f, table, loop) or table.runs_once(loop, f.at)):
            log.eager.setdefault(site, EagerLoop(f, f.confidence, node.at, what, name, True))
    elif not f.loops and fn is not None and not _is_set_up(fn):
        log.eager.setdefault(site, EagerLoop(f, f.confidence, node.at, what, name, False))


def _is_set_up(fn: FuncInfo) -> bool:
    """Whether a function runs once, or keeps what it gives."""
    return is_memo(fn) or fn.name in lexicon().compilation.run_once


def _given_anew(f: Frame, table: CodeTable, node: ir.Call, name: str) -> tuple[Birth, str] | None:
    """The first of the functions that are given to a loop or branch that is made where it is given."""
    places = lexicon().compilation.control_flow[name]
    given = [(a.name or p, a.value) for a, p in zip(node.args, places) if not a.star]
    given += [(a.name, a.value) for a in node.args[len(places) :] if a.name is not None]
    for parameter, value in given:
        found = _written(f, table, value) if parameter in lexicon().compilation.functions else None
        if found is not None:
            return found
    return None


def _written(f: Frame, table: CodeTable, node: ir.Node | None) -> tuple[Birth, str] | None:
    """The making of a function that an expression writes down, or that is written in the same function."""
    if type(node) is ir.Name:
        values = table.bound.get(node.id, ())
        node = values[0] if len(values) == 1 else None
    if isinstance(node, (ir.List, ir.Tuple)):
        return next(filter(None, (_written(f, table, one) for one in node.elts)), None)
    if not isinstance(node, (ir.Lambda, ir.FuncDef)):
        return None
    written = table.module.functions[node.function].node
    birth = births(f).get(written.at) if not written.decorators else None
    if birth is None:
        return None
    return birth, "lambda" if written.is_lambda else "inner function"


def _function(value: Value) -> Func | None:
    """The function that a call of a value runs itself. Who calls a module of a library is as a rule compiled as a whole."""
    plain = isinstance(value, Inst) and not value.cls.role
    found = find_method(value, "__call__") if plain and isinstance(value, Inst) else value
    while isinstance(found, Bound):
        found = found.func
    return found if type(found) is Func else None


def returned(log: CompilationLog, f: Frame, value: Value) -> None:
    """Remember that a function gives its caller something that it has made itself and keeps nowhere."""
    fn = f.fn
    if fn is None or not isinstance(value, (Func, Xform, Partial, Union)):
        return
    if is_memo(fn):
        return
    table = log.m.texts.table(f)
    given = alternatives(value)
    for at, birth in births(f).items():
        if any(birth.value is alt for alt in given) and _only_returned(table, at, birth):
            retraces, what = True, "function"
            if type(birth.value) is Xform:
                retraces, what = _identity(log, f, table, birth.value, birth.loops, at)
            log.fresh[fn.id, id(birth.value)] = (birth.value, retraces, what)


def _only_returned(table: CodeTable, at: int, birth: Birth) -> bool:
    name = _name_of(table, at)
    if name is None:
        call = table.calls.get(at)
        return call is not None and any(
            type(s) is ir.Return and s.value is call for s in _returns(table.body)
        )
    return name in table.returned and name not in table.escaping


def _returns(body: Sequence[ir.Node]) -> list[ir.Node]:
    found: list[ir.Node] = []
    stack = list(body)
    while stack:
        node = stack.pop()
        if type(node) is ir.Return:
            found.append(node)
        for name in ("body", "orelse", "final"):
            if not isinstance(node, (ir.FuncDef, ir.ClassDef)):
                stack.extend(getattr(node, name, ()))
    return found


def is_memo(fn: FuncInfo) -> bool:
    """Whether a function is decorated with something that remembers its results."""
    for node in fn.node.decorators:
        if type(node) is ir.Call:
            node = node.func
        name = node.name if type(node) is ir.Attr else node.id if type(node) is ir.Name else ""
        if any(word in name.lower() for word in _MEMOS):
            return True
    return False


def _name_of(table: CodeTable, at: int) -> str | None:
    """The name that a call's result or a decorated definition is bound to."""
    for name, values in table.bound.items():
        for value in values:
            if value is None:
                continue
            if type(value) is ir.FuncDef:
                node = table.module.functions[value.function].node
                if node.at == at or any(d.at == at for d in node.decorators):
                    return name
            elif value.at == at:
                return name
    return None


def _birth_of(f: Frame, table: CodeTable, func: ir.Node | None, x: Xform) -> tuple[int, Birth] | None:
    """Where the compiled function that an expression names was made, if that was in this very activation."""
    here = births(f)
    if isinstance(func, (ir.Call, ir.Attr)):
        found = here.get(func.at)
        return (func.at, found) if found is not None else None
    if type(func) is not ir.Name or func.id in table.escaping or func.id in table.returned:
        return None
    for value in table.bound.get(func.id, ()):
        if value is None:
            continue
        places = [value.at]
        if type(value) is ir.FuncDef:
            places = [d.at for d in table.module.functions[value.function].node.decorators]
        for at in places:
            found = here.get(at)
            if found is not None and found.value is x:
                return at, found
    return None


def _called(log: CompilationLog, f: Frame, node: ir.Call, x: Xform, written: ir.Node) -> None:
    """A compiled function is called, or what a transform made of it. written: as what the code names it."""
    turns = bool(f.loops) and not variants.turn_few_times(log.m, f, f.loops)
    if turns and f.fn is not None:
        log.long.add(f.fn.id)
    table = log.m.texts.table(f)
    found = _birth_of(f, table, written, x)
    if (found is None or not found[1].loops) and written is node.func:
        compilation_arguments.check(log, f, table, node, x)
    if found is None:
        objects.called(log, f, node, x)
        return
    at, birth = found
    identity = _identity_of(log, f, table, x, birth, at)
    if identity is None:
        return
    retraces, what = identity
    key = (f.module.name, at)
    if birth.loops:
        if type(birth.value) is Xform:
            _in_loop(log, f, table, node, at, birth, birth.value, retraces, what)
    elif turns or _guarded(table, birth.statement, f.at):
        log.kept[key] = max(log.kept.get(key, 0), f.depth)
    elif f.fn is not None and not _is_set_up(f.fn) and (retraces or not _is_local(f.fn, table, at)):
        made = PerCall(f, f.confidence, at, node.at, retraces, what, x.spec.name, bool(f.loops))
        log.per_call.setdefault(key, made)
        log.few[key] = max(log.few.get(key, 0), f.depth)


def _identity_of(
    log: CompilationLog, f: Frame, table: CodeTable, x: Xform, birth: Birth, at: int
) -> tuple[bool, str] | None:
    """Whether the compiled function is made of a new object every time, and what that is; None: not known."""
    if x.site != (f.module.name, at):
        for (_, value), known in log.fresh.items():
            if value == id(x):
                if known[1]:
                    return known[1], known[2]
                break  # made of what the function was given
    return _identity(log, f, table, x, birth.loops, at)


def _identity(
    log: CompilationLog, f: Frame, table: CodeTable, x: Xform, loops: tuple[ir.Node, ...], at: int
) -> tuple[bool, str]:
    target = x.target
    here = births(f)
    structural = x.spec.name.startswith(lexicon().compilation.by_structure)
    if type(target) is Func:
        made = here.get(target.fn.node.at)
        if made is not None and made.loops[: len(loops)] == loops:
            return True, "lambda" if target.fn.node.is_lambda else "inner function"
        return False, "function"
    if type(target) is Partial and target.site is not None:
        made = here.get(target.site[1])
        return made is not None and made.loops[: len(loops)] == loops, "partial"
    if type(target) is Xform and not structural:
        made = here.get(target.site[1])
        return made is not None and made.loops[: len(loops)] == loops, "transform"
    if isinstance(target, (Bound, Method)) and not structural:
        return _argument_is(table, at, ir.Attr), "method"
    return False, "function"


def _is_local(fn: FuncInfo, table: CodeTable, at: int) -> bool:
    """Whether what is compiled comes from the function around, which may be given another one each time."""
    node = table.maker(at)
    while type(node) is ir.Call and node.args:
        node = node.args[0].value
    while type(node) is ir.Attr:
        node = node.obj
    return type(node) is not ir.Name or node.id in fn.node.local_names


def _argument_is(table: CodeTable, at: int, kind: type) -> bool:
    call = table.calls.get(at)
    return call is not None and bool(call.args) and type(call.args[0].value) is kind


def _maker(table: CodeTable, call: ir.Call, at: int) -> ir.Node | None:
    """What made a compiled function that is called: a call, a decorated definition, or a property that was asked for."""
    asked = call.func
    return asked if type(asked) is ir.Attr and asked.at == at else table.maker(at)


def _in_loop(
    log: CompilationLog,
    f: Frame,
    table: CodeTable,
    node: ir.Call,
    at: int,
    birth: Birth,
    x: Xform,
    retraces: bool,
    what: str,
) -> None:
    key = (f.module.name, "jit", at)
    if key in log.done:
        return
    maker = _maker(table, node, at)
    loop = birth.loops[-1]
    assigned = frozenset[str]().union(*[table.assigned(part) for part in birth.loops])
    here = x.site == (f.module.name, at)
    if maker is None or (here and variants.is_target(table, maker, assigned)):
        return
    if table.runs_once(loop, birth.statement) or _guarded(table, birth.statement, f.at):
        return
    amortised = len(f.loops) > len(birth.loops)
    varying = bool(table.mentions_through(maker, assigned))
    if (amortised and (varying or not retraces)) or variants.is_written(f, table, loop):
        return
    log.done.add(key)
    also: tuple[Step, ...] = ()
    if node.func.at != at:
        also = (Step(f.module.name, node.at, "it is called here"),)
    few = not retraces and (variants.names_parts(loop) or _is_compiled_anyway(table, x, node, loop))
    confidence = (
        Confidence.POSSIBLE
        if few or _places(maker, node) or variants.is_of_the_turn(log.m, f, table, maker, assigned, here)
        else _confidence(f, retraces, not amortised and not varying)
    )
    log.m.emit(
        f,
        JitCreation,
        at,
        None,
        confidence,
        repeated="loop",
        retraces=retraces,
        what=what,
        also=also,
        transform=x.spec.name,
    )


def _confidence(f: Frame, retraces: bool, sure: bool) -> Confidence:
    if (
        naming.is_benchmark(f.module.path)
        or (f.module.is_test and not retraces)
        or surroundings.only_checks(f.fn)
    ):
        return Confidence.POSSIBLE  # nobody waits for the dispatch in a test
    return Confidence.CERTAIN if retraces and sure else Confidence.LIKELY


def _is_compiled_anyway(table: CodeTable, x: Xform, call: ir.Call, loop: ir.Node) -> bool:
    """Whether a turn may give a static argument of its own, beside which the search for the old program is nothing, or calls
    one function of a library, which has hardly anything to dispatch."""
    if type(x.target) is Ext:
        return True
    if x.options.keys().isdisjoint((x.spec.static_nums, x.spec.static_names)):
        return False
    turn = table.assigned(loop)
    return any(type(arg.value) is ir.Name and arg.value.id in turn for arg in call.args)


def _places(maker: ir.Node, call: ir.Call) -> bool:
    """Whether what is compiled is given nothing, and makes what lies on several devices: buffers, when a program begins."""
    options = [arg.name for arg in maker.args] if type(maker) is ir.Call else []
    return not call.args and "out_shardings" in options


def _guarded(table: CodeTable, made: int, called: int) -> bool:
    """Whether the making stands under a condition that the call does not: it may happen once for many calls."""
    inner = [node.at for node, _ in table.around.get(made, ()) if isinstance(node, (ir.If, ir.Try))]
    outer = {node.at for node, _ in table.around.get(called, ())}
    return made != called and any(at not in outer for at in inner)


def finish(log: CompilationLog) -> None:
    """Record what could only be told at the end: compiled functions made by functions that run many times."""
    for key, found in log.per_call.items():
        if log.kept.get(key, -1) >= log.few[key] or naming.is_benchmark(found.frame.module.path):
            continue
        many = compilation_runs.runs_many(log, found.frame.fn)
        seen = found.retraces and not found.turns
        if many is None or (not seen and (many.site is None or found.frame.module.is_test)):
            continue
        # To find the old program costs a tenth of a millisecond: said to those who ask for what is possible.
        f = found.frame
        level = (
            many.confidence if found.retraces and not surroundings.only_checks(f.fn) else Confidence.POSSIBLE
        )
        f.confidence = found.confidence
        f.at = found.at
        log.m.emit(
            f, JitCreation, found.at, None, level, repeated="call",
            retraces=found.retraces, what=found.what, also=many.also, transform=found.transform,
        )  # fmt: skip
    for eager in log.eager.values():
        _finish_eager(log, eager)


def _finish_eager(log: CompilationLog, found: EagerLoop) -> None:
    """Say that a loop or branch of JAX compiles each time: only of code that surely runs outside of any trace."""
    f = found.frame
    if f.fn is not None and (f.fn.traced_contexts or not f.fn.hosted or f.fn.resigned):
        return  # what decorates it may well compile it
    also: tuple[Step, ...] = ()
    if not found.in_loop:
        many = compilation_runs.runs_many(log, f.fn)
        caller = many.site.frame if many is not None and many.site is not None else None
        if many is None or caller is None or caller.module.is_test:
            return
        if caller.fn is not None and (caller.fn.traced_contexts or not caller.fn.hosted):
            return
        also = many.also
    f.confidence = found.confidence
    f.at = found.at
    log.m.emit(
        f, JitCreation, found.at, None, Confidence.LIKELY, repeated="loop" if found.in_loop else "call",
        what=found.what, api=found.api, also=also,
    )  # fmt: skip
