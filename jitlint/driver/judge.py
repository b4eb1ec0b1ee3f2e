"""Lets the rules judge the events (layer: ``driver``).

Nothing is analysed here: an event that no rule wants is dropped, the words come from the rules. What becomes of a verdict
is for `jitlint.driver.drafts`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jitlint.base.diagnostic import Severity
from jitlint.base.result import AnalysisError
from jitlint.base.rule import Check, Report, Rule
from jitlint.infer.places import Event


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
            report = _asked(rule, check, event)
            if report is None:
                continue
            key = (rule.code, event.place.module, event.place.at)
            known = best.get(key)
            if known is None or event.place.confidence.rank > known.event.place.confidence.rank:
                best[key] = Verdict(rule, event, report)
    return _one_per_expression(list(best.values()))


def _asked(rule: Rule, check: Check, event: Event) -> Report | None:
    """What a check says. Raises AnalysisError, naming the rule: it may be somebody else's."""
    try:
        return check(event)
    except Exception as error:
        raise AnalysisError(f"rule {rule.code} failed: {type(error).__name__}: {error}") from error


def _one_per_expression(found: list[Verdict]) -> list[Verdict]:
    """What JAX refuses does nothing else: of several verdicts on one expression the error holds, the surest and first.

    Rules of other packages neither hide ours nor are hidden by them.
    """
    errors: dict[tuple[str, str, int], Verdict] = {}
    for verdict in found:
        key, place = _spot(verdict), verdict.event.place
        known = errors.get(key)
        surer = known is None or place.confidence.rank > known.event.place.confidence.rank
        if surer and _is_error(verdict) and not place.expected:
            errors[key] = verdict
    return [verdict for verdict in found if _holds(verdict, errors.get(_spot(verdict)))]


def _spot(verdict: Verdict) -> tuple[str, str, int]:
    """Whose rule it is, and the expression."""
    return (verdict.rule.code.rstrip("0123456789"), verdict.event.place.module, verdict.event.place.at)


def _is_error(verdict: Verdict) -> bool:
    return (verdict.report.severity or verdict.rule.severity) is Severity.ERROR


def _holds(verdict: Verdict, error: Verdict | None) -> bool:
    if error is None or error is verdict:
        return True
    return verdict.event.place.confidence.rank > error.event.place.confidence.rank
