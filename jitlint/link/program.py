"""The whole program: modules in, events and traced functions out (layer: ``link``)."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Final, Protocol

from msgspec.structs import replace

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.load import catalogue
from jitlint.catalogue.transforms import load_transforms
from jitlint.infer.described import Seen
from jitlint.infer.events import AnyEvent, LimitMet
from jitlint.infer.places import Place
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.traced_functions import TracedFunction, TracedParameter
from jitlint.infer.values import STR, Scope
from jitlint.link.core import calls, expressions, statements
from jitlint.link.domains.asked.domain import Answers, Asked
from jitlint.link.domains.captures.domain import Captures
from jitlint.link.domains.compilation.domain import Compilation
from jitlint.link.domains.contracts.domain import Contracts
from jitlint.link.domains.counting.domain import Counting
from jitlint.link.domains.crossed.domain import Crossed
from jitlint.link.domains.devices.domain import Devices
from jitlint.link.domains.donation.domain import Donation
from jitlint.link.domains.gradients.domain import Gradients
from jitlint.link.domains.groupings.domain import Groupings
from jitlint.link.domains.keys.domain import Keys
from jitlint.link.domains.leaks.domain import Leaks
from jitlint.link.domains.misuse.domain import Misuse
from jitlint.link.domains.modes.domain import Modes
from jitlint.link.domains.purity.domain import Purity
from jitlint.link.domains.slopes.domain import Slopes
from jitlint.link.domains.states.domain import States
from jitlint.link.domains.targets.domain import Targets
from jitlint.link.domains.timing.domain import Timing
from jitlint.link.domains.unrolling.domain import Unrolling
from jitlint.link.domains.versions.domain import Versions
from jitlint.link.engine import budgets, imports, status
from jitlint.link.engine import modules as module_runner
from jitlint.link.engine.domain import AnyDomain, Domains
from jitlint.link.engine.evaluator import Evaluator
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.schedule import Calls, body_of
from jitlint.link.roots import documents, likely
from jitlint.link.roots import run as roots
from jitlint.syntax import ir
from jitlint.syntax.difference import Patch

EVALUATOR: Final = Evaluator(
    expressions.evaluate, statements.run_block, calls.call, calls.call_function, calls.activate
)

DOMAINS: Final[tuple[type[AnyDomain], ...]] = (
    Captures,
    Keys,
    Leaks,
    Purity,
    Compilation,
    Unrolling,
    Misuse,
    Donation,
    Timing,
    Versions,
    Contracts,
    Counting,
    States,
    Gradients,
    Modes,
    Devices,
    Slopes,
    Targets,
    Crossed,
    Groupings,
)
"""The questions that are followed beside the values, in the order in which they hear of anything."""


@dataclass(frozen=True, slots=True)
class ModuleInput:
    """One module to analyse. data: the encoded IR."""

    name: str
    path: str
    is_package: bool
    data: bytes
    is_test: bool


class Checkpoint(Protocol):
    """Who stops an analysis before it looks at certain functions, and lets it go on with other bodies of them."""

    def first(self, m: Machine) -> tuple[Collection[int], Calls]:
        """The numbers of these functions, and who calls whom, as far as that is known."""
        ...

    def reached(self, m: Machine) -> Collection[int]:
        """All has run that does not reach them, for all that was known. Fewer of them, to stop once more before these; none
        to run all that is left. `replace_bodies` may be called meanwhile."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """traced: patterns of fully qualified names. include_possible: run public functions that take arrays too.

    catalogue: paths of the user's own catalogue files. jax_version: the JAX that the program runs with, "" for the newest; jax_before: the one
    that it comes from, "" if that is no question. flax: the oldest and the newest flax that the program may run with, "" if not known. parameters: say of each parameter whether it is traced.
    stop: asked now and then, whether the answer is still wanted; it raises what it likes if not.
    asked: origins of which the values are to be told. heard: gets events while the analysis goes on, as `Sink` says.
    calls: say who calls whom. checkpoint: stops on the way. What comes later then has other witnesses, and other contexts
    where there are more than the budgets allow.
    """

    traced: tuple[str, ...] = ()
    include_possible: bool = False
    parameters: bool = True
    catalogue: tuple[str, ...] = ()
    jax_version: str = ""
    jax_before: str = ""
    flax: tuple[str, str] = ("", "")
    stop: Callable[[], None] | None = None
    asked: Asked = field(default_factory=dict)
    heard: Callable[[AnyEvent], None] | None = None
    calls: bool = False
    checkpoint: Checkpoint | None = None


@dataclass(slots=True)
class Analysis:
    """What the analysis found.

    jit_sites: places that stage a function; jit_sites_resolved: those whose function is known. unmatched: patterns of
    functions that somebody else traces, and that no function here is called. failures: modules in which the analysis itself failed, with the reason; "" stands for what looks at all of them together.
    seen: the values at the origins that were asked for. calls: see `Options`.
    """

    events: list[AnyEvent]
    traced: list[TracedFunction]
    jit_sites: int
    jit_sites_resolved: int
    notes: dict[str, int] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    calls: Calls = field(default_factory=dict)


def analyse(inputs: Sequence[ModuleInput], options: Options) -> Analysis:
    """Analyse a set of modules as one program. Deterministic: the order of ``inputs`` does not matter."""
    known = load_transforms(tuple(options.catalogue))
    data = catalogue().at(options.jax_version, options.jax_before, options.flax).extended(known.functions)
    m = Machine(data, known, EVALUATOR, keep_statuses=options.parameters, stop=options.stop)
    m.sink.heard = options.heard
    answers = Answers(m, options.asked)
    m.domains = Domains([*[domain(m) for domain in DOMAINS], *([answers] if options.asked else [])])
    with answers.listening() if options.asked else nullcontext():
        return _run(m, inputs, options, answers)


def _run(m: Machine, inputs: Sequence[ModuleInput], options: Options, answers: Answers) -> Analysis:
    for item in sorted(inputs, key=lambda i: (i.is_test, i.name, i.path)):
        _add(m, item)
    m.limits.room = budgets.room(len(m.functions))
    m.own_libraries = imports.own_libraries(m)
    m.schedule.calls = {} if options.calls else None
    if options.checkpoint is not None:
        functions, calls = options.checkpoint.first(m)
        while functions:
            m.schedule.hold(functions, calls)
            _pass(m, options)
            m.domains.on_pause()
            functions = options.checkpoint.reached(m)
        m.schedule.release()
    _pass(m, options)
    m.host_calls.settle()
    for domain in m.domains.all:
        _contain(m, _finished(domain))
    _say_limits(m)
    events = m.sink.judge()
    return Analysis(
        events,
        _traced(m),
        len(m.jit_sites),
        sum(m.jit_sites.values()),
        {"activations": m.activations, "functions": len(m.functions), "events": len(events), **_limits(m)},
        _unmatched(m, options.traced),
        m.failures,
        answers.seen,
        m.schedule.calls or {},
    )


def _pass(m: Machine, options: Options) -> None:
    """Run what the schedule does not hold: module bodies first, then what nobody calls."""
    for info in list(m.modules.values()):
        if not m.schedule.holds(body_of(info.number)):
            module_runner.run(m, info)
    rebound = documents.Rebound()
    phases: list[Callable[[Machine], object]] = [
        rebound.forget,
        roots.run_cold,
        roots.run_sites,
        lambda machine: roots.run_declared(machine, options.traced),
        roots.run_handed,
        roots.run_flatteners,
        roots.run_rules,
        roots.run_roles,
        likely.run_likely,
        *([roots.run_possible] if options.include_possible else []),
        roots.run_sites,
        rebound.restore,
    ]
    for phase in phases:
        _contain(m, phase)


def replace_bodies(m: Machine, module: str, patch: Patch) -> bool:
    """Let functions of a module say something else. False, and nothing is done, if one of them was looked at already."""
    info = m.modules[module]
    if any(info.functions[number].is_looked_at for number in patch.functions):
        return False
    for number, node in patch.functions.items():
        info.functions[number].node = node
    for node in patch.added:
        _add_function(m, info, node)
    info.tree = replace(info.tree, quoted=[*info.tree.quoted, *patch.quoted])
    return True


def _say_limits(m: Machine) -> None:
    """Budgets change no answer in silence."""
    for (limit, module, at, function), times in sorted(m.limits.met.items()):
        place = Place(module, at, function, (), "eager", Confidence.CERTAIN)
        m.sink.add((LimitMet, module, at, limit), LimitMet(place, limit=limit, times=times))


def _limits(m: Machine) -> dict[str, int]:
    """How often each kind of limit was met."""
    out: dict[str, int] = {}
    for (limit, *_), times in sorted(m.limits.met.items()):
        out[f"limits met: {limit}"] = out.get(f"limits met: {limit}", 0) + times
    return out


def _unmatched(m: Machine, patterns: Sequence[str]) -> list[str]:
    if not patterns:
        return []
    names = [f"{function.module.name}.{function.qualname}" for function in m.functions]
    return [pattern for pattern in patterns if not any(fnmatch.fnmatchcase(name, pattern) for name in names)]


def _contain(m: Machine, phase: Callable[[Machine], object]) -> None:
    """Run one phase; an internal error there costs what the phase would have added, not the whole analysis."""
    try:
        phase(m)
    except Exception as error:
        if os.environ.get("JITLINT_DEBUG"):
            raise
        m.failures.setdefault("", f"{type(error).__name__}: {error}")


def _finished(domain: AnyDomain) -> Callable[[Machine], None]:
    return lambda machine: domain.finish()


def _add(m: Machine, item: ModuleInput) -> None:
    if item.name in m.modules:
        return
    tree = ir.decode_module(item.data)
    scope = Scope({"__name__": STR}, None, None, m.intern(("module", item.name)), 0, object())
    info = ModuleInfo(item.name, item.path, item.is_package, item.is_test, tree, scope, number=len(m.modules))
    for node in tree.functions:
        _add_function(m, info, node)
    m.modules[item.name] = info
    m.by_scope[scope.key] = info


def _add_function(m: Machine, info: ModuleInfo, node: ir.Function) -> None:
    fn = FuncInfo(len(m.functions), info, node)
    m.functions.append(fn)
    m.unstarted.append(fn)
    info.functions.append(fn)


def _traced(m: Machine) -> list[TracedFunction]:
    for id, found in m.statuses.items():
        if id in m.traced:
            m.traced[id].parameters = [
                TracedParameter(name, status.of_parameter(kinds)) for name, kinds in found.items()
            ]
    return [m.traced[id] for id in sorted(m.traced)]
