"""The abstract domain: what an expression may evaluate to (layer: ``infer``).

What it is: immutable scalars and arrays, mutable boxes (list, dict, instance) with an owner level, functions and classes as
values, and finite unions of these. What it is not: an evaluator; operations live in `link`.

Tracedness is a set of *modes*, a bit mask: `S` staged (jit, scan, cond, ...), `B` batched (vmap alone), `L`
linear (grad, jvp alone). Modes of 0 mean a concrete value. Two more bits stand beside `L`: the derivative of the value goes
through a loop of unknown length, which reverse mode refuses. ``level`` counts the transform boundaries around
the place where a tracer or a box was made; a tracer stored into a box of a lower level outlives its trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jitlint.infer.about import NOTHING
from jitlint.infer.grounds import GUESSED, SEEN, SOFTNESS, USED, Ground

if TYPE_CHECKING:
    from jitlint.catalogue.transforms import Wrap
    from jitlint.infer.counted import Counted
    from jitlint.infer.keys import Key
    from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo

S: Final = 1
B: Final = 2
L: Final = 4
WHILE: Final = 8
FORI: Final = 16
HOLE: Final = 256
BEHIND: Final = WHILE | FORI | HOLE  # what a derivative goes through; HOLE: a choice where it is not finite
BACK: Final = 32
"""Of the transforms in force only, not of values: a derivative is transposed, so that backward rules run."""
SMOOTH: Final = L | BEHIND
DISCRETE: Final = frozenset({"bool", "int", "key"})
"""Dtypes without a derivative: what is computed in them from a linear tracer is concrete (measured)."""

FRESH: Final = 1 << 30
"""The level of a box that nothing owns yet, above every real level: storing a tracer into it leaks nothing."""


def mode_letters(modes: int) -> str:
    """The modes as letters, in the order S, B, L."""
    return ("S" if modes & S else "") + ("B" if modes & B else "") + ("L" if modes & L else "")


class Value:
    """Base of all abstract values. Compared by identity; `freezing` gives their keys."""

    __slots__ = ()


class Unknown(Value):
    """Not understood: never traced, never reported."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"


UNKNOWN: Final = Unknown()

NO_CONST: Final = object()
"""In the place of a constant that is not known."""


class Py(Value):
    """A Python value that is certainly no tracer.

    kind: int, float, bool, complex, str, bytes, none, ellipsis, slice, dtype, enum, static (any of them). counted: by a loop.
    """

    __slots__ = ("const", "counted", "kind")

    def __init__(self, kind: str, const: object = NO_CONST, counted: Counted | None = None) -> None:
        self.kind, self.const, self.counted = kind, const, counted

    def __repr__(self) -> str:
        return f"{self.kind}={self.const!r}"


NONE: Final = Py("none", None)
TRUE: Final = Py("bool", True)
FALSE: Final = Py("bool", False)
INT: Final = Py("int")
FLOAT: Final = Py("float")
BOOL: Final = Py("bool")
STR: Final = Py("str")
STATIC: Final = Py("static")


class Grounded(Value):
    """A value that is perhaps traced: ``traced`` and ``kind`` are the grounds for that, and for what it is."""

    __slots__ = ("kind", "traced")
    kind: Ground
    traced: Ground

    @property
    def weak(self) -> bool:
        """Whether it is a mere guess that this is a tracer."""
        return self.traced is GUESSED

    @property
    def softness(self) -> int:
        """How many soft links it takes to call this a traced value of its kind: one origin counts once."""
        return max(SOFTNESS[self.traced], SOFTNESS[self.kind])


class Arr(Grounded):
    """An array (or NumPy array when ``host``), a tracer when ``modes`` is not 0.

    dtype: bool, int, float, complex, key, number (an integer that gives way to other types, as Python's do), text or None; a `Dtype`
    where the exact one is known. rank: number of axes or None. traced, kind: on what ground it is a tracer, and an array. key:
    which PRNG key or keys this is, None if it is none or not known. dims: the known sizes of its axes, None if there is none.
    """

    __slots__ = ("about", "dims", "dtype", "host", "key", "level", "modes", "rank", "why")

    def __init__(
        self,
        modes: int = 0,
        dtype: str | None = None,
        rank: int | None = None,
        why: str = "",
        level: int = 0,
        traced: Ground = SEEN,
        host: bool = False,
        key: Key | None = None,
        kind: Ground = SEEN,
    ) -> None:
        self.modes = modes & ~SMOOTH if modes and dtype in DISCRETE else modes
        self.key = key
        self.dims: tuple[int | None, ...] | None = None
        self.about = NOTHING
        self.dtype = dtype
        self.rank = rank
        self.why = why
        self.level = level
        self.traced = traced
        self.kind = kind
        self.host = host

    def __repr__(self) -> str:
        return f"Arr[{mode_letters(self.modes)}{'?' if self.weak else ''} {self.dtype} r{self.rank}{' np' if self.host else ''}]"


