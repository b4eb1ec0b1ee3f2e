"""Numbers that loops count, and what is computed from them (layer: ``link``, room ``values``).

What it does: follows the whole numbers that a loop goes through up to the last one: through sums and products with constants, into
arrays of such numbers, and through the carries of JAX's own loops, where each turn adds the same. What it does not: speak of loops
whose numbers somebody compares with anything, who knows where they end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

from jitlint.infer.about import NOTHING, About
from jitlint.infer.counted import RING, Counted, ranging, with_number
from jitlint.infer.dims import Dims
from jitlint.infer.lattice import parts
from jitlint.infer.values import INT, NONE, SETS, UNKNOWN, Arr, Py, Seq, SliceVal, Tup, Value, const_of, py
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_DEPTH: Final = 4
_WHOLE: Final = ("int", "number")
_REMAINS: Final = ("%", "//")


def of(value: Value | None) -> Counted | None:
    """What is known of a whole number, or of the greatest in an array of them, that a loop counts."""
    if type(value) is Arr:
        return value.about.counted
    return value.counted if type(value) is Py else None


def forgotten(value: Value) -> Value:
    """A value of which it is not known any more that a loop counts it."""
    if type(value) is Py and value.counted is not None:
        return Py(value.kind)
    return _counting(value, None) if type(value) is Arr and value.about.counted is not None else value


def element(f: Frame, at: int, items: Sequence[Value]) -> Py | None:
    """A number of a loop over known ones, of which each is more than the one before by as much."""
    first, second = (const_of(item) for item in items[:2]) if len(items) > 1 else (None, None)
    if type(first) is not int or type(second) is not int or second <= first:
        return None
    numbers = range(first, first + (second - first) * len(items), second - first)
    if any(const_of(item) != number for item, number in zip(items, numbers)):
        return None
    return Py("int", counted=ranging(f.module.name, at, numbers))


def turns(iterable: Value) -> int | None:
    """How many turns a loop over something has, if that is known."""
    if type(iterable) is Seq and iterable.kind == "range" and iterable.items is None:
        counted = of(iterable.rest)
        return None if counted is None or counted.last is None else counted.last + 1
    items = iterable.items if isinstance(iterable, (Seq, Tup)) else None
    return None if items is None or (type(iterable) is Seq and iterable.kind in SETS) else len(items)


def follow(m: Machine, op: str, left: Value, right: Value, out: Value) -> Value:
    """What an operator gives of two numbers of Python's, one of which is counted."""
    found = combined(m, op, left, right)
    return Py("int", counted=found) if found is not None and type(out) is Py and out.kind == "int" else out


def combined(m: Machine, op: str, left: Value, right: Value) -> Counted | None:
    """What is known of ``left op right`` of whole numbers."""
    one, other = of(left), of(right)
    if op in _REMAINS and one is not None and one.loop[2] != RING:
        m.counts.compare(one)
    if one is not None and other is not None:
        return _together(op, one, other)
    counted, number = (one, const_of(right)) if one is not None else (other, const_of(left))
    if counted is None or type(number) is not int:
        return None
    return with_number(op, counted, number, first=counted is other)


def _together(op: str, one: Counted, other: Counted) -> Counted | None:
    """What is known of the sum of two counted numbers: the places of windows that begin at places drawn below a size."""
    start, way = (one, other) if one.size_of is not None else (other, one)
    if op != "+" or start.size_of is None or way.most is None:
        return None
    return start._replace(plus=start.plus + way.most)


def compare(m: Machine, op: str, left: Value, right: Value) -> None:
    """Two values are compared: who asks where a loop is knows how far it goes. To ask for its first turn does not tell, nor to see
    which of many places come before one."""
    if not (_is_followed(left) or _is_followed(right)) or _is_mask(left, right) or _is_mask(right, left):
        return
    for one, other, of_first in (
        (left, right, ("==", "!=", ">", "<=")),
        (right, left, ("==", "!=", "<", ">=")),
    ):
        counted = of(one)
        if counted is not None and not (
            op in of_first and counted.times > 0 and const_of(other) == counted.least
        ):
            m.counts.compare(counted)
        if type(one) is Arr:
            m.counts.compare(one.about.rows)


def _is_mask(places: Value, place: Value) -> bool:
    """Whether one number is compared with each of those of a row, as ``jnp.arange(n) <= i`` does."""
    many = type(places) is Arr and bool(places.rank) and places.about.counted is not None
    return many and type(place) is Arr and place.rank == 0 and place.about.rows is None


def about_operator(m: Machine, op: str, left: Value, right: Value, dtype: str | None) -> About:
    """What is known of the array that an operator gives: numbers that are counted, and how many rows there are."""
    if not (_is_followed(left) or _is_followed(right)):
        return NOTHING
    counted = combined(m, op, left, right) if dtype in _WHOLE else None
    rows = _same_rows(left, right)
    return About(counted=counted, rows=rows) if counted is not None or rows is not None else NOTHING


def _is_followed(value: Value) -> bool:
    """Whether there is anything to know of a value; of most there is not."""
    if type(value) is Arr:
        return value.about is not NOTHING
    return type(value) is Py and value.counted is not None


def _same_rows(left: Value, right: Value) -> Counted | None:
    """The rows of the one operand, where the other has none of its own, or as many."""
    a, b = (value.about.rows if type(value) is Arr else None for value in (left, right))
    if a == b:
        return a
    one, other = (left, right) if a is not None else (right, left)
    rank = 0 if type(other) is Py else other.rank if type(other) is Arr else None
    lower = rank is not None and type(one) is Arr and one.rank is not None and rank < one.rank
    return (a or b) if lower and (a is None or b is None) else None


