"""What a domain is: one question, followed beside the values (layer: ``link``, room ``engine``).

A domain keeps its own state and overrides the hooks that it wants to hear. The evaluator and the rooms below it tell
`Domains` what happens and know no domain; `program` registers them, one line each. A hook costs nothing for domains
that do not override it. An operation that fails on the very values it is given is no domain's business: it reports
that itself. Observations are named tuples: as frozen as data classes, and quicker to make.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from jitlint.infer.values import UNKNOWN, Func, Value, Xform
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.infer.program import FuncInfo
    from jitlint.link.engine.frame import Args, Frame
    from jitlint.link.engine.machine import Machine

T = TypeVar("T")

Watched = Sequence[tuple[str, Any, object]]
"""Boxes among the arguments of a call, by parameter, with their contents before it."""

Owner = Any
"""What holds a place: a `Value`, a `Scope` or a `ClassInfo`, depending on the kind of place."""


class Called(NamedTuple):
    """A call that is written in the source was made."""

    node: ir.Call
    callee: Value
    args: Args
    result: Value


class Library(NamedTuple):
    """A library is called. dotted: the function, or the method of ``owner``.

    result: what the library's model says; it is asked after the domains when there is an owner.
    """

    at: int
    dotted: str
    args: Args
    result: Value = UNKNOWN
    owner: Value | None = None


class Load(NamedTuple):
    """A place is read inside a trace.

    kind: name (owner: a scope), attribute (an instance), class (a class), element (a container; key: the index), part
    (of an object that is not understood; owner: the scope of the variable, key: its name and the part).
    whole: where the owner of an element was read to get there.
    """

    at: int
    kind: str
    owner: Owner
    key: Any
    value: Value
    whole: int = 0


class Store(NamedTuple):
    """A value is put into a place.

    kind: name (a variable that others may read), global, nonlocal, module (attribute of one), class, attribute,
    element, append, part, or what keeps results: lru_cache, cached_property (key: the function). owner, key: as in
    `Load`; key None: not known which. old: what was there. form: how it is written, where that says more.
    """

    at: int
    kind: str
    owner: Owner
    key: Any
    value: Value | None
    old: Value | None = None
    form: str = ""


class Change(NamedTuple):
    """An object changes itself. how: the method, ``del``, ``in-place`` or, of an iterator that is advanced, ``next`` or
    ``iteration``. part: the index of what is deleted."""

    at: int
    box: Value
    how: str
    part: Value | None = None


class Transformed(NamedTuple):
    """A transformed function is called, and runs in the frame ``inner``."""

    x: Xform
    args: Args
    inner: Frame


class Repeat(NamedTuple):
    """A function is about to run many times. own: values that are others in every run. batch: all runs are one."""

    own: Sequence[Value]
    batch: bool = False


class Turn(NamedTuple):
    """The body of a loop has run. given, returned: its carry. paired: it returns the carry with something else."""

    given: Value
    returned: Value
    paired: bool


class Activation(NamedTuple):
    """An activation of a function that is over, or is remembered. watched: what it got, with the contents before."""

    at: int
    bound: dict[str, Value]
    value: Value
    watched: Watched = ()


Rename = Callable[[Value], Value]
"""What a value of a remembered activation is in this one."""


class Domain(Generic[T]):
    """Base of all domains: every hook does nothing. One instance per session. T: what it remembers of an activation."""

    def __init__(self, m: Machine) -> None:
        self.m = m

    def on_root(self, fn: FuncInfo | None) -> None:
        """What runs from here on may happen at any time after the modules were run. fn: None for a transform site."""

    def on_module(self, f: Frame) -> None:
        """The body of a module begins."""

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """A function, a transformed function or an instance is made."""

    def on_call(self, f: Frame, called: Called) -> None:
        """A call expression was evaluated."""

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A library is called. A value that is answered takes the place of the result."""
        return None

    def on_load(self, f: Frame, load: Load) -> None:
        """A trace reads a place, which may be older than itself."""

    def on_target(self, f: Frame, at: int, changed: Value | None) -> None:
        """What was read at ``at`` was read to be changed. changed: a container that does it itself."""

    def on_store(self, f: Frame, store: Store) -> None:
        """A value is about to be put into a place."""

    def on_change(self, f: Frame, change: Change) -> None:
        """An object has changed itself."""

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A transformed function is about to run."""

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A transformed function has run; its result is still inside of the trace."""

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A statement has run: a loop (a comprehension is one, whose target is bound), the body of a ``try``, an
        import, an expression. value: what the loop goes over or the expression gives."""

    def on_repeat(self, inner: Frame, repeat: Repeat) -> None:
        """A library is about to run the function that it calls from ``inner`` many times."""

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        """A loop of a library has run its body."""

    def on_bind(self, f: Frame, func: Func, bound: dict[str, Value]) -> None:
        """A function is about to be called: a domain may refine its arguments, before they are compared with others."""

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """A caller in ``f`` begins a new activation; the arguments are its variables."""

    def summarise(self, inner: Frame, activation: Activation) -> T | None:
        """An activation ends: what later calls in the same context have to repeat; None when that is nothing."""
        return None

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """An activation has ended, and is summarised."""

    def replay(self, f: Frame, activation: Activation, summary: T) -> Rename | None:
        """An activation that is remembered happens again, to other arguments."""
        return None

    def progress(self) -> int:
        """How far the domain's record has grown: a loop whose first turn adds to it is turned again."""
        return 0

    def finish(self) -> None:
        """The whole program has run: say what could only be told now."""


