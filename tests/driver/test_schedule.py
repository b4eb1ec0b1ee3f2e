"""Workers answer in order, fail alone and leave nothing behind."""

from __future__ import annotations

import os
import signal
import time

import pytest

from jitlint.driver.processes.schedule import WorkerDied, run_tasks

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def _square(number: int) -> bytes:
    if number == 13:
        raise ValueError("unlucky")
    if number == 99:
        os.kill(os.getpid(), signal.SIGKILL)
    return str(number * number).encode()


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_outcomes_come_in_the_order_of_the_inputs(jobs: int) -> None:
    numbers = list(range(12))
    assert run_tasks(_square, numbers, numbers, jobs) == [str(n * n).encode() for n in numbers]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_belongs_to_its_task(jobs: int) -> None:
    outcomes = run_tasks(_square, [1, 13, 2], [1, 1, 1], jobs)
    assert (outcomes[0], outcomes[2]) == (b"1", b"4")
    assert "unlucky" in str(outcomes[1])


@FORKS
def test_a_killed_worker_takes_only_its_task_with_it() -> None:
    outcomes = run_tasks(_square, [99, 1, 99, 2, 3, 99], [9, 1, 8, 1, 1, 7], 2)
    assert [outcome for outcome in outcomes if isinstance(outcome, bytes)] == [b"1", b"4", b"9"]
    assert [type(outcomes[i]) for i in (0, 2, 5)] == [WorkerDied] * 3


@FORKS
def test_work_is_spread_over_processes() -> None:
    def who(_: int) -> bytes:
        time.sleep(0.05)
        return str(os.getpid()).encode()

    pids = set(run_tasks(who, [1, 2, 3, 4], [1, 1, 1, 1], 2))
    assert len(pids) == 2
    assert str(os.getpid()).encode() not in pids


def test_large_answers_travel_whole() -> None:
    answers = run_tasks(lambda n: b"x" * n, [3_000_000, 1], [2, 1], 2)
    assert [len(answer) for answer in answers if isinstance(answer, bytes)] == [3_000_000, 1]


def test_nothing_to_do() -> None:
    assert run_tasks(_square, [], [], 4) == []
