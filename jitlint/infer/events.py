"""What the interpreter tells the rules: typed observations of code that hurts under a trace (layer: ``infer``).

An event is only recorded when its value is traced in a mode that the operation cannot stand, so a rule normally has nothing left to
decide but the words. Every event names its place (module and origin number), its function, and the witness: the calls down to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from jitlint.infer.buffer_events import DonatedRead as DonatedRead
from jitlint.infer.buffer_events import LostDonation as LostDonation
from jitlint.infer.buffer_events import RepeatedTransfer as RepeatedTransfer
from jitlint.infer.derivative_events import OUTPUT as OUTPUT
from jitlint.infer.derivative_events import CrossedGradient as CrossedGradient
from jitlint.infer.derivative_events import LocalGradients as LocalGradients
from jitlint.infer.derivative_events import LostUpdate as LostUpdate
from jitlint.infer.derivative_events import MovingTarget as MovingTarget
from jitlint.infer.derivative_events import NanGradient as NanGradient
from jitlint.infer.derivative_events import OddOptimiser as OddOptimiser
from jitlint.infer.derivative_events import SummedMeans as SummedMeans
from jitlint.infer.derivative_events import UnsettledResult as UnsettledResult
from jitlint.infer.derivative_events import WrappedDifference as WrappedDifference
from jitlint.infer.derivative_events import ZeroGradient as ZeroGradient
from jitlint.infer.number_events import CutNumbers as CutNumbers
from jitlint.infer.number_events import FarNumbers as FarNumbers
from jitlint.infer.number_events import InvertedBool as InvertedBool
from jitlint.infer.number_events import OutOfBounds as OutOfBounds
from jitlint.infer.number_events import PaddingIndex as PaddingIndex
from jitlint.infer.number_events import PathText as PathText
from jitlint.infer.number_events import StalledAverage as StalledAverage
from jitlint.infer.number_events import TwiceNormalised as TwiceNormalised
from jitlint.infer.number_events import UnevenGrouping as UnevenGrouping
from jitlint.infer.number_events import UnstableLog as UnstableLog
from jitlint.infer.number_events import UnstableSeed as UnstableSeed
from jitlint.infer.number_events import WideDtype as WideDtype
from jitlint.infer.number_events import WidenedArray as WidenedArray
from jitlint.infer.places import Event
from jitlint.infer.timing_events import ColdClock as ColdClock
from jitlint.infer.timing_events import EarlyWrite as EarlyWrite
from jitlint.infer.timing_events import UnsyncedClock as UnsyncedClock


@dataclass(frozen=True, slots=True)
class Truth(Event):
    """`bool()` of a tracer. form: if, elif, while, ternary, assert, and, or, not, comparison-chain, in, contains (``in`` of an object), bool,
    any, all, min, max, sorted, heapq, filter, comprehension (its ``if``), match (a value pattern), match-guard,
    equality (== of containers), left-out (of what is declared to be an array or None)."""

    form: str = "if"


@dataclass(frozen=True, slots=True)
class Convert(Event):
    """A tracer is forced into a Python value.

    to: range, index (``__index__``: list, tuple or str index or slice, str repetition, hex, operator.index;
    ``what`` names it), int, float, complex, round, item, tolist, pickle, math (``what``: math.sin), format (``what``:
    f-string, format, %), hash (``what``: dict key, set member, membership, hash(), lru_cache), numpy
    (``what``: np.where), iter (iterating a 0-d tracer), len (of one), string (a tracer as a str argument).
    """

    to: str = "int"
    what: str = ""


REFUSALS = (
    "TypeError",
    "ValueError",
    "AssertionError",
    "AttributeError",
    "NotImplementedError",
    "RuntimeError",
)
"""What programs raise for an argument of a kind that they do not take."""


@dataclass(frozen=True, slots=True)
class KindCheck(Event):
    """A check of what kind of value something is, which no tracer passes, raises. classes: those that it asks for, as they are written;
    exception: the class of what is raised."""

    classes: str = ""
    exception: str = "TypeError"


@dataclass(frozen=True, slots=True)
class BadIndex(Event):
    """An array is indexed in a way that JAX refuses. problem: mask (boolean mask read), mask-update
    (``.at[mask].set``), slice (a traced slice bound), list (a list index), float, string, count (more of
    them than the array has axes)."""

    problem: str = "mask"


@dataclass(frozen=True, slots=True)
class ArrayStore(Event):
    """In-place change of a JAX array. op: setitem, augmented, delitem, method (``what``: sort, fill, ...),
    out (``out=`` argument), attribute (x.shape = ...), lent (of a buffer that NumPy got from ``what``), field (of an object that cannot be changed; ``what``: class and field)."""

    op: str = "setitem"
    what: str = ""


@dataclass(frozen=True, slots=True)
class ApiMisuse(Event):
    """A library call that JAX refuses.

    problem: static-argument (``parameter`` must be static; ``exception`` is what JAX raises, ``detail``: late, if it does that later),
    data-dependent-shape (``cure`` names the argument that fixes the size, or ""), list-argument,
    removed (``cure``: replacement, ``since``: the first JAX without it; ``target``: the JAX that the code is to move to
    from one that has it), moved (``parameter`` was ``cure`` and is ``since``), no-function (a transform makes no decorator in
    the JAX ``since``), concrete-only (an attribute or method that a tracer lacks), missing-member (one that every array lacks), no-key (``detail`` is no PRNG key),
    cannot-join (``detail`` says of what kind the arrays are), unfit (``parameter``: in which way, dtypes, kind, axes, number, axis, sizes or truth; ``detail``: of what), wrong-call (its form is refused: ``detail`` is name, dtype, axis, attribute, function, module, iterator, missing, keys, count with the numbers that are allowed and given, or arity with those that ``parameter`` is given and takes; ``cure``: what ``parameter`` is called here), missing-argument (this object needs ``parameter``; ``since``: as of this release of its library, ``detail``: asked, if the project asks for it or a newer one),
    unbound-axis (nothing binds the axis ``parameter``), no-mesh-axis (``detail``: those that the mesh has), long-spec, repeated-axis (``parameter``), uneven-split (``parameter``: over which axes, ``detail``: axis, its size, number of devices, ``last`` if only the last turn of a loop has that size), explicit-axes, varies (over the axis ``parameter``), other-keys (``detail``: which), missing-mutable and missing-rngs (a layer needs the collection or stream ``parameter``), missing-params (so do parameters that are made), missing-stream (what is given has no stream ``parameter``, but ``detail``),
    plain-container (the field ``parameter`` of a class ``api`` gets modules in a ``cure``; ``since``, ``detail``: as above), missing-scope and no-scope (a module is made in the plain method ``parameter``, or called by its name, where nothing holds its parameters; ``detail``: here, where its method ``parameter`` is called, inside, if that raises further in).
    """

    api: str = ""
    problem: str = "static-argument"
    parameter: str = ""
    exception: str = ""
    cure: str = ""
    since: str = ""
    target: str = ""
    detail: str = ""

    @property
    def subject(self) -> str:
        """What the call or name is about, for people."""
        return f"{self.parameter} of `{self.api}`" if self.parameter else f"`{self.api}`"


@dataclass(frozen=True, slots=True)
class TransformMisuse(Event):
    """A transform or a jitted function is used in a way that JAX refuses.

    problem: unhashable-static, unhashable-object (of a class whose objects are static arguments), static-array-field,
    array-metadata and compared-array (``detail``: the class), static-module (a method of a Linen module), non-array-field, static-out-of-range, static-unknown-name,
    static-not-a-number, static-and-donated, non-array-argument, non-array-operand (of a loop or branch), function-leaf (an optimiser is to make arrays like functions), method-self,
    non-array-output, no-result (a kernel gives one), carry-mismatch, no-pair, no-boolean, branch-mismatch, reverse-mode-loop; of derivatives no-scalar,
    no-aux, no-real-result, no-real-input, no-argument, no-tuple, no-derivative-rule, unlike-tangent, unlike-cotangent; of maps axes-count, nothing-mapped, results-count, axes-keys, no-axis, no-result-axis, unequal-sizes; of loops no-rows, unequal-rows, unequal-bounds; of branches no-scalar-choice, no-index; of
    derivative rules rule-result (``parameter``: jvp, fwd or bwd), rule-ignores (``parameter``: the cotangent, or with ``detail`` jvp the argument, with one for one of the gradients alone); of pytrees lost-field (``detail``: the class);
    of static arguments uncompared-field (``detail``: the class).
    detail: the argument, name or the two structures.
    """

    transform: str = "jax.jit"
    problem: str = "unhashable-static"
    parameter: str = ""
    detail: str = ""


REFUSED = "module"
HANDED = "module handed over"
OLDER = "state older than the trace"
OUTER = "variable from outside"
"""Targets of what the library refuses where it stands: a module is changed, or given to a transform that takes it apart, or a variable
is set."""


@dataclass(frozen=True, slots=True)
class Leak(Event):
    """A tracer is stored where it outlives its trace. target: attribute, element, global, nonlocal, append,
    lru_cache, cached_property, callback (it reads what is traced around it), static (a field of a result), variable (of a Linen module), parameters (of its layers), `REFUSED`, `HANDED`, `OLDER`, `OUTER` (no leaks: a library refuses
    what would be one); ``what`` names the place. used: the leaked value
    is read after the trace."""

    target: str = "attribute"
    what: str = ""
    used: bool = False


@dataclass(frozen=True, slots=True)
class Effect(Event):
    """Code that does more than compute runs while JAX traces. effect: one of ``effects.toml``, or next, iteration
    (a host iterator moves on), or chosen (what the compiled program reports, in a branch under `jax.vmap`). what: the function. ``why``: the traced value that a message shows, or "". meant: the
    message itself speaks of the trace."""

    effect: str = "print"
    what: str = ""
    meant: bool = False


@dataclass(frozen=True, slots=True)
class KeyReuse(Event):
    """A PRNG key is consumed again. api: the consuming library function, "" for one of the project.

    how: again, seed (a key of the same seed was, made at another place), split (it was split before), returned (a function has drawn from it and given it back), loop (the same
    place in an earlier turn), calls (the same place in an earlier call of the function, which has the key from
    outside), many (code that runs many times, as a scan's body or under vmap, consumes a key that is the same each
    time), shared (the same, seen from the call that hands it the key), carried (the turn before has handed it on,
    used), kept (a new one is made for a state, and the old one goes on in it), constant (a constant is folded into a key
    that stays in a state), default (a field's default, which all objects made without a key have in common), streams (one call starts
    several streams with it), passes (each pass over the data makes it anew), members (a loop
    gathers what a function makes with one seed).
    """

    api: str = ""
    how: str = "again"


@dataclass(frozen=True, slots=True)
class ConstantKey(Event):
    """A key is made from a constant inside a traced function."""

    api: str = "jax.random.key"


@dataclass(frozen=True, slots=True)
class JitCreation(Event):
    """A compiled function is made again and again. repeated: loop (at every turn), call (at every call of the function
    that makes it), object (for each of those that a loop makes). retraces: it is made of a new object each time, so nothing compiled before is found again. what:
    that object: lambda, inner function, partial, transform, method, or function (always the same one). api: what
    compiles it, "" for a transform, which ``transform`` names."""

    repeated: str = "loop"
    retraces: bool = True
    what: str = "function"
    api: str = ""
    transform: str = "jax.jit"

    @property
    def short(self) -> str:
        """The transform's own name."""
        return self.transform.rpartition(".")[2]

    @property
    def made_of(self) -> str:
        """That object in words."""
        kind = {
            "transform": "transformed function",
            "partial": "partial application",
            "method": "bound method",
        }
        return f"a new {kind.get(self.what, self.what)}"


