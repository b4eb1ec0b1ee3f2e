"""The state of one whole-program analysis: worlds, frames, events, memo (layer: ``link``, room ``engine``).

What it does: holds what the evaluator modules of this package share. What it does not: evaluate anything.
The other modules are plain functions ``(machine, frame, ...)``; `Machine` gives them access to each other
through late-bound hooks only where Python's import order would forbid a direct import.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.load import Catalogue
from jitlint.catalogue.transforms import Role, Transforms
from jitlint.infer.events import (
    RAISING,
    ArrayStore,
    BadIndex,
    Convert,
    Handler,
    Place,
    Step,
    TracedFunction,
    Truth,
)
from jitlint.infer.grounds import SAID, SEEN, SOFTNESS, Ground, weaken
from jitlint.infer.host_calls import HostCalls
from jitlint.infer.keys import KeyNames
from jitlint.infer.lattice import traced_level
from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.values import (
    DISCRETE,
    UNKNOWN,
    Arr,
    B,
    Func,
    Inst,
    S,
    Scope,
    Tree,
    Value,
    Xform,
    mode_letters,
)
from jitlint.link.engine.domain import Domains, Slot, Summary
from jitlint.link.engine.evaluator import Evaluator
from jitlint.link.engine.sink import Condition, Sink
from jitlint.link.engine.texts import Texts

MAX_DEPTH = 40
"""Activations on the abstract stack; deeper calls give unknown."""

MAX_CONTEXTS = 6
"""Distinct argument contexts per function outside of any trace; later ones give unknown.

Measured: more of them reach no more traced code, and take longer.
"""

SMALL = 30
MAX_SMALL_CONTEXTS = 12
"""The same for functions of at most so many nodes, factories often, where a context costs little."""

MAX_TRACED_CONTEXTS = 40
"""The same inside traces. Counted apart: what the host calls often must not hide what a trace calls."""

MANY_CONTEXTS = 2
"""A function that is handed functions stands for as many as it is handed: it may have so many times more."""


class World:
    """The transforms in force. ``here``: modes that a fresh `jax.numpy` result gets. ``level``: boundaries.

    base: the level right inside the innermost staging transform, whose tracers fresh results are. modes: of all transforms
    in force. excused: inside ``pytest.raises``. expected: inside a
    handler for tracing errors. eager_jit: ``disable_jit`` is active. floor: the level right inside the innermost
    transform that runs its function once for many calls, 0 when there is none: what is older outlives the trace.
    """

    __slots__ = ("base", "eager_jit", "excused", "expected", "floor", "here", "key", "level", "modes")

    def __init__(
        self,
        here: int,
        level: int,
        excused: bool = False,
        eager_jit: bool = False,
        modes: int = 0,
        base: int = 0,
        floor: int = 0,
        expected: bool = False,
    ) -> None:
        self.here = here
        self.level = level
        self.excused = excused
        self.eager_jit = eager_jit
        self.modes = modes
        self.base = base
        self.floor = floor
        self.expected = expected
        self.key = (here, level, excused, eager_jit, modes, base, floor, expected)

    def inside(self, modes: int, staged: int, looks: bool = False) -> World:
        """The world one transform further in.

        looks: the transform only wants to see what the function would do, such as `jax.eval_shape`.
        """
        return World(
            self.here | (modes & staged),
            self.level + 1,
            self.excused,
            self.eager_jit,
            self.modes | modes,
            self.level + 1 if modes & staged else self.base,
            self.level + 1 if modes & staged and not looks else self.floor,
            self.expected,
        )

    def but(
        self,
        here: int | None = None,
        excused: bool | None = None,
        eager_jit: bool | None = None,
        expected: bool | None = None,
    ) -> World:
        """This world with some of its properties changed."""
        return World(
            self.here if here is None else here,
            self.level,
            self.excused if excused is None else excused,
            self.eager_jit if eager_jit is None else eager_jit,
            self.modes,
            self.base,
            self.floor,
            self.expected if expected is None else expected,
        )


HOST = World(0, 0)


class Args:
    """Arguments of a call. more: a ``*unknown`` was passed; kw_more: a ``**unknown`` was passed."""

    __slots__ = ("kw", "kw_more", "more", "pos")

    def __init__(
        self,
        pos: list[Value],
        kw: dict[str, Value] | None = None,
        more: Value | None = None,
        kw_more: Value | None = None,
    ) -> None:
        self.pos = pos
        self.kw = kw if kw is not None else {}
        self.more = more
        self.kw_more = kw_more

    def get(self, index: int, name: str) -> Value | None:
        """The argument at a position or under a name, or None."""
        if 0 <= index < len(self.pos):
            return self.pos[index]
        return self.kw.get(name)


@dataclass(frozen=True, slots=True)
class Catch:
    """An exception handler around: its place, the classes it names, whether it stands inside a trace.

    meant: it goes another way to the same answer.
    """

    place: Place
    names: frozenset[str]
    traced: bool
    meant: bool


class Frame:
    """One activation of a function or a module body.

    outer: the same activation seen from outside a transform that it calls. own: what domains keep with it. loops: those around, as the source has them.
    """

    __slots__ = (
        "at", "breaks", "caught", "cls", "confidence", "continues", "depth", "fn", "ground", "key", "loops", "module", "outer", "own", "owner", "recv", "returns",
        "scope", "steps", "token", "world", "yields",
    )  # fmt: skip

    def __init__(
        self,
        module: ModuleInfo,
        scope: Scope,
        world: World,
        fn: FuncInfo | None = None,
        depth: int = 0,
        steps: tuple[Step, ...] = (),
        ground: str = "jit",
        confidence: Confidence = Confidence.CERTAIN,
    ) -> None:
        self.module = module
        self.scope = scope
        self.world = world
        self.fn = fn
        self.depth = depth
        self.steps = steps
        self.ground = ground
        self.confidence = confidence
        self.returns: Value | None = None
        self.yields: Value | None = None
        self.breaks: list[dict[str, Value]] = []
        self.continues: list[dict[str, Value]] = []
        self.token: object = scope.token
        self.cls: ClassInfo | None = None
        self.recv: Value | None = None
        self.owner: ClassInfo | None = None
        self.key = 0
        self.at = 0
        self.loops: tuple[Any, ...] = ()
        self.outer: Frame | None = None
        self.own: dict[Slot[Any], object] | None = None
        self.caught: Catch | None = None

    @property
    def qualname(self) -> str:
        """The function's qualified name, or ``<module>``."""
        return self.fn.qualname if self.fn is not None else "<module>"


