"""`jitlint explain`: one rule, several, families; and that no page shows the marks of the tests."""

from __future__ import annotations

import json

import pytest

from jitlint.base.home import REPOSITORY
from jitlint.driver.registry import rules
from jitlint.frontends.cli import main
from jitlint.report.explain import page, shown_program
from jitlint.report.sarif import sarif
from tests.report.test_text import FINDING

pytestmark = pytest.mark.installed

Capture = pytest.CaptureFixture[str]


def _headings(capsys: Capture, *names: str) -> list[str]:
    assert main(["explain", *names]) == 0
    return [line[2:].split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("# JIT")]


def test_several_rules_are_explained_each_once(capsys: Capture) -> None:
    assert _headings(capsys, "JIT601", "traced-branch", "jit601") == ["JIT601", "JIT101"]


def test_a_family_begins_with_what_its_rules_have_in_common(capsys: Capture) -> None:
    assert _headings(capsys, "JIT6") == ["JIT6", "JIT601", "JIT602", "JIT603", "JIT604"]
    assert main(["explain", "JIT6"]) == 0
    assert "\nA key gives the same numbers each time that it is used.\n" in capsys.readouterr().out


def test_all_means_all(capsys: Capture) -> None:
    assert [name for name in _headings(capsys, "ALL") if len(name) > 4] == list(rules())


@pytest.mark.parametrize("name", ["JIT9", "JIT1234", "J1", ""])
def test_a_family_without_rules_is_an_error(name: str, capsys: Capture) -> None:
    assert main(["explain", name]) == 2
    assert f"no rule {name!r}" in capsys.readouterr().err


def test_colours_render_the_text_wherever_it_goes(capsys: Capture) -> None:
    assert main(["explain", "JIT106", "--color", "always"]) == 0
    out = capsys.readouterr().out
    assert "\033[1;94mBad\033[0m" in out
    assert "__index__()" in out and "\\_" not in out


@pytest.mark.parametrize("rule", rules().values(), ids=lambda rule: rule.code)
def test_the_bad_line_is_marked_for_readers(rule: object) -> None:
    from jitlint.base.rule import Rule

    assert isinstance(rule, Rule)
    text = "\n".join(page(rule, rule.url, rule.more))
    logs = json.loads("".join(sarif([FINDING], [], ["a"], {"JIT106": rule}, {})))
    helped = logs["runs"][0]["tool"]["driver"]["rules"][0]["help"]
    for shown in (text, helped["text"], helped["markdown"]):
        assert "expect" not in shown.replace("expected", "").replace("Unexpected", "").replace(
            "unexpected", ""
        )
        assert (f"# <- {rule.code}" in shown) == bool(rule.bad.strip())


def test_marks_of_tests_go_away() -> None:
    assert (
        shown_program("x = 1  # expect: JIT101\ny = 2  # expect-static: JIT102\n")
        == "x = 1  # <- JIT101\ny = 2"
    )


def test_messages_of_jax_are_no_markdown() -> None:
    """`__index__` would be a bold word."""
    text = "\n".join(page(rules()["JIT106"], None, None))
    assert r"The \_\_index\_\_() method" in text


def test_addresses_lead_to_our_own_pages() -> None:
    for rule in rules().values():
        assert rule.url == f"{REPOSITORY}/blob/main/docs/rules/{rule.code}.md"
