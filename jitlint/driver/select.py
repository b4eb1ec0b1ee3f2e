"""Which rules are on, and which findings are wanted (layer: ``driver``)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding, Severity
from jitlint.base.rule import Rule, begins
from jitlint.base.text import display_path
from jitlint.driver.registry import rules as all_rules

_CODE = re.compile(r"[A-Za-z]+\d+")


def selected_codes(settings: Settings, rules: Mapping[str, Rule]) -> frozenset[str]:
    """The codes that are on.

    Without ``select``, every rule is on that is so by default and severe enough; with it, exactly what it
    matches; ``extend-select`` adds to either. Where these and ``ignore`` both match, the more specific one
    decides, then ``ignore``. Raises ConfigError for a selector that matches no rule.
    """
    where = f"{display_path(settings.source)}: " if settings.source else ""
    check_selectors(settings.select, rules, f"{where}select")
    check_selectors(settings.extend_select, rules, f"{where}extend-select")
    check_selectors((*settings.ignore, *settings.extend_ignore), rules, f"{where}ignore")
    for _, selectors in settings.per_file_ignores:
        check_selectors(selectors, rules, f"{where}per-file-ignores")
    return frozenset(code for code, rule in rules.items() if _is_on(rule, settings))


def fixable_codes(settings: Settings, rules: Mapping[str, Rule]) -> frozenset[str]:
    """The codes whose findings may be fixed. Raises ConfigError for a selector that matches no rule."""
    where = f"{display_path(settings.source)}: " if settings.source else ""
    check_selectors(settings.fixable, rules, f"{where}fixable")
    check_selectors(settings.unfixable, rules, f"{where}unfixable")

    def may(rule: Rule) -> bool:
        wanted = max((_specificity(each, rule) for each in settings.fixable), default=0)
        unwanted = max((_specificity(each, rule) for each in settings.unfixable), default=0)
        return wanted > unwanted if settings.fixable else not unwanted

    return frozenset(code for code, rule in rules.items() if may(rule))


def wanted(
    findings: Iterable[Finding],
    settings: Settings,
    codes: frozenset[str],
    rules: Mapping[str, Rule],
    ignored_in: Callable[[str], Sequence[str]] = lambda path: (),
) -> list[Finding]:
    """The findings of selected rules that are sure and severe enough.

    ignored_in: the selectors that ``per-file-ignores`` has for a file.
    """
    least = settings.min_confidence.rank

    def is_wanted(finding: Finding) -> bool:
        if finding.code not in codes or finding.confidence.rank < least:
            return False
        if not _is_severe(finding, settings, rules):
            return False
        return not any(_specificity(selector, rules[finding.code]) for selector in ignored_in(finding.path))

    return [finding for finding in findings if is_wanted(finding)]


def _is_severe(finding: Finding, settings: Settings, rules: Mapping[str, Rule]) -> bool:
    """A rule of severity info that is on was asked for; a finding that the code itself expects was not."""
    if settings.min_severity is not None:
        return finding.severity.rank >= settings.min_severity.rank
    lowered = finding.severity is not rules[finding.code].severity
    return not (lowered and finding.severity is Severity.INFO)


def check_selectors(selectors: Sequence[str], rules: Mapping[str, Rule], where: str) -> None:
    """Raises ConfigError, naming the nearest rule, for a selector that matches nothing."""
    for selector in selectors:
        if any(_specificity(selector, rule) for rule in rules.values()):
            continue
        raise ConfigError(f"{where}: {selector!r} matches no rule; {nearest(selector, rules)}")


def strange_selectors(selectors: Iterable[str]) -> list[str]:
    """Those that match no rule, codes in capitals."""
    known = all_rules().values()
    strange = sorted(each for each in selectors if not any(_specificity(each, rule) for rule in known))
    return [each.upper() if _CODE.fullmatch(each) else each for each in strange]


def nearest(selector: str, rules: Mapping[str, Rule]) -> str:
    """What to say of a selector that matches no rule: the nearest one, if it is a slip of the pen."""
    known = [*rules, *(rule.name for rule in rules.values()), "ALL"]
    # A code that does not exist is like any other code: that says nothing.
    close = [] if _CODE.fullmatch(selector) else difflib.get_close_matches(selector, known, n=1, cutoff=0.7)
    return f"did you mean {close[0]!r}?" if close else "`jitlint rules` lists them"


def _is_on(rule: Rule, settings: Settings) -> bool:
    selectors = (*settings.select, *settings.extend_select)
    chosen = max((_specificity(selector, rule) for selector in selectors), default=0)
    ignores = (*settings.ignore, *settings.extend_ignore)
    ignored = max((_specificity(selector, rule) for selector in ignores), default=0)
    if chosen or settings.select:
        return chosen > ignored
    least = settings.min_severity if settings.min_severity is not None else Severity.WARNING
    return rule.default and rule.severity.rank >= least.rank and not ignored


def _specificity(selector: str, rule: Rule) -> int:
    """How precisely the selector means the rule; 0 if it does not."""
    text = selector.strip()
    if text.upper() == "ALL":
        return 1
    if text.lower() == rule.name:
        return 10
    return 1 + len(text) if begins(text, rule.code) else 0
