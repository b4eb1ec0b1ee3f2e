"""Every rule's identity card is complete, and no two rules share a code or a name."""

from __future__ import annotations

import re

import pytest

from jitlint.base.outcome import Advisory
from jitlint.base.rule import Rule
from tests.rules.catalog import MODULES, RULES

BY_CODE = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)


@pytest.mark.parametrize(("module_name", "module"), MODULES.items(), ids=list(MODULES))
def test_module_is_called_after_its_rule(module_name: str, module: object) -> None:
    rule: Rule = module.RULE  # type: ignore[attr-defined]
    assert module_name == f"{rule.code.lower()}_{rule.name.replace('-', '_')}"
    assert str(module.__doc__).startswith(f"{rule.code}: ")


@BY_CODE
def test_code_name_and_version_have_their_form(rule: Rule) -> None:
    assert re.fullmatch(r"JIT\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert re.fullmatch(r"\d+\.\d+", rule.since)


@BY_CODE
def test_summary_is_one_short_line_without_full_stop(rule: Rule) -> None:
    assert "\n" not in rule.summary
    assert 10 < len(rule.summary) <= 80
    assert not rule.summary.endswith(".")


@BY_CODE
def test_prose_is_written_out(rule: Rule) -> None:
    assert len(rule.explanation.split("\n\n")) >= 2
    assert rule.instead.strip().endswith((".", "```"))
    assert rule.explanation.count("`") % 2 == 0
    assert rule.instead.count("```") % 2 == 0


@BY_CODE
def test_rule_has_examples_or_says_why_nothing_can_be_seen(rule: Rule) -> None:
    if isinstance(rule.outcome, Advisory):
        assert rule.outcome.why
    else:
        assert rule.bad and rule.good


@BY_CODE
def test_only_the_tool_itself_reports_rules_without_checks(rule: Rule) -> None:
    assert rule.checks or rule.code.startswith("JIT0")