@dataclass(frozen=True, slots=True)
class UnrolledLoop(Event):
    """A Python loop in staged code. problem: unrolled (many turns, each a copy of the body), iteration (the rows of a
    traced array, one by one), builtins.sum and its like (a function of Python's takes rows one by one, traced or not). count: the number of
    turns, or what it comes from: shape, array. by_default: so many are they where nobody asks for another number."""

    problem: str = "unrolled"
    count: str = ""
    by_default: bool = False


@dataclass(frozen=True, slots=True)
class VaryingArgument(Event):
    """A compiled function is called again and again with an argument that makes it compile anew each time.

    problem: static (a static argument that changes), number (one of a few numbers that the function only computes with), fresh (a static argument that is a new object), filter (a Python
    number that equinox takes as static), filter-leaf (one in a module), shape (a traced argument whose shape or structure changes), metadata (a number beside the
    children of an object of class ``how``), held (a state with an optimiser of its own), counter (a Python number of an
    object of class ``how``, which each call leaves changed), filter-counter (one that comes back changed in a module, for Equinox). how: in words.
    """

    problem: str = "static"
    parameter: str = ""
    how: str = ""


@dataclass(frozen=True, slots=True)
class DriftingState(Event):
    """An object of class ``owner`` starts with fields of another type than those of the objects that follow.

    before, after: the types, in words.
    """

    owner: str = ""
    fields: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class Capture(Event):
    """Traced code reads a value of the world outside, which becomes a constant. kind: array, state, function, model.

    problem: written (what is written later is not seen; ``writer`` names the function, "" at module level), renewed (the
    function that made the program got it from a variable that ``writer`` renews), large (an array of ``size`` elements is
    copied into the program), kept (``writer`` keeps a program of the call that needed it first, and is given other values later).
    """

    kind: str = "state"
    problem: str = "written"
    writer: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class DroppedUpdate(Event):
    """The new value that an update makes is thrown away. method: set, add, ... of ``x.at[i]``; what: another function or
    method, ``optax.apply_updates``, "" for these. kept: the part of a state of which the old one goes on instead, "" if none.
    unread: the variable that has it and that nothing reads: what an optimiser, ``what``, says, or a new array; "" if it has no
    name. left_out: compiled code does not even make the call. averages: a collection of a module that is
    updated, and that nobody keeps. rebuilt: the class of a state that is made of the parts of the old one, ``kept``, alone."""

    method: str = "set"
    what: str = ""
    kept: str = ""
    unread: str = ""
    left_out: bool = False
    averages: str = ""
    rebuilt: str = ""


