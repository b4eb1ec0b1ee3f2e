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
class Advisory:
    """Nothing observable; ``why`` says why the rule exists all the same."""

    why: str


Outcome = Union[Raises, Advisory]