AnyDomain = Domain[Any]
Summary = tuple[AnyDomain, Any]
"""What one domain remembers of an activation."""


def _listening(
    domains: Sequence[AnyDomain], name: str, nothing: Callable[..., T]
) -> tuple[Callable[..., T], ...]:
    """The hooks of this name that do something."""
    return tuple([getattr(domain, name) for domain in domains if getattr(type(domain), name) is not nothing])


def _tell(domains: Sequence[AnyDomain], name: str, nothing: Callable[..., None]) -> Callable[..., None]:
    """What goes to each of these hooks: to one of them as directly as can be."""
    hooks = _listening(domains, name, nothing)
    if len(hooks) == 1:
        return hooks[0]

    def tell(*observed: object) -> None:
        for hook in hooks:
            hook(*observed)

    return tell


class Domains:
    """The domains of a session: each hook goes to those that override it, in the order of registration."""

    def __init__(self, domains: Sequence[AnyDomain] = ()) -> None:
        d = domains
        self.all: Final = tuple(d)
        self.on_root: Final[Callable[[FuncInfo | None], None]] = _tell(d, "on_root", Domain.on_root)
        self.on_module: Final[Callable[[Frame], None]] = _tell(d, "on_module", Domain.on_module)
        self.on_make: Final[Callable[[Frame, int, Value], None]] = _tell(d, "on_make", Domain.on_make)
        self.on_call: Final[Callable[[Frame, Called], None]] = _tell(d, "on_call", Domain.on_call)
        self.on_load: Final[Callable[[Frame, Load], None]] = _tell(d, "on_load", Domain.on_load)
        self.on_target: Final[Callable[[Frame, int, Value | None], None]] = _tell(
            d, "on_target", Domain.on_target
        )
        self.on_store: Final[Callable[[Frame, Store], None]] = _tell(d, "on_store", Domain.on_store)
        self.on_change: Final[Callable[[Frame, Change], None]] = _tell(d, "on_change", Domain.on_change)
        self.on_transform: Final[Callable[[Frame, Transformed], None]] = _tell(
            d, "on_transform", Domain.on_transform
        )
        self.on_result: Final[Callable[[Frame, Transformed, Value], None]] = _tell(
            d, "on_result", Domain.on_result
        )
        self.on_run: Final[Callable[[Frame, ir.Node, Value], None]] = _tell(d, "on_run", Domain.on_run)
        self.on_repeat: Final[Callable[[Frame, Repeat], None]] = _tell(d, "on_repeat", Domain.on_repeat)
        self.on_turn: Final[Callable[[Frame, Turn], None]] = _tell(d, "on_turn", Domain.on_turn)
        self.on_bind: Final[Callable[[Frame, Func, dict[str, Value]], None]] = _tell(
            d, "on_bind", Domain.on_bind
        )
        self.on_enter: Final[Callable[[Frame, Frame], None]] = _tell(d, "on_enter", Domain.on_enter)
        self.on_leave: Final[Callable[[Frame, Frame, Activation], None]] = _tell(
            d, "on_leave", Domain.on_leave
        )
        self._library: Final = _listening(d, "on_library", Domain.on_library)
        self._progress: Final = _listening(d, "progress", Domain.progress)
        self._summarising: Final = tuple([one for one in d if type(one).summarise is not Domain.summarise])

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """The answer of the last domain that has one."""
        answer: Value | None = None
        for hook in self._library:
            found = hook(f, library)
            if found is not None:
                answer = found
        return answer

    def summarise(self, inner: Frame, activation: Activation) -> tuple[Summary, ...]:
        """What all domains remember of an activation."""
        found: tuple[Summary, ...] = ()
        for domain in self._summarising:
            summary = domain.summarise(inner, activation)
            if summary is not None:
                found = (*found, (domain, summary))
        return found

    def replay(self, f: Frame, activation: Activation, summaries: tuple[Summary, ...]) -> Rename | None:
        """What all domains remember happens again."""
        rename: Rename | None = None
        for domain, summary in summaries:
            rename = domain.replay(f, activation, summary) or rename
        return rename

    def progress(self) -> int:
        """How far all records together have grown."""
        return sum([hook() for hook in self._progress])
