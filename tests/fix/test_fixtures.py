"""Every fixable rule: its mistakes are fixed, nothing else is changed, and once is enough."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from jitlint.base.diagnostic import Finding
from jitlint.driver.registry import rules
from jitlint.fix.cures import CURES, STUBS
from tests.fix.repairing import Outcome, repair, repaired_fixtures


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
    assert len(outcome.texts) > 30
    assert repair({path: text.encode() for path, text in outcome.texts.items()}).fixed == ()


@pytest.mark.parametrize("code", sorted(CURES))
def test_what_was_fixed_is_not_found_any_more(code: str, outcome: Outcome) -> None:
    found, left = (Counter(map(_key, each)) for each in (outcome.found, outcome.left))
    fixed = Counter(_key(offer.finding) for offer in outcome.fixed if offer.finding.code == code)
    assert fixed
    for key, number in fixed.items():
        # What was hidden behind another mistake may have been found on the way, and fixed as well.
        assert left[key] <= max(found[key] - number, 0), key


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding.path, finding.code, finding.function, finding.message


WITH_EXAMPLES = [code for code in sorted(CURES) if rules()[code].bad]


_NEEDS_MORE = {
    "JIT103": "the file imports nothing that checks values in traced code",
    "JIT112": "what it becomes is tested by a conditional expression, which is another mistake",
    "JIT502": "the function that is compiled uses a variable of the one around",
    "JIT702": "the prelude has the name that it would get",
}
"""Rules whose example cannot be fixed by itself; their fixtures and programs are."""


def test_the_example_of_each_rule_is_fixed_for_good() -> None:
    """Afterwards it has no finding of any rule, but for the next turn of a chain, and nothing more is done."""
    prelude = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"
    examples = {Path(f"{code}.py"): (prelude + rules()[code].bad).encode() for code in WITH_EXAMPLES}
    done = repair(examples)
    of_rule = {path.stem: text for path, text in done.texts.items()}
    assert set(WITH_EXAMPLES) - set(of_rule) == set(_NEEDS_MORE)
    left = [(finding.path, finding.code) for finding in done.left if Path(finding.path).stem in of_rule]
    assert left == []
    assert repair({path: text.encode() for path, text in done.texts.items()}).fixed == ()


def test_nothing_is_found_that_was_not_there(outcome: Outcome) -> None:
    """Of each rule, a file has at most as many findings as before, but for what other mistakes had hidden."""
    fixed = {(Path(offer.finding.path).absolute(), offer.finding.code) for offer in outcome.fixed}
    assert fixed
    broken = [finding for finding in outcome.left if finding.code in ("JIT001", "JIT002", "JIT003")]
    assert broken == []