@dataclass(frozen=True, slots=True)
class SharedModule(Event):
    """A module that is changed in place gets a second name, ``behind``, beside ``other``, which says that it stays as it is. by_value: of
    two fields that share their weights only until they are trained, instead."""

    behind: str = ""
    other: str = ""
    by_value: bool = False


@dataclass(frozen=True, slots=True)
class SilentAnswer(Event):
    """A NumPy function answers wrongly, without an error, when it gets a tracer. what: numpy.array_equal."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class LateVariable(Event):
    """A variable of the environment is set that JAX has read already, or an option when arrays are there. name: of the variable, or the option. made: such an array.
    default: of this parameter, where a module asks JAX for its devices (``name``) while it is imported. first: what has started the devices."""

    name: str = ""
    made: str = ""
    first: str = ""
    default: str = ""


@dataclass(frozen=True, slots=True)
class ImportIdiom(Event):
    """An import that says something else than it seems to. name: what is bound; what: the module."""

    name: str = ""
    what: str = ""


@dataclass(frozen=True, slots=True)
class Mutation(Event):
    """Traced code changes an object that is older than the trace. target: attribute, element, method (``what`` names
    it), global, nonlocal, delete. name: of the attribute, variable or container. lost: the object is an argument of
    the traced function, so what changes is a copy that nobody sees afterwards."""

    target: str = "attribute"
    what: str = ""
    name: str = ""
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Handler(Event):
    """An exception handler inside a trace that does not do what it seems to. problem: swallows (it catches the error of tracing, at the
    line in ``also``), never (the exception it waits for depends on run-time values), quiet (``callee`` gives NaN instead), clamped (an element at the edge is given)."""

    problem: str = "swallows"
    exception: str = "Exception"
    callee: str = ""


@dataclass(frozen=True, slots=True)
class LateBinding(Event):
    """Functions that a loop makes read its variable, ``name``, when they are called. transform: which all went through, "" for branches."""

    name: str = ""
    transform: str = ""


@dataclass(frozen=True, slots=True)
class PairedElements(Event):
    """An operation sets each of ``count`` elements of one array against each of another. operation: the operator. column, row:
    what the operands are called, the one with an axis of size 1 first; "" if they have no name."""

    operation: str = ""
    count: int = 0
    column: str = ""
    row: str = ""


@dataclass(frozen=True, slots=True)
class WrongMode(Event):
    """Layers that drop numbers or measure batches run in the mode for something else. model: what it is called. how: trained
    (in a loop that leaves the mode for evaluation behind), evaluated (in one that never sets it), asked (a call under a
    derivative asks for the mode of evaluation with ``argument``, and gives ``given`` all the same), idle (it gives that, and
    the layers are off without having been asked) or kept (a call in code that is named for evaluation asks for that of
    training, and throws away what it measures) or unset (code that is named for evaluation runs layers that drop numbers and are
    trained elsewhere, in a program that never turns them off)."""

    model: str = ""
    how: str = "trained"
    argument: str = ""
    given: str = ""


@dataclass(frozen=True, slots=True)
class UnresetMetric(Event):
    """A metric is asked for its value in each turn of a loop, and never begins again. name: what it is called."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class LimitMet(Event):
    """The analysis looked at less than there is. limit: contexts (of a function: later calls are looked at together),
    calls (some are not followed), depth (of calls), size (of what a call is given), turns (of a loop), rounds (of
    functions that make transformed functions). times: how often."""

    limit: str = ""
    times: int = 0


