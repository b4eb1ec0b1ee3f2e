"""What an activation reads in containers and objects that it was not given (layer: ``link``, room ``engine``).

A remembered call stands for another one in the same context only where both find the same there: a stack in the module, the
attributes of an object that is a global. What it does: notes such a container when its variable is read, with what it holds then,
and says later whether it still holds that. What it does not: look at what arguments hold, which is a part of the context.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Inst, Map, Seq, Value
from jitlint.link.engine.machine import Machine, Memo

BOXES: Final = frozenset({Inst, Map, Seq})
_DEPTH: Final = 2
_MANY: Final = 64
"""Containers with more parts are tables, which nobody changes."""
_RUNS: Final = 4
"""So often a call is looked at once more in one context. What changes each time is changed by the calls themselves."""


def note(m: Machine, box: Value) -> None:
    """A variable of an enclosing scope, of a module or of a class is read, which may hold a container or an object."""
    known = m.boxes_read
    if type(box) in BOXES and id(box) not in known:
        known[id(box)] = (box, _contents(box, _DEPTH))


def begun(m: Machine) -> dict[int, tuple[Value, list[Value]]]:
    """An activation begins: what was noted for the one that calls it."""
    outer, m.boxes_read = m.boxes_read, {}
    return outer


def ended(m: Machine, memo: Memo, outer: dict[int, tuple[Value, list[Value]]]) -> None:
    """It has ended: its result rests on that, and so does that of its caller."""
    memo.reads, m.boxes_read = m.boxes_read, outer
    again(m, memo)


def again(m: Machine, memo: Memo) -> None:
    """A remembered result is taken: that of the caller rests on the same."""
    for number, read in memo.reads.items():
        m.boxes_read.setdefault(number, read)


def still_holds(memo: Memo) -> bool:
    """Whether all that a remembered activation has read is as it was."""
    for box, before in memo.reads.values():
        now = _contents(box, _DEPTH)
        if len(now) != len(before) or any(a is not b for a, b in zip(now, before)):
            return False
    return True


def is_spent(memo: Memo) -> bool:
    """Whether what a remembered activation has read was another each time, so that nothing is known of the next one."""
    return memo.done and memo.runs >= _RUNS and not still_holds(memo)


def _contents(box: Value, depth: int) -> list[Value]:
    if type(box) is Inst:
        parts = list(box.attrs.values())
    elif type(box) is Map:
        parts = [*box.entries.values(), *([] if box.rest is None else [box.rest])]
    elif type(box) is Seq:
        parts = [*(box.items or ()), *([] if box.rest is None else [box.rest])]
    else:
        return []
    if len(parts) > _MANY:
        return []
    inner = [_contents(part, depth - 1) for part in parts if type(part) in BOXES] if depth else []
    return [*parts, *[one for found in inner for one in found]]
