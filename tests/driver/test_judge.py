"""Events become findings in the rules' words, once per place."""

from __future__ import annotations

import msgspec

from jitlint.base.diagnostic import Confidence, Severity, Span
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.base.text import split_lines
from jitlint.driver.drafts import draft, places
from jitlint.driver.judge import verdicts
from jitlint.driver.pages import Line, Page, Places, findings
from jitlint.driver.registry import rules
from jitlint.driver.wording import quote, words
from jitlint.infer.events import Convert, Truth
from jitlint.infer.places import Event, Place, Step

TEXT = "def f(x):\n    if x {why} > 0:\n        pass\n"
SPAN = Span(2, 8, 2, 19)


def _rule() -> Rule:
    rule = Rule("JIT901", "traced-thing", Severity.WARNING, "", "", "", "", "", Advisory(""), "0.1")

    @rule.on(Truth)
    def check(event: Truth) -> Report | None:
        return Report("`{expr}` {x} because of {why}", "not {expr}") if event.form == "if" else None

    return rule


def _truth(
    at: int = 7, confidence: Confidence = Confidence.LIKELY, form: str = "if", module: str = "m"
) -> Truth:
    steps = (Step("m", 1, "`f` is jitted"), Step("elsewhere", 2, "unknown"), Step("other", 3, "calls `f`"))
    return Truth(Place(module, at, "f", steps, "jit", confidence), "parameter `x` of `f`", "S", form)


def _judge(*events: Event) -> list[tuple[int, Confidence]]:
    found = verdicts(events, {"JIT901": _rule()}, {"m": "/p/m.py"})
    return [(verdict.event.place.at, verdict.event.place.confidence) for verdict in found]


def test_a_place_is_reported_once_with_the_highest_confidence() -> None:
    assert _judge(_truth(), _truth(confidence=Confidence.CERTAIN), _truth(), _truth(8)) == [
        (7, Confidence.CERTAIN),
        (8, Confidence.LIKELY),
    ]


def test_the_first_witness_wins_among_equals() -> None:
    first, second = _truth(), Truth(Place("m", 7, "g", (), "test", Confidence.LIKELY), form="if")
    (verdict,) = verdicts([first, second], {"JIT901": _rule()}, {"m": "/p/m.py"})
    assert verdict.event is first


def test_events_that_no_rule_wants_and_other_modules_are_dropped() -> None:
    assert _judge(_truth(form="while"), Convert(_truth().place), _truth(module="context")) == []


def test_a_finding_has_the_words_the_places_and_the_path() -> None:
    paths = {"m": "/p/m.py", "other": "/p/other.py"}
    (verdict,) = verdicts([_truth()], {"JIT901": _rule()}, {"m": "/p/m.py"})
    found = draft(verdict)
    assert places([found]) == {"m": {7, 1}, "elsewhere": {2}, "other": {3}}
    spans = Places({"/p/m.py": {7: SPAN, 1: Span(1, 5, 1, 6)}, "/p/other.py": {3: Span(9, 1, 9, 4)}})
    message, help_text = words(found, split_lines(TEXT), SPAN)
    # What stands in the source is quoted as it is, even if it looks like a slot.
    assert message == "`x {why} > 0` {x} because of parameter `x` of `f`"
    assert help_text == "not x {why} > 0"
    known = msgspec.structs.replace(found, code="JIT101")
    page = Page([Line(message, help_text, 0)], [])
    ((finding,), silenced) = findings(page, [known], "/p/m.py", paths, spans)
    assert silenced == []
    assert (finding.name, finding.severity, finding.span, finding.ground) == (
        rules()["JIT101"].name,
        Severity.WARNING,
        SPAN,
        "jit",
    )
    assert [(step.path, step.span.line, step.message) for step in finding.related] == [
        ("/p/m.py", 1, "`f` is jitted"),
        ("/p/other.py", 9, "calls `f`"),
    ]


def test_quotes_are_one_short_line() -> None:
    lines = split_lines("a = f(\n    b,\n    c)\n" + "x" * 200)
    assert quote(lines, Span(1, 5, 3, 7)) == "f( b, c)"
    assert len(quote(lines, Span(4, 1, 4, 201))) == 48
    assert quote(lines, Span(40, 1, 40, 2)) == "this"


def test_what_fails_does_nothing_else() -> None:
    failing = Rule("JIT902", "failing-thing", Severity.ERROR, "", "", "", "", "", Advisory(""), "0.1")

    @failing.on(Convert)
    def check(event: Convert) -> Report | None:
        return Report("no", "yes")

    rules = {"JIT901": _rule(), "JIT902": failing}

    def judged(*events: Event) -> list[str]:
        return [verdict.rule.code for verdict in verdicts(events, rules, {"m": "/p/m.py"})]

    assert judged(_truth(), Convert(_truth().place)) == ["JIT902"]
    assert judged(_truth(), Convert(_truth(8).place)) == ["JIT901", "JIT902"]
    possible = Convert(_truth(confidence=Confidence.POSSIBLE).place)
    assert judged(_truth(), possible) == ["JIT901", "JIT902"]
