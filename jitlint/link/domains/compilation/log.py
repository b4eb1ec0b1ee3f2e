"""What is remembered about compiled functions, their makers and their callers (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.values import Value, Xform
from jitlint.link.engine.frame import Slot
from jitlint.link.tables.code_tables import CodeTable
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.infer.program import FuncInfo
    from jitlint.link.domains.compilation.static_arrays import Compared, Maker
    from jitlint.link.engine.frame import Frame
    from jitlint.link.engine.machine import Machine


@dataclass(frozen=True, slots=True)
class Birth:
    """A value with an identity of its own was made. loops: the loops around, outermost first. statement: where."""

    value: Value
    loops: tuple[ir.Node, ...]
    statement: int


@dataclass(frozen=True, slots=True)
class PerCall:
    """A compiled function that its function makes whenever it is called. ``called_at``: where it is called. turns: in a loop."""

    frame: Frame
    confidence: Confidence
    at: int
    called_at: int
    retraces: bool
    what: str
    transform: str
    turns: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """A compiled function that a function of the project makes."""

    frame: Frame
    confidence: Confidence
    at: int


@dataclass(frozen=True, slots=True)
class EagerLoop:
    """A loop or branch of JAX in host code with a function that is made each time. in_loop: at every turn of a loop."""

    frame: Frame
    confidence: Confidence
    at: int
    what: str
    api: str
    in_loop: bool


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call in host code of a function of the project. loops: the loops around the call."""

    frame: Frame
    node: ir.Call
    loops: tuple[ir.Node, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """An argument of a call of a compiled function, to be asked of the callers of the function around. target: what is
    compiled, if that is a function of the project. beside: the static arguments of the call. turns: so many loops are around it."""

    frame: Frame
    confidence: Confidence
    table: CodeTable
    node: ir.Call
    arg: ir.Expr
    parameter: str
    static: bool
    filter: bool
    target: FuncInfo | None = None
    beside: tuple[ir.Expr, ...] = ()
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """A large array of NumPy that a compiled function gets, and that stays the same. count: of elements. turns: a loop is around the call itself."""

    frame: Frame
    confidence: Confidence
    at: int
    name: str
    count: int
    turns: bool


@dataclass(slots=True)
class CompilationLog:
    """What the analysis of a session has seen. fresh: per function, results that it made itself and whether they retrace. of_objects: methods that run a compiled function of their object, once. kept: compiled functions that serve more
    than one call each, with how deep the call lies that says so: who is called knows more than who runs on its own. few: the same of those that serve one, or a few turns. long: functions that call a compiled one in a loop: beside that, compiling once is nothing."""

    m: Machine
    fresh: dict[tuple[int, int], tuple[Value, bool, str]] = field(default_factory=dict)
    per_call: dict[tuple[str, int], PerCall] = field(default_factory=dict)
    of_objects: dict[int, Xform] = field(default_factory=dict)
    made: dict[tuple[str, int], Made] = field(default_factory=dict)
    eager: dict[tuple[str, int], EagerLoop] = field(default_factory=dict)
    questions: dict[tuple[str, int], Question] = field(default_factory=dict)
    kept: dict[tuple[str, int], int] = field(default_factory=dict)
    few: dict[tuple[str, int], int] = field(default_factory=dict)
    long: set[int] = field(default_factory=set)
    sites: dict[int, dict[tuple[str, int], CallSite]] = field(default_factory=dict)
    done: set[tuple[str, str, int]] = field(default_factory=set)
    sent: dict[tuple[str, int], Sent] = field(default_factory=dict)
    makers: dict[int, Maker] = field(default_factory=dict)
    compared: dict[tuple[str, int], Compared] = field(default_factory=dict)


BIRTHS: Final = Slot[dict[int, Birth]]()
"""What was made in a frame, by origin."""

_NONE: Final[dict[int, Birth]] = {}


def births(f: Frame) -> Mapping[int, Birth]:
    """The values with an identity of their own that were made in a frame."""
    found = BIRTHS.of(f)
    return _NONE if found is None else found
