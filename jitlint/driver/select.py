"""Which rules are on, and which findings are wanted (layer: ``driver``)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding, Severity
from jitlint.base.rule import Rule

_PREFIX = re.compile(r"JIT\d{0,3}")


def selected_codes(settings: Settings, rules: Mapping[str, Rule]) -> frozenset[str]:
    """The codes that are on.

    Without ``select``, every rule is on that is so by default and not of severity info; with it, exactly
    what it matches. Where ``select`` and ``ignore`` both match, the more specific one decides, then
    ``ignore``. Raises ConfigError for a selector that matches no rule.
    """
    check_selectors(settings.select, rules, "select")
    check_selectors(settings.ignore, rules, "ignore")
    return frozenset(code for code, rule in rules.items() if _is_on(rule, settings))


def wanted(findings: Iterable[Finding], settings: Settings, codes: frozenset[str]) -> list[Finding]:
    """The findings of selected rules with enough confidence."""
    least = settings.min_confidence.rank
    return [f for f in findings if f.code in codes and f.confidence.rank >= least]


def check_selectors(selectors: Sequence[str], rules: Mapping[str, Rule], where: str) -> None:
    """Raises ConfigError, naming the nearest rule, for a selector that matches nothing."""
    for selector in selectors:
        if any(_specificity(selector, rule) for rule in rules.values()):
            continue
        known = [*rules, *(rule.name for rule in rules.values()), "ALL"]
        close = difflib.get_close_matches(selector, known, n=1, cutoff=0.6)
        hint = f"; did you mean {close[0]!r}?" if close else "; `jitlint rules` lists them"
        raise ConfigError(f"{where}: {selector!r} matches no rule{hint}")


def _is_on(rule: Rule, settings: Settings) -> bool:
    chosen = max((_specificity(selector, rule) for selector in settings.select), default=0)
    ignored = max((_specificity(selector, rule) for selector in settings.ignore), default=0)
    if not settings.select:
        return rule.default and rule.severity is not Severity.INFO and not ignored
    return chosen > ignored


def _specificity(selector: str, rule: Rule) -> int:
    """How precisely the selector means the rule; 0 if it does not."""
    text = selector.strip()
    if text.upper() == "ALL":
        return 1
    if text.lower() == rule.name:
        return 10
    if _PREFIX.fullmatch(text.upper()) and rule.code.startswith(text.upper()):
        return 1 + len(text)
    return 0