class Tree(Grounded):
    """A pytree of unknown structure; every array leaf in it has these modes.

    evidence: what it is (array, map, seq, ref, flag, or one of `mappings.MAPPINGS`), on the ground ``kind``, or "" when that is not known.
    """

    __slots__ = ("evidence", "level", "modes", "why")

    def __init__(
        self,
        modes: int,
        why: str = "",
        level: int = 0,
        traced: Ground = SEEN,
        evidence: str = "",
        kind: Ground = USED,
    ) -> None:
        self.modes = modes
        self.why = why
        self.level = level
        self.traced = traced
        self.evidence = evidence
        self.kind = kind if evidence else GUESSED

    def leaf(self) -> Arr:
        """The array that this is when it is one; what no transform made a tracer may as well be one of NumPy."""
        if self.modes:
            return Arr(self.modes, None, None, self.why, self.level, self.traced)
        return Arr(0, None, None, "", self.level, GUESSED, kind=GUESSED)

    def __repr__(self) -> str:
        return f"Tree[{mode_letters(self.modes)}{'?' if self.weak else ''} {self.evidence}]"


class Tup(Value):
    """A tuple with known items; ``cls`` is set for an instance of a NamedTuple class. said: an annotation names the class."""

    __slots__ = ("cls", "items", "said")

    def __init__(self, items: tuple[Value, ...], cls: ClassInfo | None = None, said: bool = False) -> None:
        self.items = items
        self.cls = cls
        self.said = said

    def of(self, items: list[Value]) -> Tup:
        """One like this of other items."""
        return Tup(tuple(items), self.cls, self.said)


SETS: Final = ("set", "frozenset")


class Seq(Value):
    """A list, set, tuple of unknown length, iterator or generator.

    items: the elements when all are known, else None and ``rest`` is the join of what may be inside (None:
    nothing known to be inside). kind: list, set, frozenset, tuple, iter, range, deque. one_of: the boxes of which this is one.
    """

    __slots__ = ("items", "kind", "level", "one_of", "rest", "token")

    def __init__(
        self,
        kind: str,
        items: list[Value] | None,
        rest: Value | None = None,
        level: int = 0,
        token: object = None,
    ) -> None:
        self.kind = kind
        self.items = items
        self.rest = rest
        self.level = level
        self.token = token
        self.one_of: tuple[Seq, ...] = ()

    def __repr__(self) -> str:
        return f"{self.kind}{self.items if self.items is not None else [self.rest, '*']}"


class Map(Value):
    """A dict. entries: constant key to value. rest: join of the values under unknown keys, or None. key: the join of these
    keys, None when nothing is known of them. odd: it is a plain one, written with keys that have no order. one_of: see `Seq`.
    """

    __slots__ = ("entries", "key", "level", "odd", "one_of", "open", "rest", "token")

    def __init__(
        self,
        entries: dict[Any, Value],
        rest: Value | None = None,
        level: int = 0,
        token: object = None,
        key: Value | None = None,
    ) -> None:
        self.key = key
        self.entries = entries
        self.rest = rest
        self.level = level
        self.token = token
        self.open = rest is not None
        self.odd = False
        self.one_of: tuple[Map, ...] = ()

    def __repr__(self) -> str:
        return f"Map{self.entries}{'+' + repr(self.rest) if self.rest is not None else ''}"


class Inst(Value):
    """An instance of a class of the project. ``open``: it may have more attributes. born: when made; like: see `objects`; one_of: `Seq`."""

    __slots__ = ("attrs", "born", "cls", "level", "like", "modes", "one_of", "open", "token", "why")

    def __init__(
        self,
        cls: ClassInfo,
        attrs: dict[str, Value],
        level: int = 0,
        token: object = None,
        open: bool = False,
    ) -> None:
        self.cls = cls
        self.attrs = attrs
        self.level = level
        self.token = token
        self.open = open
        self.born = self.modes = 0
        self.why = ""
        self.like: Inst | None = None
        self.one_of: tuple[Inst, ...] = ()

    def __repr__(self) -> str:
        return f"<{self.cls.qualname} {self.attrs}>"


class ExtInst(Value):
    """An instance of a library class, or what a library call gave that is no array: ``dotted`` says which."""

    __slots__ = ("attrs", "dotted")

    def __init__(self, dotted: str, attrs: dict[str, Value] | None = None) -> None:
        self.dotted = dotted
        self.attrs = attrs if attrs is not None else {}


class Scope:
    """The variables of one activation. ``key`` identifies its contents for memoisation. ``watched``: the names
    that traced code was seen to capture, None when there are none."""

    __slots__ = ("fn", "key", "level", "parent", "token", "vars", "watched")

    def __init__(
        self,
        vars: dict[str, Value],
        parent: Scope | None,
        fn: FuncInfo | None,
        key: int,
        level: int,
        token: object,
    ) -> None:
        self.vars = vars
        self.parent = parent
        self.fn = fn
        self.key = key
        self.level = level
        self.token = token
        self.watched: set[str] | None = None


