"""Findings without positions: what a rule says of an event, as it is remembered (layer: ``driver``).

A draft names its places by module and origin, so it holds as long as the modules say the same, wherever their lines stand.
What it becomes in a text (a span, a quotation, silence by a comment) is for `jitlint.driver.pages`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Union

import msgspec

from jitlint.base.diagnostic import Confidence, Severity

if TYPE_CHECKING:
    from jitlint.driver.judge import Verdict
    from jitlint.infer.traced_functions import TracedFunction
from jitlint.infer.places import Event, Step


class Told(msgspec.Struct, frozen=True, array_like=True):
    """One step of a story: `jitlint.infer.events.Step`, as it is remembered."""

    module: str
    at: int
    message: str
    because: str


class Draft(msgspec.Struct, frozen=True, array_like=True):
    """A finding to be. message, help, static: templates, as in `jitlint.base.rule.Report`; facts: the
    event's own words; the rest as in the event."""

    code: str
    severity: Severity
    confidence: Confidence
    module: str
    at: int
    function: str
    ground: str
    traced: str
    kind: str
    why: str
    message: str
    help: str
    case: str
    static: str
    subject: str
    facts: tuple[tuple[str, str], ...]
    steps: tuple[Told, ...]
    also: tuple[Told, ...]

    @property
    def told(self) -> tuple[Told, ...]:
        """All that is shown beside the finding."""
        return (*self.steps, *self.also)


class TracedDraft(msgspec.Struct, frozen=True, array_like=True):
    """A function that traced code reaches. modes: letters."""

    module: str
    qualname: str
    first_at: int
    modes: str
    parameters: tuple[tuple[str, str], ...]
    because: tuple[Told, ...]
    ground: str
    confidence: Confidence


class Linked(msgspec.Struct, frozen=True):
    """What the analysis found in one unit, in all its modules.

    drafts: by module. unmatched: patterns that no function of the unit is called. The rest as in
    `jitlint.link.program.Analysis`.
    """

    drafts: dict[str, list[Draft]]
    traced: list[TracedDraft]
    jit_sites: int
    jit_sites_resolved: int
    notes: dict[str, int]
    unmatched: list[str]
    failures: dict[str, str]


def draft(verdict: Verdict) -> Draft:
    """What there is to remember of a verdict."""
    event, report, rule = verdict.event, verdict.report, verdict.rule
    place = event.place
    severity = Severity.INFO if place.expected else report.severity or rule.severity
    return Draft(
        rule.code,
        severity,
        place.confidence,
        place.module,
        place.at,
        place.function,
        place.ground,
        place.traced,
        place.kind,
        event.why,
        report.message,
        report.help,
        report.case,
        report.static,
        report.subject,
        _facts(event),
        told(place.steps),
        told(event.also),
    )


def _facts(event: Event) -> tuple[tuple[str, str], ...]:
    """What an event says in words of its own, for those who make fixes."""
    found = [
        (each.name, value) for each in fields(event) if isinstance(value := getattr(event, each.name), str)
    ]
    if event.place.differentiated:
        found.append(("differentiated", "yes"))
    return tuple((name, value) for name, value in found if value)


def traced_draft(function: TracedFunction) -> TracedDraft:
    """What there is to remember of a traced function."""
    return TracedDraft(
        function.module,
        function.qualname,
        function.first_at,
        function.modes,
        tuple((parameter.name, parameter.status) for parameter in function.parameters),
        told(function.because),
        function.ground,
        function.confidence,
    )


def told(steps: Iterable[Step]) -> tuple[Told, ...]:
    """Steps as they are remembered."""
    return tuple(Told(step.module, step.at, step.message, step.because) for step in steps)


def places(drafts: Iterable[Union[Draft, TracedDraft]]) -> dict[str, set[int]]:
    """Module to the origins whose positions the drafts need."""
    wanted: dict[str, set[int]] = {}
    for each in drafts:
        at, steps = (each.at, each.told) if isinstance(each, Draft) else (each.first_at, each.because)
        wanted.setdefault(each.module, set()).add(at)
        for step in steps:
            wanted.setdefault(step.module, set()).add(step.at)
    return wanted
