"""Every fixable rule: its mistakes are fixed, nothing else is changed, and once is enough."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from jitlint.driver.registry import rules
from jitlint.fix.cures import CURES, STUBS
from tests.fix.repairing import PROGRAMS, Outcome, repair, repaired_fixtures


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return repaired_fixtures()


def test_rules_say_what_their_fixes_do() -> None:
    assert {code for code, rule in rules().items() if rule.remedy is not None} == {*CURES, *STUBS}
    assert {code for code in rules() if (remedy := rules()[code].remedy) and remedy.stub} == set(STUBS)
    assert len(CURES) >= 30


@pytest.mark.parametrize("code", sorted(CURES))
def test_each_rule_is_fixed_somewhere(code: str, outcome: Outcome) -> None:
    assert any(offer.finding.code == code for offer in outcome.fixed)


@pytest.mark.parametrize("code", sorted(CURES))
def test_no_fix_is_safer_than_its_rule_says(code: str, outcome: Outcome) -> None:
    remedy = rules()[code].remedy
    assert remedy is not None
    found = {offer.patch.safety for offer in outcome.fixed if offer.finding.code == code}
    assert remedy.safety in found if remedy.safety.value == "safe" else found == {remedy.safety}


def test_what_was_fixed_parses_and_keeps_its_comments(outcome: Outcome) -> None:
    assert outcome.texts
    for path, text in outcome.texts.items():
        ast.parse(text)
        gone = [each for each in _comments(outcome.before[path]) if each not in _comments(text)]
        assert not [each for each in gone if "noqa: JIT101" not in each], path


def _comments(text: str) -> list[str]:
    return [match.rstrip() for match in re.findall(r"#.*", text)]


def test_a_second_time_changes_nothing(outcome: Outcome) -> None:
    ours = {path: text.encode() for path, text in outcome.texts.items() if path.parent == PROGRAMS}
    assert len(ours) > 2
    assert repair(ours).fixed == ()


def test_nothing_is_found_that_was_not_there(outcome: Outcome) -> None:
    """Of each rule, a file has at most as many findings as before, but for what other mistakes had hidden."""
    fixed = {(Path(offer.finding.path).absolute(), offer.finding.code) for offer in outcome.fixed}
    assert fixed
    broken = [finding for finding in outcome.left if finding.code in ("JIT001", "JIT002", "JIT003")]
    assert broken == []
