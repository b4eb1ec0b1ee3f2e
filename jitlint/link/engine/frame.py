"""One activation of code: what it runs in, what it was given, what its operations give (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from jitlint.base.diagnostic import Confidence
from jitlint.infer.grounds import SEEN, Ground
from jitlint.infer.lattice import traced_level
from jitlint.infer.places import Place, Step
from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.values import DISCRETE, Arr, B, S, Scope, Value
from jitlint.link.engine.world import World
from jitlint.syntax import ir
from jitlint.syntax.children import below

T = TypeVar("T")


class Slot(Generic[T]):
    """A place in frames in which one domain keeps something of its own.

    inherited: what a frame keeps there holds inside another world as well. by_guesses: even when it is only guessed
    that the code there runs.
    """

    __slots__ = ("by_guesses", "inherited")

    def __init__(self, inherited: bool = False, by_guesses: bool = True) -> None:
        self.inherited = inherited
        self.by_guesses = by_guesses

    def of(self, f: Frame) -> T | None:
        """What the domain keeps in a frame; None when that is nothing."""
        return f.own.get(self)  # type: ignore[return-value]

    def put(self, f: Frame, value: T) -> None:
        """Keep something in a frame."""
        f.own[self] = value


class Args:
    """Arguments of a call. more: a ``*unknown`` was passed; kw_more: a ``**unknown`` was passed.

    ways: ``more`` comes from one of several tuples, and these are they.
    """

    __slots__ = ("kw", "kw_more", "more", "pos", "ways")

    def __init__(
        self,
        pos: list[Value],
        kw: dict[str, Value] | None = None,
        more: Value | None = None,
        kw_more: Value | None = None,
        ways: tuple[tuple[Value, ...], ...] = (),
    ) -> None:
        self.pos = pos
        self.kw = kw if kw is not None else {}
        self.more = more
        self.kw_more = kw_more
        self.ways = ways

    def get(self, index: int, name: str) -> Value | None:
        """The argument at a position or under a name, or None."""
        if 0 <= index < len(self.pos):
            return self.pos[index]
        return self.kw.get(name)


@dataclass(slots=True)
class Catch:
    """An exception handler around: its place, the classes it names, whether it stands inside a trace.

    meant: it goes another way to the same answer. outer: the one around it in the same function. frame, body: whose statements it
    guards, in how many states at once. failed: one of these that always runs has raised, so that their end is not reached.
    """

    place: Place
    names: frozenset[str]
    traced: bool
    meant: bool
    outer: Catch | None
    frame: Frame
    body: Sequence[ir.Node]
    apart: int
    failed: bool = False

    def note(self, f: Frame) -> None:
        """What runs in a frame surely raises."""
        if f is self.frame and f.apart == self.apart:
            running = next((node for node in self.body if node.at == f.at), None)
            plain = isinstance(running, (ir.Assign, ir.AugAssign, ir.ExprStmt, ir.Return))
            if plain and not any(isinstance(part, _SOMETIMES) for part in below(running)):
                self.failed = True


_SOMETIMES: Final = (ir.IfExp, ir.BoolOp, ir.Comp, ir.Lambda)
"""Expressions of which a part may not run."""


BY_FORM: Final = 1
BY_CHOICE: Final = 2


class Frame:
    """One activation of a function or a module body.

    outer: the same activation seen from outside a transform that it calls. own: what domains keep with it.
    loops: those around, as the source has them. coarse: how much was forgotten of what it, or a caller, was given.
    has_keys: PRNG keys with names may be among that, or in what it closes over.
    confidence: how sure it is what is found here. entry: how sure it is that the code runs at all, whatever its values are.
    exits: what it left in the variables that functions inside it take, where it returned.
    dispatched: why nobody knows that this code is the one for the values at hand: `BY_FORM` on one side of a test that asks
    for their class, dtype or shape, `BY_CHOICE` in one of several functions.
    sided: it is on one side of a test that nobody can answer: what goes with that side may not go with the values at hand.
    sides: the states after both sides of the ``if`` that just ran. apart: how many states are followed at once.
    """

    __slots__ = (
        "apart", "at", "breaks", "caught", "cls", "coarse", "confidence", "continues", "depth", "dispatched", "entry", "exits", "fn", "ground", "has_keys", "loops", "module", "outer", "own", "owner", "recv", "returns",
        "scope", "sided", "sides", "steps", "token", "told", "turns", "world", "yields",
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
        self.entry = confidence
        self.returns: Value | None = None
        self.yields: list[Value] = []
        self.exits: dict[str, Value] = {}
        self.breaks: list[dict[str, Value]] = []
        self.continues: list[dict[str, Value]] = []
        self.token: object = scope.token
        self.cls: ClassInfo | None = None
        self.recv: Value | None = None
        self.owner: ClassInfo | None = None
        self.at = 0
        self.sides: Any = None
        self.apart = 1
        self.loops: tuple[ir.Node, ...] = ()
        self.turns = 1
        self.told: frozenset[str] = frozenset()
        self.outer: Frame | None = None
        self.own: dict[Slot[Any], object] = {}
        self.caught: Catch | None = None
        self.coarse = 0
        self.dispatched = 0
        self.sided = False
        self.has_keys = True

    def beside(self, outcome: bool | None) -> bool:
        """Whether what stands on a side of a test, of this answer, is a guess about which values go with it."""
        return self.sided or outcome is None

    @property
    def qualname(self) -> str:
        """The function's qualified name, or ``<module>``."""
        return self.fn.qualname if self.fn is not None else "<module>"


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
