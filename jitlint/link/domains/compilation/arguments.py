"""Arguments that make a compiled function be compiled again and again: JIT505 and JIT506 (layer: ``link``, room ``domains``).

What it does: looks at calls of compiled functions in host code, argument by argument. A static argument must not be
another one each time, a traced one must keep its shape. What depends on a parameter of the function around is asked
of that function's callers at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import VaryingArgument
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Map, Xform
from jitlint.link.domains.compilation import runs as compilation_runs
from jitlint.link.domains.compilation import variants
from jitlint.link.domains.compilation.chance import Chance
from jitlint.link.domains.compilation.computing import is_fraction, only_computes
from jitlint.link.domains.compilation.held import new_optimiser
from jitlint.link.domains.compilation.identities import new_object
from jitlint.link.domains.compilation.log import CallSite, CompilationLog, Question
from jitlint.link.domains.compilation.rebuilt import rebuilt
from jitlint.link.domains.compilation.renewed import renewals
from jitlint.link.domains.compilation.variation import Variation
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import ir_walk
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import paths
from jitlint.link.values.questions import signatures
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir

MAX_CALLERS: Final = 4


def check(log: CompilationLog, f: Frame, table: CodeTable, node: ir.Call, x: Xform, skip: int = 0) -> None:
    """Look at the arguments of one call. skip: that many parameters are filled already (``self``)."""
    if x.broken:
        return
    sig = signature(x.target)
    by_parameters = log.m.catalogue.view.behaves("static-counts-parameters") is True
    given = skip + len([a for a in node.args if a.name is None])
    nums, names, known = signatures.static_names(x, sig, given, by_parameters)
    if not known:
        return
    positional = sig.positional if sig is not None else []
    if skip and 0 in nums:
        _check_receiver(log, f, table, node)
    beside = _static_arguments(node, skip, nums, names)
    for i, arg in enumerate(node.args, skip):
        if arg.star:
            if not x.spec.filter:
                return
            positional = []  # which follow is not known, and what a filter takes as static hangs on the values
            continue
        name = _name(arg, positional[i : i + 1])
        static = arg.name in names if arg.name is not None else i in nums
        target = sig.func.fn if sig is not None else None
        question = Question(
            f, f.confidence, table, node, arg.value, name, static, x.spec.filter, target, beside, len(f.loops)
        )
        _look(log, question)


def _static_arguments(node: ir.Call, skip: int, nums: set[int], names: set[str]) -> tuple[ir.Expr, ...]:
    """What a call gives for static parameters, as far as that is written out."""
    keyed = enumerate(node.args, skip)
    given = [(arg, arg.name in names if arg.name is not None else i in nums) for i, arg in keyed]
    return tuple([arg.value for arg, static in given if static and not arg.star])


def _look(log: CompilationLog, question: Question) -> None:
    """Ask it of the loops around, and keep it for the callers of the function."""
    f, arg = question.frame, question.arg
    if f.loops:
        _ask(log, question, Variation(log.m, f, question.table, f.loops), ())
    if f.fn is not None and type(arg) is not ir.Const:
        kept = log.questions.get((f.module.name, arg.at))
        if kept is None or kept.frame.depth < f.depth:  # who is called knows more than who runs on its own
            log.questions[f.module.name, arg.at] = question


def _check_receiver(log: CompilationLog, f: Frame, table: CodeTable, node: ir.Call) -> None:
    """The object of a method is a static argument: is it another one in each turn of the innermost loop."""
    if type(node.func) is not ir.Attr or not f.loops:
        return
    loop, variation = f.loops[-1], Variation(log.m, f, table, f.loops[-1:])
    over = loop.iter if type(loop) is ir.For else None
    few = (
        type(over) is ir.Call
        and variation.dotted(over.func) == "builtins.range"
        and not variation.counts(over)
    )
    if not (few or variants.is_written(f, table, loop) or variants.names_parts(loop)):
        question = Question(f, f.confidence, table, node, node.func.obj, "self", True, False, None)
        _ask(log, question, variation, ())


def _name(arg: ir.Arg, parameter: list[ir.Param]) -> str:
    """What an argument is called: as its parameter, or as it is written."""
    return arg.name or (parameter[0].name if parameter else ir_walk.path_text(arg.value))


def _ask(
    log: CompilationLog, q: Question, variation: Variation, also: tuple[Step, ...], certain: bool = True
) -> bool:
    """Record it when the argument varies in the loops; answers whether it does."""
    how, kind = _change(log, q, variation)
    if not how:
        return False
    key = (q.frame.module.name, "argument", q.arg.at)
    loop = (variation.f.module.name, kind, variation.loops[-1].at if variation.loops else q.node.at)
    if key not in log.done and not (kind == "shape" and loop in log.done):
        log.done |= {key, loop}  # one shape that varies in a loop says it of all that are made of it
        f = q.frame
        doubtful = f.module.is_test or len(variation.loops) > 1
        confidence = Confidence.LIKELY if doubtful or not certain else None
        log.m.emit(
            f, VaryingArgument, q.arg.at, None, confidence, problem=kind, parameter=q.parameter, how=how, also=also
        )  # fmt: skip
    return True


def _change(log: CompilationLog, q: Question, variation: Variation) -> tuple[str, str]:
    """How an argument changes from turn to turn, "" if it does not, and what changes of it."""
    how = "" if q.static else variation.shape(q.arg)
    held = "" if how or q.static else new_optimiser(log, q, variation)
    if held:
        return held, "held"
    if how or not (q.static or (q.filter and type(q.arg) is not ir.Const)):
        return how, "shape"
    how = _fresh(log, q, variation)
    if how:
        return how, "fresh"
    how = variation.scalar(q.arg)
    if not how and q.filter:
        return rebuilt(variation, q.arg), "filter-leaf"
    if how or not q.static:
        return how, "static" if q.static else "filter"
    return _needlessly(q, variation), "number"


def _needlessly(q: Question, variation: Variation) -> str:
    """Which of few numbers with a point a static argument is that the function only computes with, or ""."""
    if q.target is None or not q.parameter or not is_fraction(variation, q.arg):
        return ""
    how = variation.of_few().scalar(q.arg)
    return how if how and only_computes(q.target, q.parameter) else ""


def _fresh(log: CompilationLog, q: Question, variation: Variation) -> str:
    """What new object a static argument is at every turn, or ""."""
    node: ir.Node | None = q.arg
    if type(node) is ir.Name:
        node = _made_of(q, variation, node.id)
    if type(node) is ir.Call and _is_variant(q, variation, node):
        return ""
    renewed = renewals(variation, node) if type(node) is ir.Attr else ()
    made = (new_object(log, place.f, one, place) for place, one in renewed)
    return next(filter(None, made), "") or new_object(log, q.frame, node, variation)


def _made_of(q: Question, variation: Variation, name: str) -> ir.Node | None:
    """What a variable is made of at every turn of the loops, or, without loops, whenever the function runs; None if that is not
    one expression, or if a caller may bring the value."""
    bound = [value for value in q.table.bound.get(name, ()) if value is not None]
    if variation.loops:
        bound = [value for value in bound if q.table.stands_in(value, variation.loops)]
        bound = bound if name in variation.assigned else []
    elif q.frame.fn is not None and any(param.name == name for param in q.frame.fn.node.params):
        left_out = variation.given.get(name)
        default = left_out[1] if left_out is not None else None
        bound = bound if type(default) is ir.Const and default.kind == "none" else []
    return bound[0] if len(bound) == 1 else None


def _is_variant(q: Question, variation: Variation, made: ir.Call) -> bool:
    """Whether an object is made of what a loop goes through, other than numbers, or of what the callers choose: each is
    compiled for on purpose. So it is if another static argument is, which is as new as the object."""
    chosen, nearest = _chosen(q, variation, made)
    others = [arg for arg in q.beside if arg is not q.arg]
    return bool(_names([arg.value for arg in made.args]) & chosen or _behind(q.table, others) & nearest)


def _chosen(q: Question, variation: Variation, made: ir.Call) -> tuple[set[str], set[str]]:
    """What all loops around go through, and what the nearest loop around the making of an object does, or else the callers choose."""
    fn = q.frame.fn
    if variation.loops or fn is None:
        around = [loop for loop in variation.loops if q.table.stands_in(made, (loop,))]
        return _targets(variation, variation.loops), _targets(variation, around[-1:])
    callers = [param.name for param in fn.node.params if not _is_steady(variation, param.name)]
    return set(callers), set(callers[1:] if _is_method(fn) and not variation.given else callers)


def _targets(variation: Variation, loops: Sequence[ir.Node]) -> set[str]:
    """What loops go through that do not count."""
    over = [loop.target for loop in loops if type(loop) is ir.For and not variation.counts(loop.iter)]
    return {name.id for name in ir_walk.bound_names(over)}


def _is_method(fn: FuncInfo) -> bool:
    return bool(fn.values) and fn.values[0].owner is not None


def _names(nodes: Iterable[ir.Node]) -> set[str]:
    return {part.id for part in ir_walk.nodes(list(nodes)) if type(part) is ir.Name}


def _behind(table: CodeTable, nodes: Iterable[ir.Node]) -> set[str]:
    """The names in expressions, and in what those stand for."""
    found, waiting = set[str](), _names(nodes)
    while waiting:
        found |= waiting
        values = [value for name in waiting for value in table.bound.get(name, ()) if value is not None]
        waiting = _names(values) - found
    return found


def _is_steady(variation: Variation, parameter: str) -> bool:
    """Whether the caller is known, and hands the same over in each turn of its loop."""
    outer, given = variation.given.get(parameter, (None, None))
    mentioned = (part.id for part in ir_walk.nodes(given) if type(part) is ir.Name)
    return outer is not None and outer.assigned.isdisjoint(mentioned)


def finish(log: CompilationLog) -> None:
    """Answer what depends on the callers: an argument that is a parameter, a new object per call."""
    for key, q in log.questions.items():
        if (q.frame.module.name, "argument", key[1]) in log.done or q.frame.fn is None:
            continue
        q.frame.confidence = q.confidence
        sites = list(log.sites.get(q.frame.fn.id, {}).values())
        for site in sites[:MAX_CALLERS]:
            if site.loops and site.frame.fn is not q.frame.fn and _ask_caller(log, q, site):
                break
        else:
            _ask_itself(log, q)


def _ask_itself(log: CompilationLog, q: Question) -> None:
    """Record an argument that is another one at every run of the function that passes it, if it runs many times."""
    how = _fresh(log, q, Variation(log.m, q.frame, q.table, ())) if q.static or q.filter else ""
    kind = "fresh"
    if not q.static and not how:
        how, kind = Chance(log.m, q.frame, q.table).shape(q.arg), "shape"
    if not q.static and not how:
        how, kind = new_optimiser(log, q, Variation(log.m, q.frame, q.table, ())), "held"
    many = compilation_runs.runs_many(log, q.frame.fn) if how else None
    if many is not None and (many.site is not None or not q.static):
        log.m.emit(
            q.frame, VaryingArgument, q.arg.at, None, many.confidence, problem=kind, parameter=q.parameter, how=how,
            also=many.also,
        )  # fmt: skip


def _ask_caller(log: CompilationLog, q: Question, site: CallSite) -> bool:
    fn = q.frame.fn
    assert fn is not None
    outer = Variation(log.m, site.frame, log.m.texts.table(site.frame), site.loops)
    told = written(fn, site)
    told.update(_spread(log, fn, site, told))
    given = {name: (outer, node) for name, node in told.items()}
    step = Step(site.frame.module.name, site.node.at, f"`{fn.qualname}` is called in a loop here")
    inside = Variation(log.m, q.frame, q.table, (), given, called=True)
    return _ask(log, q, inside, (step,), certain=not site.frame.module.is_test)


def written(fn: FuncInfo, site: CallSite) -> dict[str, ir.Expr]:
    """What a call hands over, by the parameters that get it."""
    params = [p for p in fn.node.params if p.kind in ("pos", "any")]
    through = type(site.node.func) is ir.Attr or fn.name == "__call__"
    skip = 1 if _is_method(fn) and through else 0
    given: dict[str, ir.Expr] = {}
    if skip and type(site.node.func) is ir.Attr and params:
        given[params[0].name] = site.node.func.obj
    for i, arg in enumerate(site.node.args):
        if arg.star:
            break
        if arg.name is not None:
            given[arg.name] = arg.value
        elif i + skip < len(params):
            given[params[i + skip].name] = arg.value
    return given


def _spread(
    log: CompilationLog, fn: FuncInfo, site: CallSite, written: dict[str, ir.Expr]
) -> dict[str, ir.Expr]:
    """What ``**`` of a call brings, and the defaults of the parameters to which it gives nothing; nothing if that is not known."""
    spread = [(arg.value, paths.peek(log.m, site.frame, arg.value)) for arg in site.node.args if arg.star]
    found: dict[str, ir.Expr] = {}
    for node, value in spread:
        if type(value) is not Map or value.rest is not None:
            return {}
        found.update(dict.fromkeys(value.entries, node))
    for param in fn.node.params:
        if param.name not in written and param.name not in found and type(param.default) is ir.Const:
            found[param.name] = param.default
    return found
