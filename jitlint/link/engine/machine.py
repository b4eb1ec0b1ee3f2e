"""The state of one whole-program analysis, and how it records what it finds (layer: ``link``, room ``engine``).

What it does: holds what the rooms share for the length of a session. What it does not: evaluate anything. What belongs
to one activation is in `frame` and `world`, the state of a domain with the domain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import Dtype
from jitlint.catalogue.load import Catalogue
from jitlint.catalogue.transforms import Role, Transforms
from jitlint.infer.events import (
    HANDED,
    OLDER,
    RAISING,
    REFUSED,
    AnyEvent,
    ApiMisuse,
    ArrayStore,
    BadIndex,
    Convert,
    Handler,
    KindCheck,
    Leak,
    TransformMisuse,
    Truth,
)
from jitlint.infer.grounds import SAID, SOFTNESS, weaken
from jitlint.infer.host_calls import HostCalls
from jitlint.infer.keys import KeyNames
from jitlint.infer.places import Place, Step
from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.traced_functions import TracedFunction
from jitlint.infer.values import (
    UNKNOWN,
    Arr,
    Func,
    Inst,
    L,
    Tree,
    Tup,
    Value,
    Xform,
    mode_letters,
)
from jitlint.link.engine import surroundings
from jitlint.link.engine.budgets import Limits
from jitlint.link.engine.counts import Counts
from jitlint.link.engine.domain import Domains, Summary
from jitlint.link.engine.evaluator import Evaluator
from jitlint.link.engine.frame import BY_CHOICE, Catch, Frame
from jitlint.link.engine.schedule import Schedule
from jitlint.link.engine.sink import Condition, Key, Sink
from jitlint.link.engine.texts import Texts
from jitlint.link.engine.world import World
from jitlint.syntax import ir


class Found(NamedTuple):
    """What an activation said in a trial. steps: the way to it; ground: why it was traced."""

    events: Sequence[tuple[Key, AnyEvent]]
    steps: tuple[Step, ...]
    ground: str


class Memo:
    """The result of a finished or running activation, and what it changed in its arguments.

    confidence: of the calls it stands for. entry: how sure it is that one of them happens. depth: at which it ran, when it was too deep for something that it called.
    coarse: how much it has forgotten of these calls. dispatched: see `Frame`. stamp: what its result held when it was given, if it is a container
    that its callers may change. found: what it said in a trial, if it would say the same in another. reads: the containers that it
    was not given and has read, with what they held, by their identity. runs: how often it ran in this context before.
    """

    __slots__ = (
        "coarse",
        "confidence",
        "depth",
        "dispatched",
        "done",
        "effects",
        "entry",
        "found",
        "reads",
        "runs",
        "stamp",
        "summaries",
        "trial",
        "value",
    )

    def __init__(
        self, caller: Frame | None = None, coarse: int = 0, trial: int = 0, before: Memo | None = None
    ) -> None:
        self.trial = trial
        self.reads: dict[int, tuple[Value, list[Value]]] = {}
        self.runs: int = 0 if before is None else before.runs + 1
        self.confidence = Confidence.CERTAIN if caller is None else caller.confidence
        self.entry = Confidence.CERTAIN if caller is None else caller.entry
        self.dispatched = 0 if caller is None else caller.dispatched
        self.coarse = coarse
        self.depth = 0
        self.done = False
        self.effects: Any = None
        self.found: Found | None = None
        self.summaries: tuple[Summary, ...] = ()
        self.stamp: object = None
        self.value: Value = UNKNOWN


@dataclass(slots=True)
class Site:
    """An evaluated transform application: whose function was found, and under which circumstances."""

    xform: Xform
    module: ModuleInfo
    frame_steps: tuple[Step, ...]
    world: World
    ground: str
    confidence: Confidence
    entry: Confidence


@dataclass(slots=True)
class Machine:
    """Everything the analysis knows. ``sink`` and ``traced`` are its result.

    cold: the function that is run with anything just now, if the program calls it as well.
    broken: module and statement of the last code that JAX refuses or that a leak is blamed for, or takes one back.
    retests: by module, origin and tests of an ``if``, and through how many functions it is looked: how many statements after it there are up to the last that tests the same.
    version_tests: by identity of a test (the program's nodes outlive the analysis) whether it asks for a version.
    sides: by identity of a test under what the side is remembered that it takes.
    version_flags: names of variables that hold the answer to such a test. questions: by identity of a test what it asks of tracing. reads: what it reads. marks: what it compares with objects that it makes, and what makes them.
    filled: calls of cached functions, with constants, that host code made before.
    loads: attributes that were read, how many transforms deep, and of which object: its class, None when that is not known, and when it was made.
    keep_statuses: somebody wants to know of each parameter whether it is traced.
    timeless: constructions under way of which nobody knows when they happen.
    by_scope: modules by the keys of their scopes.
    unstarted: of the functions, those that have not run with what their signatures say.
    resolving: names of annotations that are being looked up, by module.
    own_libraries: packages of the project that the catalogue describes. replaced: what a module puts something else in the place of.
    surely_traced: functions that are traced with arguments of which something is known; whether code of the project does so,
    and not only a convention.
    rules: functions that were given as derivatives of others. ruled: where these others were made, and where that was written.
    ruling: all places that give rules, and the names of what they are given to; None if nobody has asked.
    traced_classes: of arguments that known code traces. array_parameters: by function and name, those that got a tracer there.
    stop: raises something else than an `Exception` when nobody wants the answer any more.
    """

    catalogue: Catalogue
    transforms: Transforms
    evaluator: Evaluator
    modules: dict[str, ModuleInfo] = field(default_factory=dict)
    by_scope: dict[int, ModuleInfo] = field(default_factory=dict)
    resolving: set[tuple[str, str]] = field(default_factory=set)
    own_libraries: frozenset[str] = frozenset()
    replaced: set[str] = field(default_factory=set)
    functions: list[FuncInfo] = field(default_factory=list)
    unstarted: list[FuncInfo] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    sink: Sink = field(default_factory=Sink)
    traced: dict[int, TracedFunction] = field(default_factory=dict)
    keep_statuses: bool = False
    statuses: dict[int, dict[str, set[str]]] = field(default_factory=dict)
    memo: dict[tuple[Hashable, ...], Memo] = field(default_factory=dict)
    boxes_read: dict[int, tuple[Value, list[Value]]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    interned: dict[Hashable, int] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    jit_sites: dict[tuple[str, int], bool] = field(default_factory=dict)
    activations: int = 0
    catalogue_roots: list[Any] = field(default_factory=list)
    class_roles: dict[int, Role] = field(default_factory=dict)
    surely_traced: dict[int, bool] = field(default_factory=dict)
    traced_classes: set[int] = field(default_factory=set)
    array_parameters: set[tuple[int, str]] = field(default_factory=set)
    removed_seen: dict[tuple[str, int], str] = field(default_factory=dict)
    guards: int = 0
    timeless: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    keys: KeyNames = field(default_factory=KeyNames)
    broken: tuple[str, int] = ("", 0)
    cold: FuncInfo | None = None
    flatteners: list[tuple[Value, ClassInfo | None]] = field(default_factory=list)
    rules: list[Value] = field(default_factory=list)
    ruled: set[tuple[str, int]] = field(default_factory=set)
    ruling: list[tuple[tuple[str, int], str]] | None = None
    properties_by_name: dict[str, list[tuple[ClassInfo, Value]]] = field(default_factory=dict)
    methods_by_name: dict[str, list[tuple[ClassInfo, Func]]] = field(default_factory=dict)
    special_methods: dict[str, list[ClassInfo]] = field(default_factory=dict)
    host_calls: HostCalls = field(default_factory=HostCalls)
    texts: Texts = field(default_factory=Texts)
    domains: Domains = field(default_factory=Domains)
    retests: dict[tuple[str, int, frozenset[str], int], int] = field(default_factory=dict)
    version_tests: dict[int, bool] = field(default_factory=dict)
    sides: dict[int, tuple[str, bool]] = field(default_factory=dict)
    registers: bool | None = None
    registering_functions: bool | None = None
    version_flags: set[str] = field(default_factory=set)
    questions: dict[int, Any] = field(default_factory=dict)
    reads: dict[int, tuple[ir.Node, ...]] = field(default_factory=dict)
    marks: dict[int, tuple[tuple[ir.Expr, ir.Expr], ...]] = field(default_factory=dict)
    filled: set[tuple[int, int, str]] = field(default_factory=set)
    loads: set[tuple[str, int, ClassInfo | None, int]] = field(default_factory=set)
    schedule: Schedule = field(default_factory=Schedule)
    counts: Counts = field(default_factory=Counts)
    stop: Callable[[], None] | None = None

    def contain(self, module: str, run: Callable[[], Value]) -> Value:
        """Run one function; an internal error there costs its file, not the whole analysis."""
        try:
            return run()
        except Exception as error:
            if os.environ.get("JITLINT_DEBUG"):
                raise
            self.failures.setdefault(module, f"{type(error).__name__}: {error}")
            return UNKNOWN

    def replace(self, f: Frame, dotted: str) -> None:
        """Something is put in the place of a library's: what a module does so holds for all that runs later."""
        if f.fn is None:
            self.replaced.add(self.catalogue.canonical(dotted))

    def tells_nothing(self, f: Frame, value: Value) -> bool:
        """Whether a function is run with anything, and stores that where the program itself says what there is by calling it."""
        cold = self.cold is not None and self.cold is f.fn
        return cold and _is_of_anything(value) and surroundings.changes_older(f)

    def new_activation(self) -> int:
        """The number of one more activation; those of modules are positive."""
        self.activations += 1
        return -self.activations

    def intern(self, key: object) -> int:
        """A small number for a hashable key."""
        return self.interned.setdefault(key, len(self.interned) + 1)

    def emit(
        self,
        f: Frame,
        kind: type[AnyEvent],
        at: int,
        value: Value | None = None,
        confidence: Confidence | None = None,
        where: tuple[str, str] | None = None,
        when: tuple[Condition, ...] = (),
        **fields: Any,
    ) -> None:
        """Record an event of class ``kind`` at origin ``at``; the strongest witness is kept.

        ``where``: module and function of the place when it is not the frame's own. ``when``: what must hold in the
        end. Inside an excused region nothing is recorded.
        """
        if f.world.excused:
            return
        fields = {name: str(told) if type(told) is Dtype else told for name, told in fields.items()}
        why, modes, soft, traced, array = _witness(kind, fields, value)
        if modes and _is_left_over(f, kind):
            return
        if confidence is not None:
            soft += 2 - confidence.rank
        level = weaken(f.confidence, soft + _doubt(kind, fields, f))
        module, function = where if where is not None else (f.module.name, f.qualname)
        raising = kind in RAISING or (kind is Leak and fields["target"] in (REFUSED, HANDED, OLDER))
        expected = _is_expected(f.world, raising, fields)
        if raising:
            self.broken = (f.module.name, f.at)
            what = (kind, at, module, why, modes, level, fields)
            caught = self._handled(f, what) if not expected else None
            if caught is not None:
                if caught.traced:
                    return
                expected = True  # the program is prepared for it
        key = (kind, module, at, *fields.values())
        ground = f.ground if f.steps else "eager"
        place = Place(
            module, at, function, f.steps, ground, level, expected, traced, array, bool(f.world.modes & L)
        )
        self.sink.add(key, kind(place, why, modes, **fields), when)

    def _handled(self, f: Frame, what: tuple[Any, ...]) -> Catch | None:
        """The innermost handler around that keeps an error from everybody."""
        caught = _handler_around(f)
        while caught is not None and not self._swallowed(f, caught, *what):
            caught = caught.outer
        return caught

    def _swallowed(
        self,
        f: Frame,
        catch: Catch,
        kind: type[AnyEvent],
        at: int,
        module: str,
        why: str,
        modes: str,
        level: Confidence,
        fields: dict[str, object],
    ) -> bool:
        """Whether a handler around keeps the error from everybody; a broad one inside a trace is recorded."""
        error = _family(kind, fields)
        broad = catch.names & {"", "BaseException", "Exception"}
        if not broad and error not in catch.names:
            return False
        asked = kind in (Truth, Convert) or error == "IndexError" or bool(fields.get("api"))
        traceable = asked and not _is_refused_always(fields)
        if catch.traced and not catch.meant and modes and traceable and error != "AttributeError":
            place = (
                catch.place
                if level.rank >= catch.place.confidence.rank
                else replace(catch.place, confidence=level)
            )
            key = (Handler, place.module, place.at)
            step = Step(module, at, "here JAX raises while tracing")
            name = next(iter(sorted(broad)), error)
            self.sink.add(key, Handler(place, why, modes, "swallows", name, also=(step,)))
        if level is f.confidence:
            catch.note(f)
        return True


def _is_left_over(f: Frame, kind: type[AnyEvent]) -> bool:
    """Whether a number of a tracer is asked for where no trace is on: what leaked from one is told where it was stored, and
    anything else was only joined with it."""
    return not f.world.level and (kind is Truth or kind is Convert)


def _handler_around(f: Frame) -> Catch | None:
    """The handler around a place, also if that is a transform which the function calls."""
    around: Frame | None = f
    while around is not None and around.caught is None:
        around = around.outer
    return None if around is None else around.caught


def _witness(
    kind: type[AnyEvent], fields: dict[str, object], value: Value | None
) -> tuple[str, str, int, str, str]:
    """What a value says of an event: why it is traced, its modes, how much less sure the event is by its grounds, and
    the grounds for its being traced and an array."""
    if type(value) is not Arr and type(value) is not Tree:
        return (value.why if type(value) is Inst else "", "", 0, "", "")
    asked = needs_kind(kind, fields)
    soft = value.softness if asked else SOFTNESS[value.traced]
    if kind is ArrayStore and value.kind is SAID and not value.modes:
        soft = 2  # who stores into it knows better than the annotation what it is
    traced = value.traced.word if value.modes else ""
    return value.why, mode_letters(value.modes), soft, traced, value.kind.word if asked else ""


def needs_kind(kind: type[AnyEvent], fields: dict[str, object]) -> bool:
    """Whether an event is one only if its value is an array: a container, or a Python number, would pass."""
    if kind is Convert:
        return fields.get("to") in ("numpy", "hash", "format", "iter", "len", "string")
    if kind is ApiMisuse:
        return fields.get("problem") in (
            "no-key",
            "cannot-join",
            "missing-member",
            "wrong-call",
            "unfit",
            "long-spec",
        )
    return kind in (ArrayStore, BadIndex, KindCheck, Truth)


def _family(kind: type[AnyEvent], fields: dict[str, object]) -> str:
    """The builtin class of the exception that an event predicts."""
    if kind is BadIndex:
        return "IndexError" if fields.get("problem") in ("mask", "mask-update", "slice") else "TypeError"
    exception = str(fields.get("exception", ""))
    attribute = kind is ArrayStore and fields.get("op") in (
        "delitem",
        "method",
        "attribute",
        "field",
        "undeclared",
    )
    if kind is ArrayStore and fields.get("op") == "lent":
        return "ValueError"
    if kind is KindCheck:
        return exception
    if attribute or exception.endswith("AttributeError"):
        return "AttributeError"
    if exception.endswith(("IndexError", "NonConcreteBooleanIndexError")):
        return "IndexError"
    return "ValueError" if exception.endswith("ValueError") else "TypeError"


_OF_FORM: Final = {
    ApiMisuse: frozenset({"cannot-join", "unfit"}),
    BadIndex: frozenset({"count", "float", "list", "slice-float", "string"}),
    TransformMisuse: frozenset(
        {
            "branch-mismatch",
            "carry-mismatch",
            "no-axis",
            "no-boolean",
            "no-index",
            "no-pair",
            "no-rows",
            "no-scalar",
            "no-scalar-choice",
            "rule-result",
            "unequal-bounds",
            "unequal-rows",
            "unequal-sizes",
        }
    ),
}


def _is_refused_always(fields: dict[str, object]) -> bool:
    """Whether an error comes without a trace as well."""
    return fields.get("to") == "hash" or _is_of_shape(fields)


def _is_expected(world: World, raising: bool, fields: dict[str, object]) -> bool:
    """Whether the program is prepared for an error: for any of tracing, or for arrays that do not fit."""
    return (world.expected and raising) or (world.sheltered and _is_of_shape(fields))


def _is_of_shape(fields: dict[str, object]) -> bool:
    problem = fields.get("problem")
    if fields.get("to") in ("iter", "len"):
        return True
    return problem == "count" or (problem == "unfit" and fields.get("parameter") in _OF_SHAPE)


_OF_SHAPE: Final = frozenset(
    {"axis", "element", "letter", "letters", "number", "order", "parts", "place-sizes", "rows", "sizes", "spread", "square",
     "size-of", "squeeze", "window", "window-axes"}
)  # fmt: skip
"""What is wrong with operands that would fit if they had other shapes."""


def _doubt(kind: type[AnyEvent], fields: dict[str, object], f: Frame) -> int:
    """How much less sure an event is where values of another form may be meant: all of it, if it is one only for values of
    this structure, shape or dtype, whatever is traced; where one of several functions was chosen, also if only for arrays.
    On one side of a test without an answer that holds for shapes, which often come with a flag."""
    problem = fields.get("problem")
    if f.dispatched:
        of_arrays = kind is ArrayStore or problem == "missing-member"
        about = problem in _OF_FORM.get(kind, ()) or (f.dispatched == BY_CHOICE and of_arrays)
    elif f.sided:
        about = _is_of_shape(fields)
    else:
        return 0
    return 2 if about else 0


def _is_of_anything(value: Value) -> bool:
    """Whether a value, or a part of a tuple or object, is one of which nothing is known."""
    if type(value) is Tup:
        return any(map(_is_of_anything, value.items))
    return value is UNKNOWN or (type(value) is Inst and UNKNOWN in value.attrs.values())
