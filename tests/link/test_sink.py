"""Events are only added; conditions on them are decided once, in the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import AnyEvent, Truth, UnrolledLoop
from jitlint.infer.places import Place
from jitlint.link.engine.sink import Found, Key, Sink
from tests.link.sources import run


def truth(why: str, confidence: Confidence = Confidence.CERTAIN, expected: bool = False) -> Truth:
    return Truth(Place("a", 1, "f", (), "jit", confidence, expected), why)


class If:
    """A condition that is known from the start; it remembers what it was shown."""

    def __init__(self, answer: bool) -> None:
        self.answer = answer
        self.shown: list[Found] = []

    def holds(self, found: Found) -> bool:
        self.shown.append(dict(found))
        return self.answer


class Named:
    """A trial that keeps the events that have one of these reasons, if it found at least so many."""

    def __init__(self, *reasons: str, least: int = 0) -> None:
        self.reasons = reasons
        self.least = least

    def keeps(self, found: Found) -> Iterator[tuple[Key, AnyEvent]]:
        if len(found) >= self.least:
            yield from [(key, event) for key, event in found.items() if event.why in self.reasons]


def whys(sink: Sink) -> list[str]:
    return [event.why for event in sink.judge()]


def test_the_strongest_witness_of_one_thing_is_kept_and_the_first_of_equals() -> None:
    sink = Sink()
    sink.add((1,), truth("weak", Confidence.LIKELY))
    sink.add((1,), truth("first"))
    sink.add((1,), truth("second"))
    sink.add((1,), truth("expected", expected=True))
    sink.add((2,), truth("another thing", Confidence.POSSIBLE))
    assert whys(sink) == ["first", "another thing"]


@pytest.mark.parametrize("answer", [True, False])
def test_a_condition_is_shown_what_holds_without_one_and_decides_in_the_end(answer: bool) -> None:
    sink, condition = Sink(), If(answer)
    sink.add((1,), truth("depends"), (condition,))
    sink.add((2,), truth("sure"))
    assert not condition.shown
    assert sorted(whys(sink)) == (["depends", "sure"] if answer else ["sure"])
    assert [list(found) for found in condition.shown] == [[(2,)]]


def test_all_conditions_must_hold() -> None:
    sink = Sink()
    sink.add((1,), truth("depends"), (If(True), If(False)))
    assert whys(sink) == []


def test_a_weaker_witness_without_conditions_stays_when_the_stronger_one_falls() -> None:
    sink = Sink()
    sink.add((1,), truth("sure", Confidence.LIKELY))
    sink.add((1,), truth("depends"), (If(False),))
    assert whys(sink) == ["sure"]


def test_a_trial_keeps_what_it_names_and_nothing_reaches_the_rest_before_the_end() -> None:
    sink = Sink()
    with sink.trial(Named("telling")):
        sink.add((1,), truth("telling"))
        sink.add((2,), truth("nothing"))
    assert whys(sink) == ["telling"]


@pytest.mark.parametrize("answer", [True, False])
def test_a_condition_in_a_trial_is_decided_by_what_the_trial_found(answer: bool) -> None:
    sink, condition = Sink(), If(answer)
    sink.add((9,), truth("elsewhere"))
    with sink.trial(Named("telling", "depends")):
        sink.add((1,), truth("telling"))
        sink.add((2,), truth("depends"), (condition,))
    assert whys(sink) == ["elsewhere", "telling", *(["depends"] if answer else [])]
    assert [list(found) for found in condition.shown] == [[(1,)]]


def test_a_trial_may_give_up_everything_that_it_found() -> None:
    sink = Sink()
    with sink.trial(Named("telling", least=2)):
        sink.add((1,), truth("telling"))
    assert whys(sink) == []


def test_a_trial_counts_from_the_time_of_its_run() -> None:
    sink = Sink()
    sink.add((1,), truth("before"))
    with sink.trial(Named("in it")):
        sink.add((1,), truth("in it"))
        sink.add((2,), truth("in it"))
    sink.add((2,), truth("after"))
    assert whys(sink) == ["before", "in it"]


LOOP = """
@jit
def total(xs):
    out = 0.0
    for i in range(100):
        out = out * xs[i]
        {}
    return out


total(jnp.ones(100))
"""


def test_a_loop_is_not_unrolled_where_jax_refuses_something_in_it() -> None:
    assert [e for e in run(LOOP.format("pass")).events if type(e) is UnrolledLoop]
    refused = run(LOOP.format("float(out)")).events
    assert [type(e).__name__ for e in refused] == ["Convert"]
