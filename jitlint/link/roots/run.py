"""Where execution starts: module bodies, uncalled functions, transform sites, code meant to be traced (layer: ``link``, room ``roots``)."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import RAISING, AnyEvent, ApiMisuse, Convert
from jitlint.infer.evidence import array_ground, parameter_evidence
from jitlint.infer.grounds import GUESSED, RULED, SAID, USED
from jitlint.infer.lattice import join
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import (
    NONE,
    STR,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Descr,
    Ext,
    Func,
    Inst,
    Map,
    Partial,
    S,
    Seq,
    Tree,
    Value,
    alternatives,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine, Site
from jitlint.link.engine.sink import Found, Key
from jitlint.link.engine.world import World
from jitlint.link.models.jax import xforms
from jitlint.link.roots import closures, grounding
from jitlint.link.roots.test_runner import TestRunner
from jitlint.link.tables import mocks
from jitlint.link.values import classes, parameters, pytrees
from jitlint.link.values.library_objects import VARIABLE
from jitlint.link.values.questions.kinds import find_method, mro
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir

MAX_ROUNDS = 6


def run_cold(m: Machine) -> None:
    """Run every function that is known but was not run yet, with what its signature says, in the host world."""
    runner = TestRunner(m)
    for fn in m.unstarted:
        if fn.cold or not fn.values or m.schedule.holds(fn.id) or _runs_otherwise(fn):
            continue
        func = fn.values[0]
        fn.cold = True
        m.cold = fn if fn.contexts or fn.traced_contexts else None
        m.host_calls.root = None if fn.module.is_test else fn
        m.domains.on_root(fn)
        closures.forget_rebound(func)
        frame = parameters.host_frame(m, func)
        bound = {p.name: classes.calls_default(m, func, p) for p in fn.node.params}
        _bind_receiver(m, func, bound)
        if fn.module.is_test:
            m.contain(fn.module.name, functools.partial(_run_test, m, runner, frame, func, bound))
        else:
            m.contain(
                fn.module.name, functools.partial(evaluator.activate, m, frame, fn.node.at, func, bound)
            )
        m.cold = m.host_calls.root = None
    m.unstarted = [fn for fn in m.unstarted if not fn.cold]


def _runs_otherwise(fn: FuncInfo) -> bool:
    """Whether a function runs in another one that made it, or, as a lambda, where it is handed over. `__init_subclass__` runs for
    the classes that derive from its own, and never for that one."""
    if fn.name == "__init_subclass__" or fn.values[0].scope.level:
        return True
    return fn.node.is_lambda and bool(fn.contexts or fn.traced_contexts)


def _run_test(m: Machine, runner: TestRunner, frame: Frame, func: Func, bound: dict[str, Value]) -> Value:
    """Run a function of a test file as the test runner does: once for each row of its parameters."""
    if runner.leaves_out(func):
        frame.world = frame.world.but(excused=True)
    mocked = _mocked(func.fn)
    if mocked:
        frame.world = frame.world.but(mocked=mocked)
    runner.prepare(func, next(iter(bound.values()), UNKNOWN))
    for row in runner.rows(frame, func) or [{}]:
        evaluator.activate(
            m, frame, func.fn.node.at, func, {**bound, **{k: row[k] for k in row if k in bound}}
        )
    return UNKNOWN


def _mocked(fn: FuncInfo) -> frozenset[str]:
    """What a test puts something else in the place of: itself, its class, or what prepares all tests of the class."""
    code: list[ir.Node] = [*fn.node.decorators, *fn.body]
    owner = fn.qualname.rpartition(".")[0]
    for part in fn.module.tree.body if owner else ():
        if type(part) is ir.ClassDef and part.qualname == owner:
            code += part.decorators
    code += [node for one in fn.module.namesakes(f"{owner}.setUp") for node in one.body]
    return mocks.replaced(code)


def _bind_receiver(m: Machine, func: Func, bound: dict[str, Value]) -> None:
    if func.owner is None or not bound:
        return
    first = next(iter(bound))
    if first == "self":
        bound[first] = classes.cold_instance(m, func.owner)
    elif first == "cls":
        bound[first] = Class(func.owner)


def run_sites(m: Machine) -> None:
    """Run transformed functions that no known call reached, outermost transform first; until none is left."""
    done = 0
    called: list[Site] = []
    for _ in range(MAX_ROUNDS):
        pending = m.sites[done:]
        done = len(m.sites)
        if not pending:
            return
        called += [site for site in pending if site.xform.called]
        for site in _unreached(pending, called):
            if not site.xform.called and not _waits_for_callers(m, site):
                m.domains.on_root(None)
                sig = signature(site.xform.target)
                if sig is not None:
                    closures.forget_rebound(sig.func)
                m.contain(site.module.name, functools.partial(xforms.run_generic, m, site))
        run_cold(m)
    for site in m.sites[done:]:
        m.limits.meet("rounds", site.module.name, site.xform.site[1], "")


def _unreached(pending: list[Site], called: list[Site]) -> list[Site]:
    """Those that are not called, and of whose function no other application is; the last one first."""
    others = [site for site in reversed(pending) if not site.xform.called]
    places = {site.xform.site for site in others}
    reached = {_function_of(site) for site in called if site.xform.site in places}
    return [site for site in others if _function_of(site) not in reached]


def _waits_for_callers(m: Machine, site: Site) -> bool:
    sig = signature(site.xform.target) if m.schedule.is_partial else None
    return sig is not None and m.schedule.waits(sig.func.fn)


def _function_of(site: Site) -> object:
    """A place and the function that it transforms, whatever turn of a loop, or call of a maker, did it."""
    sig = signature(site.xform.target)
    if sig is None:
        return id(site)
    return (site.xform.site, sig.func.fn.id, sig.func.scope.key)


def traced_frame(m: Machine, func: Func, ground: str, confidence: Confidence, message: str, at: int) -> Frame:
    """A caller's frame inside a staging transform that nobody wrote down."""
    world = World(S, 1, modes=S, base=1, floor=1)
    because = GUESSED if confidence is Confidence.POSSIBLE else SAID
    step = Step(func.fn.module.name, at, message, because.word)
    frame = Frame(func.fn.module, func.scope, world, None, 0, (step,), ground, confidence)
    frame.token = object()
    return frame


