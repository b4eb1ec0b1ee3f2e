"""Lets the rules judge the events, and turns their reports into findings (layer: ``driver``).

Nothing is analysed here: an event that no rule wants is dropped, the words come from the rules, the places
from `jitlint.driver.positions`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from jitlint.base.diagnostic import Finding, Related, Severity
from jitlint.base.rule import Check, Report, Rule
from jitlint.base.text import split_lines
from jitlint.driver.positions import Positions
from jitlint.driver.wording import words
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


def origins(found: Iterable[Verdict], paths: Mapping[str, str]) -> dict[str, set[int]]:
    """Path to the origin numbers whose spans the findings need."""
    wanted: defaultdict[str, set[int]] = defaultdict(set)
    for verdict in found:
        place = verdict.event.place
        told = (*place.steps, *verdict.event.also)
        for module, at in [(place.module, place.at), *((step.module, step.at) for step in told)]:
            if module in paths:
                wanted[paths[module]].add(at)
    return dict(wanted)


def findings(
    found: Iterable[Verdict],
    paths: Mapping[str, str],
    positions: Positions,
    text_of: Callable[[str], str | None],
) -> list[Finding]:
    """Findings with absolute paths, sorted. ``text_of`` gives the text of a file, to quote from."""
    lines: dict[str, list[str]] = {}
    result: list[Finding] = []
    for verdict in found:
        place = verdict.event.place
        path = paths[place.module]
        span = positions.span(path, place.at)
        if path not in lines:
            lines[path] = split_lines(text_of(path) or "")
        message, help_text = words(verdict.report, verdict.event, lines[path], span)
        related = tuple(
            Related(
                paths[step.module], positions.span(paths[step.module], step.at), step.message, step.because
            )
            for step in (*place.steps, *verdict.event.also)
            if step.module in paths
        )
        result.append(
            Finding(
                code=verdict.rule.code,
                name=verdict.rule.name,
                severity=Severity.INFO
                if place.expected
                else verdict.report.severity or verdict.rule.severity,
                confidence=place.confidence,
                message=message,
                path=path,
                span=span,
                help=help_text,
                ground=place.ground,
                function=place.function,
                related=related,
                case=verdict.report.case,
                traced=place.traced,
                kind=place.kind,
                subject=verdict.report.subject,
            )
        )
    return sorted(result, key=lambda finding: finding.sort_key)
