"""Lets the rules judge the events (layer: ``driver``).

Nothing is analysed here: an event that no rule wants is dropped, the words come from the rules. What becomes of a verdict
is for `jitlint.driver.drafts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jitlint.base.diagnostic import Severity
from jitlint.base.rule import Check, Report, Rule
from jitlint.infer.events import Event


@dataclass(frozen=True, slots=True)
class Verdict:
    """One report with the event that caused it."""

    rule: Rule
    event: Event
    report: Report


def verdicts(events: Iterable[Event], rules: Mapping[str, Rule], modules: Mapping[str, str]) -> list[Verdict]:
    """What the rules say, at most once per rule and place: the most confident, then the first, witness.

    modules: dotted names of the modules to report on, with their paths.
    """
    checks: defaultdict[type, list[tuple[Rule, Check]]] = defaultdict(list)
    for rule in rules.values():
        for event_type, check in rule.checks:
            checks[event_type].append((rule, check))
    best: dict[tuple[str, str, int], Verdict] = {}
    for event in events:
        if event.place.module not in modules:
            continue
        for rule, check in checks.get(type(event), ()):
            report = check(event)
            if report is None:
                continue
            key = (rule.code, event.place.module, event.place.at)
            known = best.get(key)
            if known is None or event.place.confidence.rank > known.event.place.confidence.rank:
                best[key] = Verdict(rule, event, report)
    return _one_per_expression(list(best.values()))


def _one_per_expression(found: list[Verdict]) -> list[Verdict]:
    """What JAX refuses does nothing else: of several verdicts on one expression the error holds, the surest and first."""
    errors: dict[tuple[str, int], Verdict] = {}
    for verdict in found:
        place = verdict.event.place
        known = errors.get((place.module, place.at))
        surer = known is None or place.confidence.rank > known.event.place.confidence.rank
        if surer and _is_error(verdict) and not place.expected:
            errors[place.module, place.at] = verdict
    return [v for v in found if _holds(v, errors.get((v.event.place.module, v.event.place.at)))]


def _is_error(verdict: Verdict) -> bool:
    return (verdict.report.severity or verdict.rule.severity) is Severity.ERROR


def _holds(verdict: Verdict, error: Verdict | None) -> bool:
    if error is None or error is verdict:
        return True
    return verdict.event.place.confidence.rank > error.event.place.confidence.rank