def run_meant(
    m: Machine,
    func: Func,
    ground: str,
    confidence: Confidence,
    message: str,
    given: list[Value] | None = None,
    meant: bool = True,
    entry: Confidence | None = None,
) -> Value:
    """Run a function as if it were traced. ``given`` fills the leading parameters. entry: how sure it is that it is."""
    if m.schedule.passes_over(func.fn):
        return m.schedule.gave(func.fn)
    frame = traced_frame(m, func, ground, confidence, message, func.fn.node.name_at)
    frame.entry = confidence if entry is None else entry
    bound: dict[str, Value] = {}
    values = list(given or ())
    for param in func.fn.node.params:
        name = param.name
        if param.kind == "var":
            bound[name] = Seq("tuple", None, UNKNOWN, 1)
        elif param.kind == "kwvar":
            bound[name] = Map({}, UNKNOWN, 1, None, STR)
        elif values:
            bound[name] = values.pop(0)
        else:
            bound[name] = _meant_argument(m, func, param, meant)
    result = m.contain(
        func.fn.module.name, lambda: evaluator.activate(m, frame, func.fn.node.at, func, bound)
    )
    m.schedule.has_run(func.fn, result)
    return result


def _meant_argument(m: Machine, func: Func, param: ir.Param, meant: bool) -> Value:
    default = func.defaults.get(param.name)
    value = parameters.generic(m, func, param.name, meant=meant)
    if meant and type(value) is Tree:
        value = UNKNOWN
    why = f"parameter `{param.name}` of `{func.fn.qualname}`"
    if default is not None and default is not NONE:
        return UNKNOWN if meant else default
    lifted = pytrees.lift(value, S, 1, why)
    if meant:
        # The convention says that the method is traced, not that each parameter is an array.
        agreed = type(value) is Arr and value.kind is SAID and array_ground(func.fn, param.name) is USED
        lifted = grounding.on_ground(lifted, RULED if agreed else value.kind if type(value) is Arr else SAID)
    if default is NONE:
        return join(NONE, lifted) if value is not UNKNOWN else UNKNOWN
    return lifted


def run_handed(m: Machine) -> None:
    """Functions handed to a library that traces them (an optimiser's init and update)."""
    for handed, named, _module, _at in list(m.catalogue_roots):
        state: Value = UNKNOWN
        for name, kinds in handed.roots:
            result: Value = UNKNOWN
            for one in alternatives(named.get(name, UNKNOWN)):
                func, given = _called(one)
                if func is None or func.scope.level:
                    continue
                own = len(given)
                given += [_handed_argument(kind, state, func, own + i) for i, kind in enumerate(kinds)]
                given = given[: len([p for p in func.fn.node.params if p.kind in ("pos", "any")])]
                message = f"`{func.fn.qualname}` is handed to `{handed.name}`, which is meant to run under `jax.jit`"
                with m.sink.trial(_Convention(m)):
                    result = run_meant(m, func, "catalogue", _level(func), message, given)
            if name.startswith("init"):
                state = result


def _called(value: Value) -> tuple[Func | None, list[Value]]:
    """The function that runs when a value is called, with what it is given first: the object, for a method."""
    if type(value) is Inst:
        value = Bound(find_method(value, "__call__") or UNKNOWN, value)
    func, given = (value.func, [value.recv]) if type(value) is Bound else (value, [])
    return func if type(func) is Func else None, given