def size_of(part: SliceVal, size: int) -> int | None:
    """How many rows ``x[i : i + n]`` has in each turn, None if not in all as many."""
    n, last = _window(part, size)
    return n if n == last else None


def rows_of(index: Sequence[Value], size: int | None) -> Counted | None:
    """How many rows ``x[i : i + n]`` has in the last turn, if not as many as before; ``x[rows]`` has those of ``rows``."""
    part = index[0] if index else None
    if type(part) is Arr:
        return part.about.rows if part.rank == 1 and len(index) == 1 else None
    n, last = _window(part, size) if type(part) is SliceVal and size is not None else (None, None)
    start = of(part.lo) if type(part) is SliceVal else None
    if start is None or n is None or last is None or n == last:
        return None
    return Counted(start.loop, 0, 1, last - n, n)


def _window(part: SliceVal, size: int) -> tuple[int | None, int | None]:
    """How many rows a slice has in the first turn and in the last."""
    start, end = of(part.lo), of(part.hi)
    if start is None or end is None or part.step is not None or start.least < 0:
        return None, None
    if start._replace(plus=0) != end._replace(plus=0) or start.most is None or end.plus <= start.plus:
        return None, None
    n = end.plus - start.plus
    return n, max(0, min(n, size - start.most))


def sizes(about: About, dims: Dims) -> tuple[Value, ...]:
    """The sizes of an array as the program gets them: that of the first axis may be another one in the last turn of a loop."""
    out = [INT if size is None else py(size) for size in dims]
    if about.rows is not None and dims and dims[0] is None:
        out[0] = Py("int", counted=about.rows)
    return tuple(out)


def part_of(about: About, index: Sequence[Value], size: int | None) -> About:
    """What is known of a part of an array. size: of its first axis."""
    rows = rows_of(index, size)
    if about.ragged or about.given or about.grown:
        about = about._replace(ragged=False, given=0, grown=0)
    if about.counted is None and about.rows is None and rows is None:
        return about
    whole = all(_takes_all(part) for part in index)
    return about._replace(counted=about.counted if whole else None, rows=rows)


def _takes_all(part: Value) -> bool:
    if type(part) is SliceVal:
        return part.lo is None and part.hi is None and part.step is None
    return type(part) is Py and part.kind in ("none", "ellipsis")


def begin(
    m: Machine,
    f: Frame,
    at: int,
    kind: str,
    named: dict[str, Value],
    used: list[Value],
    rows: Callable[[dict[str, Value]], int | None],
) -> None:
    """A loop of JAX's begins: what it counts is noted in what its body gets, ``used``.

    named: how it is called. rows: says how many turns a loop over rows has.
    """
    if kind == "scan" and used and "init" in named:
        _begin(m, f, at, named["init"], used, 0, rows(named))
    if kind != "fori" or len(used) != 2:
        return
    first, end = (const_of(named.get(name, NONE)) for name in ("lower", "upper"))
    if type(first) is not int or type(end) is not int or first >= end:
        return
    counted = ranging(f.module.name, at, range(first, end))
    if type(used[0]) is Arr and counted is not None:
        used[0] = _counting(used[0], counted)
    _begin(m, f, at, named.get("init_val", NONE), used, 1, end - first)


def _begin(
    m: Machine, f: Frame, at: int, init: Value, used: list[Value], place: int, turns: int | None
) -> None:
    """Note what is counted in a carry, if it is known how often."""
    if turns is not None and turns > 1:
        numbers = count(1)
        used[place] = _begun(f, at, init, used[place], numbers, _DEPTH)
        m.counts.begin((f.module.name, at), turns)


def _begun(f: Frame, at: int, init: Value, carry: Value, numbers: Iterator[int], depth: int) -> Value:
    if type(carry) is Arr:
        first = const_of(init) if type(init) is Py else _constant(init)
        if type(first) is not int or carry.rank != 0 or carry.dtype not in _WHOLE:
            return carry
        return _counting(carry, Counted((f.module.name, at, next(numbers)), first, None))
    before, inside = (parts(init), parts(carry)) if depth and type(init) is type(carry) else ([], [])
    if not inside or len(before) != len(inside):
        return carry
    begun = [_begun(f, at, one, other, numbers, depth - 1) for one, other in zip(before, inside)]
    return pytrees.with_parts(carry, begun)


def _constant(value: Value) -> int | None:
    """The number that an array of one is known to hold."""
    counted = of(value)
    return counted.plus if counted is not None and not counted.times else None


def _counting(array: Arr, counted: Counted | None) -> Arr:
    a = array
    out = Arr(a.modes, a.dtype, a.rank, a.why, a.level, a.traced, a.host, a.key, a.kind)
    out.dims, out.about = a.dims, a.about._replace(counted=counted)
    return out


def end(m: Machine, given: Value, returned: Value, depth: int = _DEPTH) -> None:
    """The body of a loop has run: what it has added to the whole numbers of its carry shows how far they get."""
    if type(given) is Arr:
        before, after = given.about.counted, of(returned)
        if before is not None and before.last is None and before.size_of is None:
            same = after is not None and after._replace(plus=0) == before
            m.counts.end(before, after.plus if after is not None and same else 0)
    elif depth:
        ours, theirs = parts(given), parts(returned)
        same = type(given) is type(returned) and len(ours) == len(theirs)
        for one, other in zip(ours, theirs if same else [UNKNOWN] * len(ours)):
            end(m, one, other, depth - 1)
