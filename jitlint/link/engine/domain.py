"""What a domain is: one question, followed beside the values (layer: ``link``, room ``engine``).

A domain keeps its own state and overrides the hooks that it wants to hear. The evaluator and the rooms below it tell
`Domains` what happens and know no domain; `program` registers them, one line each. A hook costs nothing for domains
that do not override it. An operation that fails on the very values it is given is no domain's business: it reports
that itself. Observations are named tuples: as frozen as data classes, and quicker to make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, NamedTuple, ParamSpec, TypeVar

from jitlint.infer.values import UNKNOWN, Func, Value, Xform
from jitlint.syntax import ir

if TYPE_CHECKING:
    from jitlint.infer.program import FuncInfo
    from jitlint.link.engine.frame import Args, Frame
    from jitlint.link.engine.machine import Machine

T = TypeVar("T")
P = ParamSpec("P")

Watched = Sequence[tuple[str, tuple[object, ...], Any, Any]]
"""Boxes among the arguments of a call, and inside of them, by parameter and the way from there, with their contents before it."""

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
    element, append, part, field (of a named tuple, which refuses it), library (attribute of an object of one), or what keeps results: lru_cache, cached_property (key: the function). owner, key: as in
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
    """A transformed function is called, and runs in the frame ``inner``. arrived: the arguments as it sees them."""

    x: Xform
    args: Args
    inner: Frame
    at: int
    arrived: Args


class Repeat(NamedTuple):
    """A function is about to run many times. own: values that are others in every run. batch: all runs are one.
    devices: each is that of a device. lanes: the positions of the arguments that are others in every lane of a batch."""

    own: Sequence[Value]
    batch: bool = False
    devices: bool = False
    lanes: frozenset[int] = frozenset()


class Turn(NamedTuple):
    """The body of a loop has run. given, returned: its carry. paired: it returns the carry with something else."""

    given: Value
    returned: Value
    paired: bool


class Activation(NamedTuple):
    """An activation of a function that is over, or is remembered. watched: what it got, with the contents before. made: what it
    makes this time, by the identity of what takes its place in what is remembered."""

    at: int
    func: Func
    bound: dict[str, Value]
    value: Value
    watched: Watched = ()
    made: Mapping[int, Value] = MappingProxyType({})


Rename = Callable[[Value], Value]
"""What a value of a remembered activation is in this one."""


class Domain(Generic[T]):
    """Base of all domains: every hook does nothing. One instance per session. T: what it remembers of an activation."""

    callees: frozenset[type] = frozenset()
    """Types of values whose calls in host code are of interest, and those with arguments by name in traces."""

    hears_names: bool = False
    """Whether calls with arguments by name are of interest whatever is called."""

    nodes: frozenset[type[ir.Node]] = frozenset()
    """Types of statements, and of comprehensions, that are of interest when they have run."""

    keeps: frozenset[object] = frozenset()
    """Slots: an activation with nothing in any of them is neither summarised nor left; of all when there are none."""

    def __init__(self, m: Machine) -> None:
        self.m = m

    def on_root(self, fn: FuncInfo | None) -> None:
        """What runs from here on may happen at any time after the modules were run. fn: None for a transform site."""

    def on_module(self, f: Frame) -> None:
        """The body of a module begins."""

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """A function, a transformed function or an instance is made."""

    def on_property(self, f: Frame, at: int, func: Func, value: Value) -> None:
        """A property was asked for: what its function gave, now or when it was asked with the same values before."""

    def on_call(self, f: Frame, called: Called) -> None:
        """A call expression was evaluated: of one of the ``callees``, in host code or with arguments by name; or of anything, with such arguments, for who ``hears_names``. A dict that comes first gives arguments by name as well."""

    def hears_of(self, dotted: str) -> bool:
        """Whether the domain wants to hear of calls of a library's function, or method; asked once for each name."""
        return False

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A library is called. A value that is answered takes the place of the result."""
        return None

    def on_load(self, f: Frame, load: Load) -> None:
        """A trace reads a place that is older than itself."""

    def on_target(self, f: Frame, at: int, changed: Value | None) -> None:
        """What was read at ``at`` was read to be changed. changed: a container that does it itself."""

    def on_unknown(self, f: Frame, args: Args) -> None:
        """Something that is not known at all is called inside a trace: what comes of its arguments is lost."""

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """An operator was applied. What is answered takes the place of the result."""
        return result

    def on_store(self, f: Frame, store: Store) -> None:
        """A value is about to be put into a place."""

    def on_change(self, f: Frame, change: Change) -> None:
        """An object has changed itself."""

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A transformed function is about to run."""

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A transformed function has run; its result is still inside of the trace."""

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A statement of one of the ``nodes`` has run: a loop (a comprehension is one, whose target is bound), the body
        of a ``try``, an import, an expression, an assignment of what a call gives, whose names are not bound yet; in a trace also an ``if`` or an
        ``assert`` whose test was evaluated, with its truth as the value. value: what the loop goes over or the expression gives."""

    def on_side(self, number: int | None) -> None:
        """The statements that follow run on one of the states that an ``if`` left; None: they have run on all of them.
        One run of the program sees one side."""

    def on_repeat(self, inner: Frame, repeat: Repeat) -> None:
        """A library is about to run the function that it calls from ``inner`` many times."""

    def on_turn(self, inner: Frame, turn: Turn) -> None:
        """A loop of a library has run its body."""

    def on_bind(self, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> None:
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

    def on_pause(self) -> None:
        """Nothing runs for a while, and then perhaps many times: what can be found out before `finish` may be found out now."""

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


def _each(domains: Sequence[AnyDomain], hook: Callable[Concatenate[AnyDomain, P], None]) -> Callable[P, None]:
    """What goes to each domain that overrides a hook; to one of them as directly as can be."""
    hooks: tuple[Callable[P, None], ...] = _listening(domains, hook.__name__, hook)

    def tell(*observed: P.args, **_: P.kwargs) -> None:
        for one in hooks:
            one(*observed)  # type: ignore[call-arg]

    return hooks[0] if len(hooks) == 1 else tell


class Domains:
    """The domains of a session: each hook goes to those that override it, in the order of registration."""

    def __init__(self, domains: Sequence[AnyDomain] = ()) -> None:
        d = domains
        self.all: Final = tuple(d)
        self.on_root: Callable[[FuncInfo | None], None] = _each(d, Domain.on_root)
        self.on_module: Callable[[Frame], None] = _each(d, Domain.on_module)
        self.on_make: Callable[[Frame, int, Value], None] = _each(d, Domain.on_make)
        self.on_property: Callable[[Frame, int, Func, Value], None] = _each(d, Domain.on_property)
        self._calling: dict[tuple[type, bool], tuple[Callable[[Frame, Called], None], ...]] = {}
        self.on_load: Callable[[Frame, Load], None] = _each(d, Domain.on_load)
        self.on_target: Callable[[Frame, int, Value | None], None] = _each(d, Domain.on_target)
        self.on_unknown: Callable[[Frame, Args], None] = _each(d, Domain.on_unknown)
        self.operators: Final = _listening(d, "on_operator", Domain.on_operator)
        self.on_store: Callable[[Frame, Store], None] = _each(d, Domain.on_store)
        self.on_change: Callable[[Frame, Change], None] = _each(d, Domain.on_change)
        self.on_transform: Callable[[Frame, Transformed], None] = _each(d, Domain.on_transform)
        self.on_result: Callable[[Frame, Transformed, Value], None] = _each(d, Domain.on_result)
        kinds = frozenset[type[ir.Node]]().union(*[domain.nodes for domain in d])
        self._running: Final = {kind: tuple([x.on_run for x in d if kind in x.nodes]) for kind in kinds}
        self.on_side: Callable[[int | None], None] = _each(d, Domain.on_side)
        self.on_repeat: Callable[[Frame, Repeat], None] = _each(d, Domain.on_repeat)
        self.on_turn: Callable[[Frame, Turn], None] = _each(d, Domain.on_turn)
        self.on_bind: Callable[[Frame, int, Func, dict[str, Value]], None] = _each(d, Domain.on_bind)
        self.on_enter: Callable[[Frame, Frame], None] = _each(d, Domain.on_enter)
        self.on_pause: Callable[[], None] = _each(d, Domain.on_pause)
        self._hearing: dict[str, tuple[Callable[[Frame, Library], Value | None], ...]] = {}
        self._progress: Final = _listening(d, "progress", Domain.progress)
        self._summarising: Final = tuple(
            [(one, one.keeps) for one in d if type(one).summarise is not Domain.summarise]
        )
        self._leaving: Final = tuple(
            [(one.on_leave, one.keeps) for one in d if type(one).on_leave is not Domain.on_leave]
        )

    def hearing(self, kind: type, by_name: bool) -> tuple[Callable[[Frame, Called], None], ...]:
        """Those who want to hear of a call of a value of this type. by_name: it has arguments by name."""
        found = self._calling.get((kind, by_name))
        if found is None:
            hearing = [d.on_call for d in self.all if kind in d.callees or (by_name and d.hears_names)]
            found = self._calling[kind, by_name] = tuple(hearing)
        return found

    def on_library(
        self,
        f: Frame,
        at: int,
        dotted: str,
        args: Args,
        result: Value = UNKNOWN,
        owner: Value | None = None,
    ) -> Value | None:
        """The answer of the last domain that has one."""
        hearing = self._hearing.get(dotted)
        if hearing is None:
            hearing = tuple([domain.on_library for domain in self.all if domain.hears_of(dotted)])
            self._hearing[dotted] = hearing
        answer: Value | None = None
        if hearing:
            library = Library(at, dotted, args, result, owner)
            for hook in hearing:
                found = hook(f, library)
                if found is not None:
                    answer = found
        return answer

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """The result, as those who want to hear of operators leave it."""
        for hook in self.operators:
            result = hook(f, node, operands, result)
        return result

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """Those who want to hear of such a statement do."""
        for hook in self._running.get(node.__class__, ()):
            hook(f, node, value)

    def summarise(self, inner: Frame, activation: Activation) -> tuple[Summary, ...]:
        """What all domains remember of an activation."""
        found: tuple[Summary, ...] = ()
        own = inner.own
        for domain, slots in self._summarising:
            if slots and slots.isdisjoint(own):
                continue
            summary = domain.summarise(inner, activation)
            if summary is not None:
                found = (*found, (domain, summary))
        return found

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """Those that keep something with the activation hear that it has ended."""
        own = inner.own
        for hook, slots in self._leaving:
            if not (slots and slots.isdisjoint(own)):
                hook(f, inner, activation)

    def replay(self, f: Frame, activation: Activation, summaries: tuple[Summary, ...]) -> Rename | None:
        """What all domains remember happens again."""
        rename: Rename | None = None
        for domain, summary in summaries:
            rename = domain.replay(f, activation, summary) or rename
        return rename

    def progress(self) -> int:
        """How far all records together have grown."""
        return sum([hook() for hook in self._progress])
