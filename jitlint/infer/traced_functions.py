"""What the interpreter says of the functions that traced code reaches (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.base.diagnostic import Confidence
from jitlint.infer.places import Step


@dataclass(frozen=True, slots=True)
class TracedParameter:
    """One parameter's status over every traced entry of a function: traced, static, mixed or unknown."""

    name: str
    status: str


@dataclass(slots=True)
class TracedFunction:
    """A function that some traced code reaches. modes: subset of S, B, L as letters; because: the witness of
    the first (strongest) entry; ground and confidence as in findings."""

    module: str
    qualname: str
    first_at: int
    name_at: int
    modes: str
    ground: str
    confidence: Confidence
    parameters: list[TracedParameter] = field(default_factory=list)
    because: tuple[Step, ...] = ()
