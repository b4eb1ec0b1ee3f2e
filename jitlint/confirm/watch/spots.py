"""Where exactly code is: the expression that an instruction belongs to, and the call of its function (layer: ``confirm``).

Python 3.11 and newer say to which columns an instruction belongs; older ones do not, and `columns_of` answers None.
"""

from __future__ import annotations

import dis
import functools
import itertools
import re
from types import CodeType, FrameType
from typing import NamedTuple

# First line, offset in bytes, last line, offset of its end: as `ast` counts, lines from 1 and offsets from 0.
Columns = tuple[int, int, int, int]
# Names, also dotted ones, in a line of source text.
DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_SUSPENDS = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


class Spot(NamedTuple):
    """A line of the project while it runs. columns: of what runs there, if Python knows. activation: a number for this
    call of the function around it."""

    path: str
    line: int
    columns: Columns | None = None
    activation: int = 0


@functools.lru_cache(maxsize=1024)
def _positions(code: CodeType) -> tuple[tuple[int | None, ...], ...]:
    positions = getattr(code, "co_positions", None)
    return tuple(positions()) if positions is not None else ()


def columns_of(code: CodeType, offset: int) -> Columns | None:
    """The columns of the instruction at an offset; None if they are not known."""
    known = _positions(code)
    index = offset // 2
    if not 0 <= index < len(known):
        return None
    line, last, start, end = known[index]
    if line is None or last is None or start is None or end is None:
        return None
    return line, start, last, end


def opcode_at(code: CodeType, offset: int) -> str:
    """The name of the instruction at an offset; "" if there is none."""
    raw = code.co_code
    return dis.opname[raw[offset]] if 0 <= offset < len(raw) else ""


# These work on the value that was made last, and their own columns are those of something larger.
_CONSUMERS = re.compile(r"JUMP|UNARY|TO_BOOL|GET_ITER|FORMAT|CONVERT_VALUE|UNPACK|FOR_ITER")
# These do nothing to it.
_BETWEEN = frozenset(
    {"CACHE", "EXTENDED_ARG", "NOP", "COPY", "PRECALL", "TO_BOOL", "DUP_TOP", "CONVERT_VALUE"}
)
_WITH_FORMAT = 4
# Since Python 3.13: two variables at once, at the columns of the first.
_PAIRS = frozenset({"LOAD_FAST_LOAD_FAST", "LOAD_FAST_BORROW_LOAD_FAST_BORROW"})


def _beyond(code: CodeType, offset: int) -> int:
    """The offset of the next instruction."""
    offset += 2
    while opcode_at(code, offset) == "CACHE":
        offset += 2
    return offset


@functools.lru_cache(maxsize=4096)
def consumed_at(code: CodeType, offset: int) -> Columns | None:
    """The columns of the value that the instruction at ``offset`` works on, where it is one that has a single operand."""
    raw = code.co_code
    if not 0 <= offset < len(raw):
        return None
    while offset > 0 and dis.opname[raw[offset]] == "CACHE":
        offset -= 2
    name = dis.opname[raw[offset]]
    if not _CONSUMERS.search(name):
        return None
    before = offset - 2
    after = opcode_at(code, _beyond(code, offset))
    skip = name == "FORMAT_WITH_SPEC" or (name == "FORMAT_VALUE" and raw[offset + 1] & _WITH_FORMAT)
    while before >= 0:
        found = dis.opname[raw[before]]
        if found not in _BETWEEN:
            if found in _PAIRS:
                return _second(code, before, after if name == "TO_BOOL" else name, columns_of(code, offset))
            if not (skip and found == "LOAD_CONST"):
                return columns_of(code, before)
            skip = False
        before -= 2
    return None


def _second(code: CodeType, offset: int, consumer: str, around: Columns | None) -> Columns | None:
    """The columns of the second variable of a pair, which the expression ``around`` begins or ends with."""
    if around is None:
        return None
    line, start, last, end = around
    size = len(code.co_varnames[code.co_code[offset + 1] & 15].encode("utf-8"))
    if "UNARY" in consumer:
        return last, end - size, last, end
    start += consumer.startswith("FORMAT")  # a brace
    return line, start, line, start + size


class Activations:
    """Numbers the calls of functions. A frame has no other name: its address is given away again."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[CodeType, int]] = {}
        self._next = itertools.count(1)

    def begun(self, frame: FrameType) -> None:
        """A frame begins, or a generator goes on."""
        known = self._numbers.get(id(frame))
        goes_on = known is not None and known[0] is frame.f_code and frame.f_code.co_flags & _SUSPENDS
        if not goes_on:
            self._numbers[id(frame)] = frame.f_code, next(self._next)

    def number(self, frame: FrameType) -> int:
        """The number of a frame; 0 for one that began before anybody looked."""
        known = self._numbers.get(id(frame))
        return known[1] if known is not None and known[0] is frame.f_code else 0


# The functions of JAX, by name, that only look at what a function would do.
_LOOKING = frozenset({"eval_shape", "jit_eval_shape", "make_jaxpr_f"})


def is_only_looked_at(frame: FrameType | None) -> bool:
    """Whether code runs for its shapes or its jaxpr only: nothing is computed."""
    while frame is not None:
        code = frame.f_code
        if code.co_name in _LOOKING and code.co_filename.endswith(("_src/api.py", "_src/pjit.py")):
            return True
        frame = frame.f_back
    return False
