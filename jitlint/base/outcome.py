"""What a rule predicts that real JAX does: data that the tests and the confirm engine check (layer: ``base``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True, slots=True)
class Raises:
    """Tracing raises one of these classes (full dotted names, most specific first) at the flagged line.

    ``later`` says that JAX raises not at the flagged line itself but when the marked value is used or the
    jitted function is called afterwards (a leaked tracer, a wrong static specification).
    """

    classes: tuple[str, ...]
    later: bool = False


@dataclass(frozen=True, slots=True)
class RunsOnce:
    """The flagged line runs while JAX traces, not at every call.

    Shown by running the same calls with and without `jax.disable_jit`: the line runs fewer times with jit.
    """


@dataclass(frozen=True, slots=True)
class BakesConstant:
    """A value was fixed at trace time, so the answer under a transform is another one.

    Shown by running the same calls with and without `jax.disable_jit`: the results differ.
    """


@dataclass(frozen=True, slots=True)
class Retraces:
    """The flagged call makes JAX trace (and compile) the same code again although nothing new was asked for.

    Shown by counting traces over several calls.
    """


@dataclass(frozen=True, slots=True)
class Unrolls:
    """The flagged loop is copied into the program once per turn.

    Shown by counting the equations of the jaxpr against the trip count.
    """


@dataclass(frozen=True, slots=True)
class RepeatsDraw:
    """The flagged line consumes a key whose data was consumed before: the same random bits come again.

    Shown by comparing the key data of all draws.
    """


@dataclass(frozen=True, slots=True)
class IgnoresBounds:
    """JAX answers where NumPy raises IndexError. Shown by asking both."""


@dataclass(frozen=True, slots=True)
class DropsResult:
    """The flagged expression computes a new value that nobody reads. Shown by the unchanged array."""


@dataclass(frozen=True, slots=True)
class Unsynced:
    """The clock is read at the flagged line while the work it should measure may still be running.

    Shown by the absence of any wait (`block_until_ready` or a host conversion) between the readings.
    """


@dataclass(frozen=True, slots=True)
class Advisory:
    """Nothing observable; ``why`` says why the rule exists all the same."""

    why: str


Outcome = Union[
    Raises,
    RunsOnce,
    BakesConstant,
    Retraces,
    Unrolls,
    RepeatsDraw,
    IgnoresBounds,
    DropsResult,
    Unsynced,
    Advisory,
]
