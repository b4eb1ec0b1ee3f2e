"""Which draws of random bits repeat, and whose doing that is (layer: ``confirm``). Judges what was observed; runs nothing."""

from __future__ import annotations

import linecache
import re
from collections.abc import Collection, Iterator, Sequence

from jitlint.base.outcome import RepeatsDraw
from jitlint.confirm.statement import Statement
from jitlint.confirm.watch.observe import Draw, Observation
from jitlint.confirm.watch.runs import Runs
from jitlint.confirm.watch.spots import Spot


def repeated_draws(seen: Observation) -> list[tuple[Draw, Draw]]:
    """Pairs of draws from equal keys: the first one, and each later one."""
    first: dict[bytes, Draw] = {}
    pairs = []
    for draw in seen.draws:
        earlier = first.setdefault(draw.data, draw)
        if earlier is not draw:
            pairs.append((earlier, draw))
    return pairs


def repeats_draw(outcome: RepeatsDraw, statement: Statement, runs: Runs) -> str | None:
    """A sentence about a key that the flagged expression consumed twice; None if it did not."""
    # Keys that are traced have no data: those are seen without jit only.
    for seen in (runs.jitted, runs.eager):
        for draw in seen.draws:
            if draw.batched and _is_its_key(draw, draw, seen, statement):
                return f"`{draw.name}` consumed the same key for all elements of a batch"
        for earlier, later in repeated_draws(seen):
            if _is_its_key(earlier, later, seen, statement):
                same = earlier.stack[0][:2] == later.stack[0][:2]
                where = "the same line" if same else f"line {earlier.stack[0].line}"
                return f"`{later.name}` consumed a key that `{earlier.name}` had consumed at {where}"
            makers = [draw.maker for draw in (earlier, later)]
            if all(maker is not None and statement.is_at(maker) for maker in makers):
                by = [f"by `{draw.name}` at line {draw.stack[0].line}" for draw in (earlier, later)]
                return (
                    f"the key made here was consumed {by[0]} and {by[1] if by[0] != by[1] else 'again there'}"
                )
    return None


def _is_its_key(earlier: Draw, later: Draw, seen: Observation, statement: Statement) -> bool:
    """Whether a repeated draw is one of the flagged expression's, and not of somebody who gave it the same key again."""
    at = next((spot for spot in later.stack if statement.is_at(spot)), None)
    if at is None:
        return False
    if statement.columns is None:
        return True
    number = statement.number
    given, kept = seen.own_keys.get(number, set()), seen.keys.get(number, set())
    if later.data in kept:
        return True
    if at == later.stack[0]:
        # A draw of its own. The key may be a parameter, or made of one: the caller may have given the same one twice,
        # which is not this function's doing.
        made = later.maker is not None and statement.is_at_or_in(later.maker)
        return made or not (given or kept) or _is_one_call(earlier, later, at)
    if later.data in given:
        return _is_one_call(earlier, later, at)
    return _is_of_its_call(earlier, later, at, statement, seen.key_names.get(number, set()))


def _is_of_its_call(
    earlier: Draw, later: Draw, at: Spot, statement: Statement, names: Collection[str]
) -> bool:
    """As `_is_its_key`, for a draw of what the flagged expression calls, by a key that no variable of it holds."""
    inner = {spot.activation for spot in later.stack[: later.stack.index(at)]}
    if later.maker is None and _is_given_again(earlier, at, names):
        return True
    if statement.repeats and later.maker is None and at in earlier.stack:
        return True  # the key was given twice, and others were made of it
    if later.batched and later.maker is None:
        return True  # it was made of another one: JAX says itself that one serves the whole batch
    own = later.maker is not None and later.maker.activation in inner
    return not (names or own) and _is_one_call(earlier, later, at)


def _is_given_again(earlier: Draw, at: Spot, names: Collection[str]) -> bool:
    """Whether another expression of the same call of the function names the same variable that holds a key."""
    for spot in earlier.stack:
        if spot.activation == at.activation and spot.columns not in (None, at.columns):
            text = linecache.getline(spot.path, spot.line)
            return any(re.search(rf"\b{re.escape(name)}\b", text) for name in names)
    return False


def _is_one_call(earlier: Draw, later: Draw, at: Spot) -> bool:
    """Whether one call of the function around the flagged expression, or one operation of JAX's, made both draws."""
    if any(spot.activation == at.activation for spot in earlier.stack):
        return True
    callers = [next(_outside(draw.stack, at), None) for draw in (earlier, later)]
    if callers[0] is None or callers[0].columns is None:
        return False  # Python before 3.11 does not tell two calls of one line apart
    return callers[0] == callers[1]


def _outside(stack: Sequence[Spot], at: Spot) -> Iterator[Spot]:
    """The spots of a stack outside the function that the statement stands in."""
    inside = [index for index, spot in enumerate(stack) if spot[:2] == at[:2]]
    yield from stack[inside[-1] + 1 :] if inside else ()