class Func(Value):
    """A function or lambda of the project with the scope it closes over. born: when it was made."""

    __slots__ = ("born", "defaults", "fn", "owner", "scope", "wraps")

    def __init__(
        self, fn: FuncInfo, scope: Scope, defaults: dict[str, Value], owner: ClassInfo | None = None
    ) -> None:
        self.fn = fn
        self.scope = scope
        self.defaults = defaults
        self.owner = owner
        self.born = 0
        self.wraps: Value | None = None

    def __repr__(self) -> str:
        return f"<def {self.fn.qualname}>"


class Bound(Value):
    """A method bound to its receiver. ``func`` is any callable value that takes the receiver first."""

    __slots__ = ("func", "recv")

    def __init__(self, func: Value, recv: Value) -> None:
        self.func = func
        self.recv = recv

    def __repr__(self) -> str:
        return f"<bound {self.func} {type(self.recv).__name__}>"


class Descr(Value):
    """staticmethod, classmethod, property or cached_property around a callable. setter: of a property."""

    __slots__ = ("func", "kind", "setter")

    def __init__(self, kind: str, func: Value, setter: Value | None = None) -> None:
        self.kind = kind
        self.func = func
        self.setter = setter


class Class(Value):
    """A class of the project."""

    __slots__ = ("info",)

    def __init__(self, info: ClassInfo) -> None:
        self.info = info


class Mod(Value):
    """A module of the project."""

    __slots__ = ("info",)

    def __init__(self, info: ModuleInfo) -> None:
        self.info = info


class Ext(Value):
    """A name of a library: module, function, class or constant, by canonical dotted name."""

    __slots__ = ("dotted",)

    def __init__(self, dotted: str) -> None:
        self.dotted = dotted


class Method(Value):
    """A method of an array, container, string or library object, looked up but not called yet."""

    __slots__ = ("name", "obj")

    def __init__(self, obj: Value, name: str) -> None:
        self.obj = obj
        self.name = name

    def __repr__(self) -> str:
        return f"{self.obj}.{self.name}"


class Partial(Value):
    """`functools.partial`, or a transform called with options only (``jax.jit(static_argnums=0)``)."""

    __slots__ = ("args", "func", "keywords", "site")

    def __init__(
        self, func: Value, args: list[Value], keywords: dict[str, Value], site: tuple[str, int] | None = None
    ) -> None:
        self.func = func
        self.args = args
        self.keywords = keywords
        self.site = site


class Xform(Value):
    """A function under a transform: what ``jax.jit(f)``, ``jax.vmap(f)``, ``jax.grad(f)`` return.

    spec: the transform's catalogue entry. options: its arguments besides the function, by name. site and
    module: where it was made, born: when. called: a known call reached it. broken: its options are refused already.
    rules: what ``defvjp`` and the like added, kind and function. origin: the one that was made when the same code ran before.
    """

    __slots__ = ("born", "broken", "called", "module", "options", "origin", "rules", "site", "spec", "target")

    def __init__(
        self, spec: Wrap, target: Value, options: dict[str, Value], site: tuple[str, int], module: ModuleInfo
    ) -> None:
        self.spec = spec
        self.module = module
        self.target = target
        self.options = options
        self.site = site
        self.called = self.broken = False
        self.born = 0
        self.origin: Xform | None = None
        self.rules: list[tuple[str, Value]] = []

    def __repr__(self) -> str:
        return f"{self.spec.name}({self.target})"


class At(Value):
    """``x.at`` (index None) or ``x.at[index]``. problem: set when the index itself was refused already.

    beyond: the size that the index certainly passes, or "".
    """

    __slots__ = ("arr", "beyond", "index", "problem")

    def __init__(self, arr: Value, index: Value | None = None, problem: bool = False) -> None:
        self.arr = arr
        self.index = index
        self.problem = problem
        self.beyond = ""


class Super(Value):
    """``super()`` in a method of ``cls`` with receiver ``recv``."""

    __slots__ = ("cls", "recv")

    def __init__(self, cls: ClassInfo, recv: Value) -> None:
        self.cls, self.recv = cls, recv


class SliceVal(Value):
    """A slice object with its bounds (None when omitted)."""

    __slots__ = ("hi", "lo", "step")

    def __init__(self, lo: Value | None, hi: Value | None, step: Value | None) -> None:
        self.lo, self.hi, self.step = lo, hi, step


class Union(Value):
    """Several alternatives, at most `MAX_ALTERNATIVES` (functions: `MAX_FUNCTIONS`), none of them a union or unknown."""

    __slots__ = ("alts",)

    def __init__(self, alts: tuple[Value, ...]) -> None:
        self.alts = alts


def alternatives(value: Value) -> tuple[Value, ...]:
    """The alternatives of a value; a value that is no union is its own only one."""
    return value.alts if type(value) is Union else (value,)


def const_of(value: Value) -> object:
    """The exact Python constant a value denotes, or `NO_CONST`."""
    return value.const if type(value) is Py else NO_CONST


def py(const: object) -> Py:
    """The abstract value of a Python constant."""
    if const is None:
        return NONE
    if type(const) is bool:
        return TRUE if const else FALSE
    return Py(type(const).__name__, const)
