"""What a rule predicts that real JAX does: data that the tests and the confirm engine check (layer: ``base``)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, Union


@dataclass(frozen=True, slots=True)
class Raises:
    """Tracing raises one of these classes (full dotted names, most specific first) at the flagged line.

    ``later`` says that JAX raises not at the flagged line itself but when the marked value is used or the
    jitted function is called afterwards (a leaked tracer, a wrong static specification). ``spread``: several places
    bring it about together (a loop and its body, a donation and a read), so that one of them ran to its end proves nothing.
    ``traced``: a variable in the flagged expression holds an array of JAX's, which is asked where the class does not tell.
    ``says``: what the message says then, as a regular expression. JAX's own classes say enough; Python raises all others
    for a hundred reasons.
    """

    classes: tuple[str, ...]
    later: bool = False
    spread: bool = False
    traced: bool = False
    says: str = ""

    def is_meant(self, kind: str, message: str) -> bool:
        """Whether an exception is the predicted one, by its class and by what it says."""
        if kind not in self.classes:
            return False
        if kind.startswith("jax.errors.") or not self.says:
            return True
        return re.search(self.says, message, re.DOTALL) is not None

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        where = "later, when the value is used" if self.later else "at the flagged line"
        return f"Raises {' or '.join(f'`{name}`' for name in self.classes)} {where}."


@dataclass(frozen=True, slots=True)
class RunsOnce:
    """The flagged line runs while JAX traces, not at every call.

    Shown by running the same calls with and without `jax.disable_jit`: the line runs fewer times with jit.
    """

    words: ClassVar[str] = (
        "The flagged line runs while JAX traces: once for many calls instead of at each of them."
    )


@dataclass(frozen=True, slots=True)
class BakesConstant:
    """A value was fixed at trace time, so the answer under a transform is another one.

    Shown by running the same calls with and without `jax.disable_jit`: the results differ.
    """

    words: ClassVar[str] = (
        "The value is fixed when JAX traces: the compiled function goes on answering with the old one."
    )


@dataclass(frozen=True, slots=True)
class Retraces:
    """The flagged call makes JAX trace (and compile) the same code again although nothing new was asked for.

    Shown by counting traces within one run. why: ``again`` for the same arguments, or for ever new values of ``static``
    arguments, or for ever new ``shapes``, or for ever new ``metadata``, which belong to the structure of a pytree.
    """

    why: str = "again"

    words: ClassVar[str] = "JAX traces and compiles the same code again and again."


@dataclass(frozen=True, slots=True)
class Retypes:
    """The object that the flagged call makes has fields of another dtype, or weak type, than the one that follows.

    Shown by two traces of one function that differ in nothing but the types of fields of such objects. called: it is not made by
    the flagged call, but is an argument of it, and is set to what comes back.
    """

    called: bool = False

    words: ClassVar[str] = (
        "A compiled function is traced for the types that the object starts with, and again for those that follow."
    )


@dataclass(frozen=True, slots=True)
class JitsAgain:
    """The same function is jitted again and again: JAX finds its program each time, by the slow way.

    Shown by counting how often it is jitted, and how often traced.
    """

    words: ClassVar[str] = (
        "JAX finds the program of the same function again, but each call takes the slow way."
    )


@dataclass(frozen=True, slots=True)
class NeverHandles:
    """Nothing is raised for traced values where the same code raises for Python's own.

    Shown by running the same calls with plain Python values: these come to the handler.
    """

    words: ClassVar[str] = "Compiled code raises nothing: the handler never runs."


@dataclass(frozen=True, slots=True)
class Unrolls:
    """The flagged loop is copied into the program once per turn.

    Shown by counting the equations that each turn adds to the program.
    """

    words: ClassVar[str] = "The jaxpr holds one copy of the loop body per turn."


@dataclass(frozen=True, slots=True)
class RepeatsDraw:
    """The flagged line consumes a key whose data was consumed before: the same random bits come again.

    Shown by comparing the key data of all draws.
    """

    words: ClassVar[str] = "The same key data is consumed twice: the same random bits come again."


@dataclass(frozen=True, slots=True)
class IgnoresBounds:
    """JAX answers where NumPy raises IndexError. Shown by asking both."""

    words: ClassVar[str] = "JAX clamps, drops or fills where NumPy raises IndexError."


@dataclass(frozen=True, slots=True)
class Narrows:
    """JAX warns at the flagged line that it gives fewer bits than were asked for. Shown by hearing the warning."""

    words: ClassVar[str] = "JAX warns, and gives numbers of half as many bits."


@dataclass(frozen=True, slots=True)
class Widens:
    """A number of NumPy turns an array of 16-bit floats into one of more bits. Shown by asking JAX's promotion."""

    words: ClassVar[str] = "JAX promotes the array, and gives numbers of twice as many bits."


