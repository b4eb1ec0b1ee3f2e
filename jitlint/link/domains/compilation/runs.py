"""How often a function of the project runs in host code (layer: ``link``, room ``domains``).

Once: called from module level, from one place of a function that runs once, by a test runner, or by its name a part of
the set-up. Many times: called in a loop, from two places of one function, or by a function that is called in a loop; what
tests do with a function of the program says nothing, but for one that lets an object do its work turn by turn, and two
functions that call it once each say little. Nothing is said of functions that nobody calls.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func, Value
from jitlint.link.domains.compilation import variants
from jitlint.link.domains.compilation.log import CallSite, CompilationLog
from jitlint.link.tables import ir_walk, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class Many:
    """Why a function is taken to run many times. site: the call in a loop that says so, if there is one."""

    confidence: Confidence
    also: tuple[Step, ...]
    site: CallSite | None = None


def _sites(log: CompilationLog, called: FuncInfo, fn: FuncInfo) -> list[CallSite]:
    """Where one function is called that counts for another."""
    return [
        s
        for s in log.sites.get(called.id, {}).values()
        if s.frame.fn is not fn and (fn.module.is_test or not s.frame.module.is_test or _drives(log, s))
    ]


def _drives(log: CompilationLog, site: CallSite) -> bool:
    """Whether a test lets one object do its work turn by turn: it is older than the loop, and each turn says which."""
    func, loop = site.node.func, site.loops[-1] if site.loops else None
    while type(func) is ir.Attr:
        func = func.obj
    if type(func) is not ir.Name or func is site.node.func or not isinstance(loop, ir.For):
        return False
    counted = type(loop.iter) is ir.Call and last_name(loop.iter.func) == "range"
    turns = _names_of(loop)
    given = {arg.value.id for arg in site.node.args if type(arg.value) is ir.Name}
    assigned = log.m.texts.table(site.frame).assigned(loop)
    return counted and bool(given & turns) and func.id not in assigned


def _overridden(fn: FuncInfo) -> list[FuncInfo]:
    """The methods in whose place a method runs: who calls these may call it."""
    owner = fn.values[0].owner if fn.values else None
    found = [cls.namespace.get(fn.name) for cls in mro(owner)[1:]] if owner is not None else []
    return [value.fn for value in found if type(value) is Func]


def runs_many(log: CompilationLog, fn: FuncInfo | None, depth: int = MAX_DEPTH) -> Many | None:
    """How it is known that a function runs many times; None when it is not."""
    words = lexicon().compilation
    prepares = fn is not None and naming.begins_with(fn.name, words.preparing)
    if fn is None or depth == 0 or (prepares and not naming.begins_with(fn.name, words.preparing_data)):
        return None
    own = _sites(log, fn, fn)
    base = [site for method in _overridden(fn) for site in _sites(log, method, fn)]
    site = next((site for site in (*own, *base) if _repeats(log, site)), None)
    if site is not None:
        step = Step(site.frame.module.name, site.node.at, f"`{fn.qualname}` is called in a loop here")
        level = _level(site, fn, site in own)
        return Many(Confidence.POSSIBLE if _is_beside_more(log, fn, site) else level, (step,), site)
    return None if prepares else _by_callers(log, fn, own or base, depth)


def _level(site: CallSite, fn: FuncInfo, own: bool) -> Confidence:
    """What a call in a loop is worth; that of a test shows how an object is used, no more."""
    sure = own and site.frame.module.is_test == fn.module.is_test
    return Confidence.CERTAIN if sure else Confidence.LIKELY


def _repeats(log: CompilationLog, site: CallSite) -> bool:
    """Whether a call stands in a loop that makes it of the same function again: one that goes through functions calls
    each of them once, and one that goes through variants each of a few."""
    chosen = _chosen_by(site.node.func)
    table = log.m.texts.table(site.frame)
    return any(
        chosen.isdisjoint(_names_of(loop)) and not variants.is_written(site.frame, table, loop)
        for loop in site.loops
    )


def _chosen_by(func: ir.Expr) -> set[str]:
    """The variables that say which function is called: its name, or those of its place in a table."""
    if type(func) is ir.Name:
        return {func.id}
    placed = func.index if type(func) is ir.Sub else func if type(func) is ir.Call else None
    return {node.id for node in ir_walk.nodes(placed) if type(node) is ir.Name}


def _names_of(loop: ir.Node) -> set[str]:
    """The names that a loop or comprehension binds to what it goes through."""
    targets = (
        [part.target for part in loop.fors] if type(loop) is ir.Comp else [getattr(loop, "target", None)]
    )
    return {node.id for node in ir_walk.nodes(targets) if type(node) is ir.Name}


def _by_callers(log: CompilationLog, fn: FuncInfo, sites: list[CallSite], depth: int) -> Many | None:
    """What is known of the functions that call it, and how many places there are."""
    for site in sites:
        outer = runs_many(log, site.frame.fn, depth - 1)
        if outer is not None:
            step = Step(site.frame.module.name, site.node.at, f"`{fn.qualname}` is called here")
            # What somebody calls twice may well be the set-up of two things, and the rest of it happens below.
            level = outer.confidence if outer.site is not None else Confidence.POSSIBLE
            return Many(level, (step, *outer.also), outer.site)
    return _twice(log, fn, sites)


def _is_beside_more(log: CompilationLog, fn: FuncInfo, site: CallSite) -> bool:
    """Whether a script repeats a function that runs compiled code in a loop: beside that, compiling once is nothing."""
    return fn.id in log.long and site.frame.fn is None


def _twice(log: CompilationLog, fn: FuncInfo, sites: list[CallSite]) -> Many | None:
    """What two calls say that are not in loops: several scripts are several processes."""
    bodies = {s.frame.module.name for s in sites if s.frame.fn is None}
    places = [s for s in sites if s.frame.fn is not None or len(bodies) == 1]
    sure = Confidence.POSSIBLE if fn.id in log.long else Confidence.LIKELY
    for level, chosen in ((sure, of_one_caller(log, places)), (Confidence.POSSIBLE, places)):
        if len(chosen) >= 2:
            steps = [
                Step(s.frame.module.name, s.node.at, f"`{fn.qualname}` is called here") for s in chosen[:2]
            ]
            return Many(level, tuple(steps))
    return None


def of_one_caller(log: CompilationLog, places: list[CallSite]) -> list[CallSite]:
    """Two calls that one run of a function makes; two functions that call once each may well be two ways to set up."""
    by_caller: dict[int | None, list[CallSite]] = {}
    for site in places:
        caller = None if site.frame.fn is None else site.frame.fn.id
        by_caller.setdefault(caller, []).append(site)
    for sites in by_caller.values():
        table = log.m.texts.table(sites[0].frame)
        ordered = sorted(sites, key=lambda site: site.node.at)
        for first, second in itertools.combinations(ordered, 2):
            if not table.excludes(first.node, second.node) and not _are_of_others(log, first, second):
                return [first, second]
    return []


def _are_of_others(log: CompilationLog, first: CallSite, second: CallSite) -> bool:
    """Whether two calls hand over different functions, or objects that no compiled function takes, so that each needs a program of
    its own: ``fit(linear)``, ``fit(cubic)``."""
    given = [[paths.peek(log.m, site.frame, arg.value) for arg in site.node.args] for site in (first, second)]
    return any(_is_another(one, other) for one, other in zip(*given))


def _is_another(one: Value | None, other: Value | None) -> bool:
    if type(one) is Func and type(other) is Func:
        return one.fn is not other.fn
    objects = one is not None and other is not None and variants.is_plain(one) and variants.is_plain(other)
    return objects and one is not other