def _handed_argument(kind: str, state: Value, func: Func, index: int) -> Value:
    params = func.fn.node.params
    name = params[index].name if index < len(params) else ""
    why = f"parameter `{name}` of `{func.fn.qualname}`"
    if kind == "state":
        return pytrees.lift(state, S, 1, why) if state is not UNKNOWN else Tree(S, why, 1, GUESSED)
    if kind == "array":
        return Arr(S, None, None, why, 1)
    return Tree(S, why, 1)


def run_roles(m: Machine) -> None:
    """Methods that a library base class says are meant to be traced."""
    for info in list(m.classes):
        role = m.class_roles.get(info.id)
        if role is None:
            continue
        for name, value in list(info.namespace.items()):
            if type(value) is Func and _is_traced_method(role.traced_methods, role.setup, name):
                _run_method(m, info, value, role.name)
                written = _undecorated(info, name, value)
                if written is not value:
                    _run_method(m, info, written, role.name)


def _undecorated(info: ClassInfo, name: str, value: Func) -> Func:
    """The method as it is written in the class: a wrapper's ``*args`` would hide what its parameters are."""
    qualname = f"{info.qualname}.{name}"
    if value.fn.qualname == qualname:
        return value
    for fn in info.module.functions:
        if fn.qualname == qualname and fn.values:
            return fn.values[-1]
    return value


def _is_traced_method(patterns: tuple[str, ...], setup: tuple[str, ...], name: str) -> bool:
    if name in setup or name in ("__post_init__", "__init__"):
        return False
    if name in patterns:
        return True
    return "*" in patterns and (name == "__call__" or not name.startswith("_"))


def _run_method(m: Machine, info: ClassInfo, func: Func, role: str) -> None:
    params = func.fn.node.params
    if not params or params[0].name != "self" or func.scope.level or _waits(m, func):
        return
    receiver = classes.cold_instance(m, info)
    why = f"`self` of `{func.fn.qualname}`"
    if role in ("eqx",):
        receiver = pytrees.lift(receiver, S, 1, why, True)
    message = (
        f"`{func.fn.qualname}` is a method of a `{_library_base(m, info)}`, meant to run under `jax.jit`"
    )
    with m.sink.trial(_Convention(m)):
        run_meant(m, func, "catalogue", _level(func), message, [receiver])


ON_PURPOSE = frozenset({"numpy", "tolist", "pickle", "float", "complex", "int", "item", "range"})
"""Conversions that somebody who writes for the host asks for."""


def _waits(m: Machine, func: Func) -> bool:
    """Whether a method asks for the numbers by name, with `jax.device_get`: who does so is not traced."""
    calls = [node for node in func.fn.parts if type(node) is ir.Call]
    asked = [parameters.resolve(m, func.scope, call.func) for call in calls if type(call.func) is ir.Attr]
    return any(type(value) is Ext and value.dotted in lexicon().timing.waiting for value in asked)


MOST_REFUSALS = 2
"""So many mistakes of one kind may stand in code that is meant to be traced; code with more of them runs, so untraced."""


class _Convention:
    """A convention says that a method is traced, but the code knows better.

    One that JAX would refuse at many places is not traced: nothing is said about it; what becomes of the variables of a
    module, which there are in a run of it alone, counts as one. A parameter that is turned into
    Python numbers at several places is data of the host: what it would break under a trace is not said; nor what stands
    in a function that it calls and that waits for numbers, nor that tracers lack what it asks of arrays in memory.
    """

    def __init__(self, m: Machine) -> None:
        self.m = m

    def keeps(self, found: Found) -> Iterator[tuple[Key, AnyEvent]]:
        """What the convention bears."""
        refused = {
            event.why if event.why.startswith(VARIABLE) else (event.place.module, event.place.at)
            for event in found.values()
            if type(event) in RAISING and event.modes and not event.place.expected
        }
        if len(refused) > MOST_REFUSALS:
            return
        places: dict[str, set[tuple[str, int]]] = {}
        for event in found.values():
            if type(event) is Convert and event.to in ON_PURPOSE and event.why.startswith("parameter `"):
                places.setdefault(event.why, set()).add((event.place.module, event.place.at))
        for key, event in found.items():
            if len(places.get(event.why, ())) < 2 and not _asks_memory(event) and not self._is_of_host(event):
                yield key, event

    def _is_of_host(self, event: AnyEvent) -> bool:
        """Whether an event stands in a function that waits for numbers."""
        module = self.m.modules.get(event.place.module)
        named = [fn for fn in module.functions if fn.qualname == event.place.function] if module else []
        return any(fn.values and _waits(self.m, fn.values[-1]) for fn in named)


