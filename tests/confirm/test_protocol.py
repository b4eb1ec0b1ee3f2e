"""Messages arrive whole, whatever pieces they come in; nonsense is refused."""

from __future__ import annotations

import os

import pytest

from jitlint.confirm.protocol import Begin, Broken, Call, Died, Frames, Result, Seen, Task, encode, read_task

MESSAGES = [Begin(1), Seen(0, [Result(3, "confirmed", "seen")], "f()"), Died("gone")]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_messages_survive_being_cut(size: int) -> None:
    data = b"".join(map(encode, MESSAGES))
    frames = Frames()
    found = [m for start in range(0, len(data), size) for m in frames.feed(data[start : start + size])]
    assert found == MESSAGES


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff garbage", b"\x03\x00\x00\x00abc"])
def test_nonsense_is_refused(data: bytes) -> None:
    with pytest.raises(Broken):
        Frames().feed(data)


def test_tasks_go_through_a_pipe() -> None:
    task = Task("/p/m.py", "m", "/p", ["/p"], [], [Call("f", [1])], 2.0, 1000)
    reader, writer = os.pipe()
    os.write(writer, encode(task) + encode(task)[:10])
    os.close(writer)
    assert read_task(reader) == task
    with pytest.raises(Broken):
        read_task(reader)
    assert read_task(reader) is None
    os.close(reader)
