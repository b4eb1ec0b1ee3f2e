"""The shape of a rule: its identity card and its checks (layer: ``base``).

A rule is one file under `jitlint.rules` with a module-level ``RULE``. Its checks consume the typed events
that the interpreter records; they never walk the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, Union

from jitlint.base.diagnostic import TRACED, Safety, Severity
from jitlint.base.home import rule_page
from jitlint.base.outcome import Outcome, Raises

E = TypeVar("E")

_ERRORS_PAGE = "https://docs.jax.dev/en/latest/errors.html"


_BEGINNING = re.compile(r"([A-Za-z]+)(\d{0,3})")


def begins(selector: str, code: str) -> bool:
    """Whether a selector is the beginning of a code: all of its letters, and none to three of its digits."""
    found = _BEGINNING.fullmatch(selector)
    if found is None or found[1].upper() != code.rstrip("0123456789"):
        return False
    return code.startswith(found[0].upper())


@dataclass(frozen=True, slots=True)
class Report:
    """What a check answers: the sentence and the help.

    Both are templates: ``{expr}`` becomes the (shortened) source text of the event's location,
    ``{why}`` the reason why the value is traced ("parameter `x` of `f`"). severity: when it is not the rule's.
    case: which of the rule's ``cases`` this is, if JAX does something else than the rule's outcome here. static: under
    which condition the value could be static instead, which is said only of an argument of a compiled function.
    subject: what ``--statistics`` counts findings by, besides the rule.
    ``{store:set}`` becomes the flagged assignment, written with `.at[].set`.
    """

    message: str
    help: str = ""
    severity: Severity | None = None
    case: str = ""
    static: str = ""
    subject: str = ""


Check = Callable[[Any], Union[Report, None]]


@dataclass(frozen=True, slots=True)
class Remedy:
    """What `--fix` can do about a rule's findings: how safe that is at best, and one sentence on what and when.
    stub: something is left to be filled in, so that it is only shown."""

    safety: Safety
    words: str
    stub: bool = False


@dataclass(slots=True)
class Rule:
    """A rule's identity card. Everything that people read about the rule is generated from it.

    code: JIT and three digits; never reused. name: kebab-case, reads well after "allow ...".
    summary: one line. explanation: what happens and why (Markdown paragraphs). instead: what to write.
    bad, good: small programs; the fixed prelude ``import jax``, ``import jax.numpy as jnp`` and
    ``import numpy as np`` precedes them, ``bad`` has an ``# expect: CODE`` mark on the line to flag.
    outcome: what real JAX does with ``bad``. cases: other outcomes, by the ``case`` of a report. since: the version that introduced the rule.
    unused: it is about values that nobody uses, so that it has nothing to say where people see the value, behind a cell.
    remedy: what a fix does, if there is one. heading: how the steps that lead to a finding are called.
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
    remedy: Remedy | None = None
    unused: bool = False
    heading: str = TRACED
    cases: Mapping[str, Outcome] = field(default_factory=dict)
    checks: list[tuple[type, Check]] = field(default_factory=list)

    def outcome_of(self, case: str) -> Outcome:
        """What real JAX does where a report says so: the outcome of its case."""
        return self.cases.get(case, self.outcome)

    @property
    def url(self) -> str | None:
        """The page about the rule: jitlint's own, or the one that a rule of another package names."""
        return rule_page(self.code) if self.code.startswith("JIT") else self.reference or None

    @property
    def more(self) -> str | None:
        """Where others say more: the rule's reference, or JAX's page about the exception."""
        if self.reference:
            return self.reference
        if isinstance(self.outcome, Raises):
            for name in self.outcome.classes:
                if name.startswith("jax.errors."):
                    return f"{_ERRORS_PAGE}#{name}"
        return None

    @property
    def outcome_words(self) -> str:
        """What real JAX does, as sentences."""
        others = [f"Or, where the message says so: {other.words}" for other in self.cases.values()]
        return " ".join([self.outcome.words, *others])

    def on(
        self, event_type: type[E]
    ) -> Callable[[Callable[[E], Report | None]], Callable[[E], Report | None]]:
        """Register the decorated function as this rule's check for one event type."""

        def register(check: Callable[[E], Report | None]) -> Callable[[E], Report | None]:
            self.checks.append((event_type, check))
            return check

        return register
