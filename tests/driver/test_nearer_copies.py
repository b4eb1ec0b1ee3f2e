"""Which copies of a waiting analysis get near to which functions, and how many there may be."""

from __future__ import annotations

import os
from multiprocessing.connection import Pipe

import msgspec
import pytest

from jitlint.driver.processes import checkpoint

PARTS = [frozenset(range(start, start + 4)) for start in range(0, 16, 4)]


def point() -> checkpoint._Point:
    made = checkpoint._Point("module", {}, Pipe()[0])
    made._before = frozenset(range(16))
    made._parts = PARTS
    return made


def test_the_nearest_part_comes_first() -> None:
    waiting = point()
    waiting._aim(frozenset({9}))
    assert waiting._missing() == PARTS[2]
    waiting._nearer.append(checkpoint._Copy(0, Pipe()[0], PARTS[2], PARTS[2]))
    assert waiting._missing() in (PARTS[1], PARTS[3])


def test_a_process_has_memory_of_its_own_where_the_system_tells() -> None:
    told = os.path.exists("/proc/self/smaps_rollup")
    assert (checkpoint._own_memory(os.getpid()) > 1000) == told
    assert checkpoint._own_memory(-1) == 0


def test_copies_that_need_much_memory_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "_own_memory", lambda pid: 2 * checkpoint._MEMORY)
    waiting = point()
    ours, theirs = Pipe()
    copy = checkpoint._Copy(0, ours, PARTS[2])
    waiting._nearer.append(copy)
    waiting._aim(frozenset({9}))
    theirs.send_bytes(msgspec.msgpack.encode(checkpoint.Ready([8, 9, 10, 11])))
    waiting._hear(copy)
    assert waiting._most == 1
    assert waiting._missing() == frozenset()


def test_other_functions_want_another_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[int]()
    monkeypatch.setattr(checkpoint._Copy, "end", lambda copy: ended.append(copy.pid))
    waiting = point()
    waiting._most = 1
    waiting._nearer.append(checkpoint._Copy(7, Pipe()[0], PARTS[2], PARTS[2]))
    waiting._aim(frozenset({0}))
    assert waiting._missing() == PARTS[0]
    assert ended == [7]
