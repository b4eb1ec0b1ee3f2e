"""Results that the line which asked for them throws away at once (layer: ``confirm``).

What it does: looks at the instruction that follows a call. What it does not: follow results that are bound to a name.
"""

from __future__ import annotations

import bisect
import dis
import functools
from types import CodeType, FrameType
from typing import Any

import jax


@functools.lru_cache(maxsize=512)
def _instructions(code: CodeType) -> tuple[list[int], list[str]]:
    """Offsets and names of a function's instructions."""
    instructions = list(dis.get_instructions(code))
    return [one.offset for one in instructions], [one.opname for one in instructions]


_WRAPPER = "reraise_with_filtered_traceback"
OF_A_JITTED_FUNCTION = "cache_miss"


def called_name(frame: FrameType) -> str:
    """The name of the function that a frame stands for."""
    name = frame.f_code.co_name
    return str(getattr(frame.f_locals.get("fun"), "__name__", name)) if name == _WRAPPER else name


def is_dropped(frame: FrameType, value: Any) -> bool:
    """Whether a project line throws away at once what a function returns, and an array is in that."""
    caller = frame.f_back
    if caller is None or not _discards(caller.f_code, caller.f_lasti):
        return False
    return any(isinstance(leaf, (jax.Array, jax.core.Tracer)) for leaf in jax.tree.leaves(value))


def _discards(code: CodeType, offset: int) -> bool:
    """Whether what the call at ``offset`` (or in its cache entries behind it) answers is dropped at once."""
    offsets, names = _instructions(code)
    following = bisect.bisect_right(offsets, offset)
    if names[following - 1] == "PRECALL":  # Python 3.11 calls in two steps
        following += 1
    return names[following : following + 1] == ["POP_TOP"]