def _asks_memory(event: AnyEvent) -> bool:
    """Whether somebody asks for what only arrays in the memory of a device have, such as where they lie: then one expects these."""
    return type(event) is ApiMisuse and event.problem == "concrete-only"


def _level(func: Func) -> Confidence:
    """A test often calls directly what an application would trace."""
    return Confidence.POSSIBLE if func.fn.module.is_test else Confidence.LIKELY


def _library_base(m: Machine, info: ClassInfo) -> str:
    for cls in mro(info):
        for base in cls.bases:
            dotted = getattr(base, "dotted", "")
            if dotted in m.transforms.roles:
                return str(dotted)
    return "library class"


def run_flatteners(m: Machine) -> None:
    """Flatten and unflatten functions of registered pytrees: JAX calls them while it traces."""
    found: list[tuple[Value, ClassInfo | None]] = list(m.flatteners)
    for info in m.classes:
        if info.pytree:
            for name in ("tree_flatten", "tree_flatten_with_keys", "tree_unflatten"):
                if name in info.namespace:
                    found.append((info.namespace[name], info))
    for value, owner in found:
        func, given = _given_away(m, value)
        if func is None or func.scope.level:
            continue
        names = [p.name for p in func.fn.node.params]
        given += [UNKNOWN] * (len(names) - len(given))
        if owner is not None and names and given[0] is UNKNOWN:
            given[0] = Class(owner) if names[0] == "cls" else classes.cold_instance(m, owner)
        message = f"`{func.fn.qualname}` is registered with `jax.tree_util`, which calls it while tracing"
        run_meant(m, func, "catalogue", Confidence.POSSIBLE, message, given, entry=Confidence.LIKELY)


def run_rules(m: Machine) -> None:
    """Derivative rules that no known code asks for: derivatives are mostly taken inside of a trace, of who knows what."""
    for value in m.rules:
        func, given = _given_away(m, value)
        if func is None or func.scope.level:
            continue
        if func.fn.id not in m.traced or func.scope.fn is not None:  # of a wrapper, one among many
            given += [UNKNOWN] * (len(func.fn.node.params) - len(given))
            message = f"`{func.fn.qualname}` is a derivative rule, which runs where the derivative is traced"
            run_meant(m, func, "catalogue", Confidence.POSSIBLE, message, given, entry=Confidence.LIKELY)


def _given_away(m: Machine, value: Value) -> tuple[Func | None, list[Value]]:
    """The function behind what was given to a library that will call it, with the leading arguments that it brings along."""
    if type(value) is Partial:
        func, given = _given_away(m, value.func)
        return func, [*given, *value.args]
    if type(value) is Bound:
        func, given = _given_away(m, value.func)
        return func, [value.recv, *given]
    if type(value) is Inst:
        func, given = _given_away(m, find_method(value, "__call__") or UNKNOWN)
        return func, [value, *given]
    if type(value) is Descr:
        return _given_away(m, value.func)
    return (value, []) if type(value) is Func else (None, [])


def run_declared(m: Machine, patterns: tuple[str, ...]) -> None:
    """Functions under a ``# jitlint: traced`` comment or a configured pattern."""
    for fn in m.schedule.due(m.functions):
        if not (patterns or fn.node.traced_pragma) or not fn.values:
            continue
        full = f"{fn.module.name}.{fn.qualname}"
        if fn.node.traced_pragma or any(fnmatch.fnmatchcase(full, p) for p in patterns):
            func = fn.values[0]
            given = None
            if func.owner is not None and fn.first == "self":
                given = [classes.cold_instance(m, func.owner)]
            message = f"`{fn.qualname}` is declared as traced"
            run_meant(m, func, "declared", Confidence.LIKELY, message, given, meant=False)


def run_possible(m: Machine) -> None:
    """Public functions whose parameters are arrays by annotation or by use."""
    known = set(m.traced)  # before any of these ran: which of them calls another does not count
    for fn in list(m.functions):
        if fn.module.is_test or not fn.values or fn.id in known or not _is_public(fn):
            continue
        func = fn.values[0]
        if func.scope.level or not _takes_arrays(m, func):
            continue
        given = None
        if func.owner is not None:
            given = [classes.cold_instance(m, func.owner)] if fn.first == "self" else None
        message = f"`{fn.qualname}` takes arrays, so somebody may trace it"
        run_meant(m, func, "possible", Confidence.POSSIBLE, message, given)


def _is_public(fn: FuncInfo) -> bool:
    return not fn.node.is_lambda and "<locals>" not in fn.qualname and not fn.name.startswith("__init")


def _takes_arrays(m: Machine, func: Func) -> bool:
    evidence = parameter_evidence(func.fn)
    for param in func.fn.node.params:
        if param.default is None and evidence.get(param.name) == "array":
            return True
        value = parameters.value_of(m, func.scope, param.annotation)
        if type(value) is Arr and not value.host:
            return True
    return False