@dataclass(frozen=True, slots=True)
class Cuts:
    """Numbers with a fraction become integers. Shown by JAX's own warning of an update, and by what fills an array."""

    words: ClassVar[str] = "JAX cuts the fraction off, and of an update it warns that this will be an error."


@dataclass(frozen=True, slots=True)
class IgnoresVariable:
    """The option that the flagged variable stands for stays as it was. Shown by asking `jax.config`."""

    words: ClassVar[str] = "JAX has read the variable already: its option stays as it was."


@dataclass(frozen=True, slots=True)
class DropsResult:
    """The flagged expression computes a new value that nobody reads. Shown by the unchanged array."""

    words: ClassVar[str] = "The array stays as it was; the new one is thrown away."


@dataclass(frozen=True, slots=True)
class LeavesOut:
    """Compiled code does not make the flagged call of a function of the host.

    Shown by counting how often that function runs.
    """

    words: ClassVar[str] = "The function of the host never runs: compiled code leaves the call out."


@dataclass(frozen=True, slots=True)
class MakesNan:
    """The derivative of the flagged operation is NaN for some arguments, although no value is.

    Shown by running the same calls with `jax.debug_nans`, where the derivative of the operation raises.
    """

    words: ClassVar[str] = "The gradient is NaN where the value is finite."


@dataclass(frozen=True, slots=True)
class StopsSlope:
    """A derivative ends at the flagged operation, and a gradient is zero wherever it is taken.

    Shown by listening to JAX's derivatives, and by taking the gradient at other points too.
    """

    words: ClassVar[str] = "The derivative ends here, and a gradient is zero."


@dataclass(frozen=True, slots=True)
class MakesPairs:
    """The flagged operation sets each element of one array against each element of another of as many.

    Shown by JAX's own warning about arrays of unlike ranks.
    """

    words: ClassVar[str] = "Shapes `(n, 1)` and `(n,)` are broadcast to `(n, n)`."


@dataclass(frozen=True, slots=True)
class StaysLocal:
    """Gradients reach the results of a function that is mapped over devices without a collective, what came with them does not.

    Shown by following the tracers that the derivative gives to the collectives that are called.
    """

    words: ClassVar[str] = "Each device goes on with the gradients of its own share of the batch."


@dataclass(frozen=True, slots=True)
class RunsInMode:
    """Layers that depend on it run in the wrong mode: under a derivative in that for evaluation, or from the flagged line in
    that for training.

    how: ``trained`` or ``evaluated``. Shown by listening to the layers of the libraries.
    """

    how: str

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        if self.how == "trained":
            return "Layers that drop numbers or measure batches do not do so while derivatives are taken."
        return "Layers that drop numbers or measure batches do so where a model is evaluated."


@dataclass(frozen=True, slots=True)
class Unsynced:
    """The clock is read at the flagged line while the work it should measure may still be running.

    Shown by the absence of any wait (`block_until_ready` or a host conversion) between the readings.
    """

    words: ClassVar[str] = "Nothing waits for the result before the clock is read again."


@dataclass(frozen=True, slots=True)
class Advisory:
    """Nothing observable; ``why`` says why the rule exists all the same."""

    why: str

    @property
    def words(self) -> str:
        """The outcome as a sentence."""
        return f"{self.why[:1].upper()}{self.why[1:]}."


Outcome = Union[
    Raises,
    RunsOnce,
    BakesConstant,
    Retraces,
    Retypes,
    JitsAgain,
    NeverHandles,
    Unrolls,
    RepeatsDraw,
    IgnoresBounds,
    Narrows,
    Widens,
    Cuts,
    IgnoresVariable,
    DropsResult,
    LeavesOut,
    MakesNan,
    StopsSlope,
    MakesPairs,
    StaysLocal,
    RunsInMode,
    Unsynced,
    Advisory,
]