AnyEvent = Union[
    Truth,
    Convert,
    KindCheck,
    BadIndex,
    ArrayStore,
    ApiMisuse,
    TransformMisuse,
    Leak,
    Effect,
    KeyReuse,
    ConstantKey,
    UnevenGrouping,
    UnstableSeed,
    OddOptimiser,
    JitCreation,
    VaryingArgument,
    DriftingState,
    UnrolledLoop,
    DonatedRead,
    LostDonation,
    RepeatedTransfer,
    Capture,
    DroppedUpdate,
    SharedModule,
    SilentAnswer,
    WideDtype,
    FarNumbers,
    CutNumbers,
    PaddingIndex,
    LateBinding,
    StalledAverage,
    InvertedBool,
    PathText,
    UnstableLog,
    WidenedArray,
    LateVariable,
    ImportIdiom,
    Mutation,
    Handler,
    EarlyWrite,
    ColdClock,
    TwiceNormalised,
    UnsyncedClock,
    OutOfBounds,
    NanGradient,
    PairedElements,
    ZeroGradient,
    MovingTarget,
    CrossedGradient,
    WrappedDifference,
    LostUpdate,
    LocalGradients,
    SummedMeans,
    UnsettledResult,
    WrongMode,
    UnresetMetric,
    LimitMet,
]

RAISING = frozenset({Truth, Convert, KindCheck, BadIndex, ArrayStore, ApiMisuse, TransformMisuse})
"""Events of code that JAX refuses where it stands: what follows is not reached."""
