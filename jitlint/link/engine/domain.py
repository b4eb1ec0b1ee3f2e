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
    from jitlint.link.engine.effects import Watched
    from jitlint.link.engine.machine import Args, Frame, Machine

T = TypeVar("T")

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


class Domains:
    """The domains of a session: each hook goes to those that override it, in the order of registration."""

    def __init__(self, domains: Sequence[AnyDomain] = ()) -> None:
        self.all: Final = tuple(domains)
        self._root: Final = _listening(domains, "on_root", Domain.on_root)
        self._module: Final = _listening(domains, "on_module", Domain.on_module)
        self._make: Final = _listening(domains, "on_make", Domain.on_make)
        self._call: Final = _listening(domains, "on_call", Domain.on_call)
        self._library: Final = _listening(domains, "on_library", Domain.on_library)
        self._load: Final = _listening(domains, "on_load", Domain.on_load)
        self._target: Final = _listening(domains, "on_target", Domain.on_target)
        self._store: Final = _listening(domains, "on_store", Domain.on_store)
        self._change: Final = _listening(domains, "on_change", Domain.on_change)
        self._transform: Final = _listening(domains, "on_transform", Domain.on_transform)
        self._result: Final = _listening(domains, "on_result", Domain.on_result)
        self._run: Final = _listening(domains, "on_run", Domain.on_run)
        self._repeat: Final = _listening(domains, "on_repeat", Domain.on_repeat)
        self._turn: Final = _listening(domains, "on_turn", Domain.on_turn)
        self._bind: Final = _listening(domains, "on_bind", Domain.on_bind)
        self._enter: Final = _listening(domains, "on_enter", Domain.on_enter)
        self._leave: Final = _listening(domains, "on_leave", Domain.on_leave)
        self._summarising: Final = tuple([d for d in domains if type(d).summarise is not Domain.summarise])
        self._progress: Final = _listening(domains, "progress", Domain.progress)

    def on_root(self, fn: FuncInfo | None) -> None:
        """See `Domain`, here and below."""
        for hook in self._root:
            hook(fn)

    def on_module(self, f: Frame) -> None:
        for hook in self._module:
            hook(f)

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        for hook in self._make:
            hook(f, at, value)

    def on_call(self, f: Frame, called: Called) -> None:
        for hook in self._call:
            hook(f, called)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        answer: Value | None = None
        for hook in self._library:
            found = hook(f, library)
            answer = answer if found is None else found
        return answer

    def on_load(self, f: Frame, load: Load) -> None:
        for hook in self._load:
            hook(f, load)

    def on_target(self, f: Frame, at: int, changed: Value | None = None) -> None:
        for hook in self._target:
            hook(f, at, changed)

    def on_store(self, f: Frame, store: Store) -> None:
        for hook in self._store:
            hook(f, store)

    def on_change(self, f: Frame, change: Change) -> None:
        for hook in self._change:
            hook(f, change)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        for hook in self._transform:
            hook(f, transformed)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        for hook in self._result:
            hook(f, transformed, result)

    def on_run(self, f: Frame, node: ir.Node, value: Value = UNKNOWN) -> None:
        for hook in self._run:
            hook(f, node, value)

    def on_repeat(self, inner: Frame, repeat: Repeat) -> None:
        for hook in self._repeat:
            hook(inner, repeat)

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        for hook in self._turn:
            hook(inner, turn)

    def on_bind(self, f: Frame, func: Func, bound: dict[str, Value]) -> None:
        for hook in self._bind:
            hook(f, func, bound)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        for hook in self._enter:
            hook(f, inner)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        for hook in self._leave:
            hook(f, inner, activation)

    def summarise(self, inner: Frame, activation: Activation) -> tuple[Summary, ...]:
        found = [(domain, domain.summarise(inner, activation)) for domain in self._summarising]
        return tuple([one for one in found if one[1] is not None])

    def replay(self, f: Frame, activation: Activation, summaries: tuple[Summary, ...]) -> Rename | None:
        rename: Rename | None = None
        for domain, summary in summaries:
            rename = domain.replay(f, activation, summary) or rename
        return rename

    def progress(self) -> int:
        return sum([hook() for hook in self._progress])


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
        found: Any = f.own.get(self) if f.own is not None else None
        kept: T | None = found
        return kept

    def put(self, f: Frame, value: T) -> None:
        """Keep something in a frame."""
        if f.own is None:
            f.own = {}
        f.own[self] = value
