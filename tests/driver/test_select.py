"""Selectors: the more specific one decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Rule
from jitlint.driver.registry import find_rule, rules
from jitlint.driver.select import selected_codes


def _rule(code: str, name: str, severity: Severity = Severity.ERROR, default: bool = True) -> Rule:
    return Rule(code, name, severity, "", "", "", "", "", Advisory(""), "0.1", default=default)


RULES = {
    rule.code: rule
    for rule in (
        _rule("JIT101", "traced-branch"),
        _rule("JIT102", "traced-while"),
        _rule("JIT207", "array-iteration", Severity.INFO),
        _rule("JIT901", "opinion", default=False),
    )
}


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ("", "", "JIT101 JIT102"),
        ("JIT1", "", "JIT101 JIT102"),
        ("jit101", "", "JIT101"),
        ("traced-while", "", "JIT102"),
        ("ALL", "", "JIT101 JIT102 JIT207 JIT901"),
        ("JIT207", "", "JIT207"),
        ("", "JIT1", ""),
        ("", "traced-branch", "JIT102"),
        ("ALL", "JIT1", "JIT207 JIT901"),
        ("JIT101", "JIT1", "JIT101"),
        ("JIT1", "JIT101", "JIT102"),
        ("JIT1", "JIT1", ""),
        ("JIT", "ALL", "JIT101 JIT102 JIT207 JIT901"),
    ],
)
def test_selected_codes(select: str, ignore: str, codes: str) -> None:
    settings = replace(Settings(), select=tuple(select.split()), ignore=tuple(ignore.split()))
    assert selected_codes(settings, RULES) == set(codes.split())


@pytest.mark.parametrize("selector", ["JIT9999", "traced-brunch", "E501", ""])
def test_a_selector_that_matches_nothing_is_a_mistake(selector: str) -> None:
    with pytest.raises(ConfigError, match="matches no rule"):
        selected_codes(replace(Settings(), ignore=(selector,)), RULES)


def test_rules_are_found_by_code_and_by_name() -> None:
    assert find_rule("jit101") is rules()["JIT101"] is find_rule("Traced-Branch")
    assert find_rule("JIT1") is None


def test_every_error_rule_has_a_page() -> None:
    assert [code for code, rule in rules().items() if not rule.more and rule.severity is Severity.ERROR] == []
