"""What there is to be run, and in which order, until every finding has its verdict (layer: ``confirm``).

First the calls that the project has itself; of a finding that none of them confirms, then parts of its module, then searched
inputs for its function. What costs least is run first, whatever it is for, and a finding is told as soon as nothing more can
change its verdict. Runs nothing itself: the pool asks.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec

from jitlint.base.diagnostic import Finding
from jitlint.base.outcome import BakesConstant
from jitlint.confirm.memory import Memory
from jitlint.confirm.planning.plan import Findings, Planner
from jitlint.confirm.pool import Answer
from jitlint.confirm.protocol import Call, Flag, Task, spend
from jitlint.confirm.stopping import Stop
from jitlint.confirm.verdict import Collected, collect_call
from jitlint.driver.registry import rules

# What a call costs, as far as that can be said before: one by pytest starts pytest, a search makes many.
_PLAIN, _PYTEST, _SEARCH = 1, 4, 4


class Agenda:
    """The work of one run. collected: what the calls said so far, by finding. answers: all of them. calls: how many were made, or
    remembered.

    Findings that wait for arguments of the same function make a group, and go on together: so the tasks are the same ones
    whatever ends first, and the answers to them can be remembered. told: gets the numbers of findings whose verdicts are known.
    seconds: for each finding, 0 for no limit.
    """

    def __init__(
        self,
        planner: Planner,
        memory: Memory,
        stop: Stop,
        told: Callable[[int], None],
        seconds: float = 0.0,
    ) -> None:
        self._findings: dict[int, tuple[Finding, Flag]] = {}
        self._planner = planner
        self._memory = memory
        self._stop = stop
        self._told = told
        self._seconds = seconds
        self.collected: dict[int, Collected] = {}
        self.answers: list[Answer] = []
        self.calls = 0
        self._planned = 0
        self._left: dict[int, float] = {}
        self._settled: set[int] = set()
        self._queue: list[tuple[int, int, Task]] = []
        self._groups: list[list[int]] = []
        self._group_of: dict[int, int] = {}
        self._stage: list[int] = []
        self._open: Counter[int] = Counter()

    def add(self, findings: Findings, missed: Mapping[int, Flag] | None = None) -> None:
        """There are more findings to be proved. missed: all findings, if it is also to be looked for what has none."""
        self._findings.update(findings)
        self.collected.update((number, Collected()) for number in findings)
        if self._seconds:
            self._left.update(dict.fromkeys(findings, self._seconds))
        groups: dict[object, list[int]] = defaultdict(list)
        for number, (finding, flag) in findings.items():
            groups[self._planner.group_of(number, finding, flag)].append(number)
        first = len(self._groups)
        self._groups += groups.values()
        self._group_of |= {n: first + at for at, numbers in enumerate(groups.values()) for n in numbers}
        self._stage += [0] * len(groups)
        self._plan(self._planner.drive(findings, missed))
        for group in range(first, len(self._groups)):
            if not self._open[group]:
                self._go_on(group)

    # ------------------------------------------------------------ what the pool asks and tells

    def take(self) -> Answer | None:
        """See `Work`. What is remembered is finished at once."""
        while self._queue:
            task = heapq.heappop(self._queue)[2]
            wanted = {number for call in task.calls for number in call.flags}
            task = msgspec.structs.replace(task, settled=sorted(wanted & self._settled))
            if wanted and wanted <= self._settled and all(call.flags for call in task.calls):
                self.finished(Answer(task))
                continue
            answer = self._memory.find(task)
            if answer is None:
                left = {number: self._left[number] for number in wanted if number in self._left}
                return Answer(task, left=left)
            for call in sorted(answer.calls):
                self.heard(answer, call)
            self.finished(answer)
        return None

    def heard(self, answer: Answer, call: int) -> None:
        """See `Work`. What one call confirms is confirmed."""
        asked = answer.task.calls[call]
        collect_call(asked, answer.calls[call], self.collected)
        spend(self._left, [n for n in asked.flags if n not in self._settled], answer.seconds.get(call, 0.0))
        for number in asked.flags:
            if self.collected[number].is_confirmed:
                self._settle(number)

    def finished(self, answer: Answer) -> None:
        """See `Work`. Groups that waited for nothing else go on, unless the run is to end."""
        self.calls += len(answer.calls)
        self._memory.keep(answer)
        self.answers.append(answer)
        if self._stop.is_over():
            return
        for group in self._concerned(answer.task):
            self._open[group] -= 1
            if not self._open[group]:
                self._go_on(group)

    # ------------------------------------------------------------ planning

    def _plan(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self._planned += 1
            heapq.heappush(self._queue, (sum(map(_cost, task.calls)), self._planned, task))
            for group in self._concerned(task):
                self._open[group] += 1

    def _concerned(self, task: Task) -> list[int]:
        """The groups that wait for a task."""
        return sorted({self._group_of[number] for call in task.calls for number in call.flags})

    def _go_on(self, group: int) -> None:
        """What can still be tried for a group; that nothing can is the end of it."""
        while self._stage[group] < 2:
            self._stage[group] += 1
            search = self._stage[group] == 2
            left = {n: self._findings[n] for n in self._groups[group] if self._is_left(n, search)}
            unloaded = {number for number in left if self.collected[number].is_unloaded}
            self._plan((self._planner.search if search else self._planner.parts)(left, unloaded))
            if self._open[group]:
                return
        for number in self._groups[group]:
            self._settle(number)

    def _is_left(self, number: int, search: bool) -> bool:
        """Whether nothing has confirmed a finding so far; with ``search``, whether made-up calls may tell something about it."""
        found = self.collected[number]
        if found.is_confirmed or not search:
            return not found.is_confirmed
        # Where the project's own calls came to the line of a value that may go stale, how often it is called, and what
        # changes in between, is the program's matter.
        finding = self._findings[number][0]
        stale = isinstance(rules()[finding.code].outcome_of(finding.case), BakesConstant)
        return not (stale and any(result.status == "unshown" for result, _ in found.results))

    def _settle(self, number: int) -> None:
        if number not in self._settled:
            self._settled.add(number)
            self._told(number)


def _cost(call: Call) -> int:
    if call.search:
        return _SEARCH
    return _PYTEST if call.target.startswith("::") else _PLAIN
