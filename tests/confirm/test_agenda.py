"""What is run in which order, what is left out, and when a verdict is known: without any process."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.confirm.agenda import Agenda
from jitlint.confirm.child import _is_up
from jitlint.confirm.memory import Memory
from jitlint.confirm.planning.plan import Findings, Planner
from jitlint.confirm.pool import Answer, _Conversation, _from_call
from jitlint.confirm.protocol import Begin, Call, Flag, Result, Seen, Shown, Task
from jitlint.confirm.stopping import Stop
from jitlint.confirm.verdict import Verdict, verdict

QUICK, SLOW = "test_quick.py", "test_slow.py"


def _task(path: str, *calls: Call, flags: Sequence[Flag] = ()) -> Task:
    return Task(path, "", "", [], list(flags), list(calls), 20.0, 1)


def _flag(number: int) -> Flag:
    return Flag(number, "JIT101", "m.py", 1, 1, 1, "", [])


class _Plans:
    """Findings 0 and 1 are of one function, 2 of another; the slow file, planned first, reaches all of them."""

    def drive(self, findings: Findings, known: object) -> list[Task]:
        slow = [Call("::test_a", [0, 2]), Call("::test_b", [1])]
        return [_task(SLOW, *slow), _task(QUICK, Call("test_c", [0]))]

    def group_of(self, number: int, finding: Finding, flag: Flag) -> object:
        return number // 2

    def parts(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        return []

    def search(self, findings: Findings, unloaded: Collection[int]) -> list[Task]:
        return [_task("m.py", Call("f", sorted(findings), search=True))] if findings else []


def _agenda(seconds: float = 0.0) -> tuple[Agenda, list[int]]:
    finding = Finding("JIT101", "", Severity.ERROR, Confidence.CERTAIN, "", "m.py", Span(1, 1, 1, 2))
    told: list[int] = []
    agenda = Agenda(cast("Planner", _Plans()), Memory("", use=False), Stop(), told.append, seconds)
    agenda.add({number: (finding, _flag(number)) for number in range(3)})
    return agenda, told


def _say(agenda: Agenda, answer: Answer, call: int, *confirmed: int, seconds: float = 0.0) -> None:
    results = [Result(number, "confirmed", "seen") for number in confirmed]
    answer.calls[call], answer.seconds[call] = Seen(call, results), seconds
    agenda.heard(answer, call)


def _next(agenda: Agenda) -> Answer:
    answer = agenda.take()
    assert answer is not None
    return answer


def test_what_costs_least_is_run_first_and_told_at_once() -> None:
    agenda, told = _agenda()
    quick = _next(agenda)
    assert quick.task.entry == QUICK
    _say(agenda, quick, 0, 0)
    assert told == [0]
    agenda.finished(quick)
    slow = _next(agenda)
    assert (slow.task.entry, slow.task.settled) == (SLOW, [0])
    assert agenda.take() is None  # nothing to do before that is known
    _say(agenda, slow, 0)
    _say(agenda, slow, 1)
    assert told == [0]
    agenda.finished(slow)
    searches = [_next(agenda), _next(agenda)]
    assert [search.task.calls[0].flags for search in searches] == [[1], [2]]
    agenda.finished(searches[1])
    assert told == [0, 2]
    agenda.finished(searches[0])
    assert told == [0, 2, 1]


def test_what_is_settled_is_not_run_again() -> None:
    agenda, told = _agenda()
    quick, slow = _next(agenda), _next(agenda)
    _say(agenda, slow, 0, 0, 2)
    _say(agenda, slow, 1, 1)
    assert told == [0, 2, 1]
    agenda.finished(slow)
    agenda.finished(quick)
    assert agenda.take() is None


def test_the_time_for_a_finding_is_shared_by_its_calls() -> None:
    agenda, _ = _agenda(60.0)
    quick = _next(agenda)
    assert quick.left == {0: 60.0}
    _say(agenda, quick, 0, seconds=50.0)
    agenda.finished(quick)
    slow = _next(agenda)
    assert slow.left == {0: 10.0, 1: 60.0, 2: 60.0}
    slow.seconds[0] = 40.0
    assert _from_call(slow, 1).left == {0: -10.0, 1: 60.0, 2: 40.0}
    assert _is_up({0: -10.0}, Call("f", [0]), [_flag(0)])
    assert not _is_up({0: -10.0, 2: 40.0}, Call("f", [0, 2]), [_flag(0), _flag(2)])
    assert not _is_up({0: -10.0}, Call("f", [0], search=True), [_flag(0)])
    assert not _is_up({}, Call("f", [0]), [_flag(0)])


def test_what_was_left_out_for_want_of_time_is_said_and_not_remembered() -> None:
    agenda, _ = _agenda()
    quick = _next(agenda)
    quick.calls[0] = Seen(0, [], "f()", "not run: the time for this finding was up", "budget")
    agenda.heard(quick, 0)
    assert not quick.is_whole
    finding = agenda._findings[0][0]
    said = verdict(finding, agenda.collected[0])
    assert (said.verdict, said.evidence) == (
        Verdict.NOT_REACHED,
        "not run: the time for this finding was up",
    )


def test_a_call_that_ends_its_process_keeps_what_it_has_shown() -> None:
    answer = Answer(_task("m.py", Call("f", [0]), Call("g", [0])))
    told: list[int] = []
    conversation = _Conversation(answer, 1, told.append)
    conversation.take(Begin(0))
    conversation.take(Shown(Result(0, "confirmed", "seen"), "g()"))
    conversation.die("stopped after 20 s", 1)
    assert told == [1]
    assert answer.calls[1] == Seen(0, [Result(0, "confirmed", "seen")], "g()", "stopped after 20 s", "end")
