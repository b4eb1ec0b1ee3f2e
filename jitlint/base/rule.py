"""The shape of a rule: its identity card and its checks (layer: ``base``).

A rule is one file under `jitlint.rules` with a module-level ``RULE``. Its checks consume the typed events
that the interpreter records; they never walk the code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Outcome

E = TypeVar("E")


@dataclass(frozen=True, slots=True)
class Report:
    """What a check answers: the sentence and the help.

    Both are templates: ``{expr}`` becomes the (shortened) source text of the event's location,
    ``{why}`` the reason why the value is traced ("parameter `x` of `f`"). severity: when it is not the rule's.
    """

    message: str
    help: str = ""
    severity: Severity | None = None


Check = Callable[[Any], Union[Report, None]]


@dataclass(slots=True)
class Rule:
    """A rule's identity card. Everything that people read about the rule is generated from it.

    code: JIT and three digits; never reused. name: kebab-case, reads well after "allow ...".
    summary: one line. explanation: what happens and why (Markdown paragraphs). instead: what to write.
    bad, good: small programs; the fixed prelude ``import jax``, ``import jax.numpy as jnp`` and
    ``import numpy as np`` precedes them, ``bad`` has an ``# expect: CODE`` mark on the line to flag.
    outcome: what real JAX does with ``bad``. since: the version that introduced the rule.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    explanation: str
    instead: str
    bad: str
    good: str
    outcome: Outcome
    since: str
    reference: str = ""
    default: bool = True
    checks: list[tuple[type, Check]] = field(default_factory=list)

    def on(
        self, event_type: type[E]
    ) -> Callable[[Callable[[E], Report | None]], Callable[[E], Report | None]]:
        """Register the decorated function as this rule's check for one event type."""

        def register(check: Callable[[E], Report | None]) -> Callable[[E], Report | None]:
            self.checks.append((event_type, check))
            return check

        return register