class Memo:
    """The result of a finished or running activation, and what it changed in its arguments."""

    __slots__ = ("done", "effects", "summaries", "value")

    def __init__(self) -> None:
        self.done = False
        self.effects: Any = None
        self.summaries: tuple[Summary, ...] = ()
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


@dataclass(slots=True)
class Machine:
    """Everything the analysis knows. ``sink`` and ``traced`` are its result.

    broken: module and statement of the last code that JAX refuses or that a leak is blamed for, or takes one back.
    version_tests: by identity of a test (the program's nodes outlive the analysis) whether it asks for a version.
    version_flags: names of variables that hold the answer to such a test.
    filled: calls of cached functions, with constants, that host code made before.
    loads: attributes that were read, and how many transforms deep.
    keep_statuses: somebody wants to know of each parameter whether it is traced.
    timeless: constructions under way of which nobody knows when they happen.
    own_libraries: packages of the project that the catalogue describes.
    """

    catalogue: Catalogue
    transforms: Transforms
    evaluator: Evaluator
    modules: dict[str, ModuleInfo] = field(default_factory=dict)
    own_libraries: frozenset[str] = frozenset()
    functions: list[FuncInfo] = field(default_factory=list)
    classes: list[ClassInfo] = field(default_factory=list)
    sink: Sink = field(default_factory=Sink)
    traced: dict[int, TracedFunction] = field(default_factory=dict)
    keep_statuses: bool = False
    statuses: dict[int, dict[str, set[str]]] = field(default_factory=dict)
    memo: dict[tuple[Any, ...], Memo] = field(default_factory=dict)
    interned: dict[Any, int] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)
    jit_sites: dict[tuple[str, int], bool] = field(default_factory=dict)
    activations: int = 0
    catalogue_roots: list[Any] = field(default_factory=list)
    class_roles: dict[int, Role] = field(default_factory=dict)
    traced_classes: set[int] = field(default_factory=set)
    removed_seen: dict[tuple[str, int], str] = field(default_factory=dict)
    guards: int = 0
    timeless: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    keys: KeyNames = field(default_factory=KeyNames)
    broken: tuple[str, int] = ("", 0)
    flatteners: list[tuple[Value, ClassInfo | None]] = field(default_factory=list)
    properties_by_name: dict[str, list[tuple[ClassInfo, Value]]] = field(default_factory=dict)
    methods_by_name: dict[str, list[tuple[ClassInfo, Func]]] = field(default_factory=dict)
    host_calls: HostCalls = field(default_factory=HostCalls)
    texts: Texts = field(default_factory=Texts)
    domains: Domains = field(default_factory=Domains)
    version_tests: dict[int, bool] = field(default_factory=dict)
    version_flags: set[str] = field(default_factory=set)
    filled: set[tuple[int, int, str]] = field(default_factory=set)
    loads: set[tuple[str, int]] = field(default_factory=set)

    def contain(self, module: str, run: Callable[[], Value]) -> Value:
        """Run one function; an internal error there costs its file, not the whole analysis."""
        try:
            return run()
        except Exception as error:
            if os.environ.get("JITLINT_DEBUG"):
                raise
            self.failures.setdefault(module, f"{type(error).__name__}: {error}")
            return UNKNOWN

    def intern(self, key: object) -> int:
        """A small number for a hashable key."""
        return self.interned.setdefault(key, len(self.interned) + 1)

    def emit(
        self,
        f: Frame,
        kind: Any,
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
        why = modes = traced = array = ""
        soft = 0 if confidence is None else 2 - confidence.rank
        if value is not None:
            if type(value) is Arr or type(value) is Tree:
                why, modes = value.why, mode_letters(value.modes)
                asked = needs_kind(kind, fields)
                soft += value.softness if asked else SOFTNESS[value.traced]
                traced = value.traced.word if value.modes else ""
                array = value.kind.word if asked else ""
                if kind is ArrayStore and value.kind is SAID and not value.modes:
                    soft = 2  # who stores into it knows better than the annotation what it is
            elif type(value) is Inst:
                why = value.why
        level = weaken(f.confidence, soft)
        module, function = where if where is not None else (f.module.name, f.qualname)
        expected = f.world.expected and kind in RAISING
        if kind in RAISING:
            self.broken = (f.module.name, f.at)
            caught = f.caught if not expected else None
            if caught is not None and self._swallowed(caught, kind, at, module, why, modes, level, fields):
                if caught.traced:
                    return
                expected = True  # the program is prepared for it
        key = (kind, module, at, *fields.values())
        ground = f.ground if f.steps else "eager"
        place = Place(module, at, function, f.steps, ground, level, expected, traced, array)
        self.sink.add(key, kind(place, why, modes, **fields), when)

    def _swallowed(
        self,
        catch: Catch,
        kind: Any,
        at: int,
        module: str,
        why: str,
        modes: str,
        level: Confidence,
        fields: dict[str, Any],
    ) -> bool:
        """Whether a handler around keeps the error from everybody; a broad one inside a trace is recorded."""
        error = _family(kind, fields)
        broad = catch.names & {"", "BaseException", "Exception"}
        if not broad and error not in catch.names:
            return False
        traceable = kind is Truth or kind is Convert or error == "IndexError" or bool(fields.get("api"))
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
        return True


def needs_kind(kind: Any, fields: dict[str, Any]) -> bool:
    """Whether an event is one only if its value is an array: a container, or a Python number, would pass."""
    if kind is Convert:
        return fields.get("to") in ("numpy", "hash", "format", "iter", "string")
    return kind in (ArrayStore, BadIndex, Truth)


def _family(kind: Any, fields: dict[str, Any]) -> str:
    """The builtin class of the exception that an event predicts."""
    if kind is BadIndex:
        return "IndexError" if fields.get("problem") in ("mask", "mask-update", "slice") else "TypeError"
    exception = str(fields.get("exception", ""))
    attribute = kind is ArrayStore and fields.get("op") in ("delitem", "method", "attribute")
    if attribute or exception.endswith("AttributeError"):
        return "AttributeError"
    if exception.endswith(("IndexError", "NonConcreteBooleanIndexError")):
        return "IndexError"
    return "TypeError"


def result_level(f: Frame, operands: Iterable[Value]) -> int:
    """The level of what an operation gives: that of its deepest operand, or that of the innermost staging transform.

    A batch or a derivative that no operand belongs to has nothing to do with the result (measured: it is no tracer of
    theirs), so keeping it leaks nothing.
    """
    w = f.world
    return w.level if w.base == w.level else max([w.base, *[traced_level(v, 2) for v in operands]])


def settle(f: Frame, value: Value) -> Value:
    """The result of an operation: one without a derivative is no tracer of the derivatives around."""
    if type(value) is Arr and value.dtype in DISCRETE and not value.modes & B:
        value.level = min(value.level, f.world.base)
    return value


def here_array(
    f: Frame,
    modes: int,
    dtype: str | None = None,
    rank: int | None = None,
    why: str = "",
    traced: Ground = SEEN,
    level: int = 0,
) -> Arr:
    """The result of a staging operation: the operands' modes and those of the world. level: the operands' highest."""
    here = f.world.here
    modes |= here
    return Arr(modes, dtype, rank, why, max(f.world.base, level), SEEN if here & S else traced)
