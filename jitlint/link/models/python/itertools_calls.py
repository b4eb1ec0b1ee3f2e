"""The functions of `itertools` (layer: ``link``, room ``models``). Known elements stay known while they are few."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Final

from jitlint.infer.lattice import join, joined, or_unknown
from jitlint.infer.values import INT, NONE, UNKNOWN, Seq, Tup, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.budgets import MAX_ITEMS, UNROLLED
from jitlint.link.engine.events import emit_convert
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration, operators
from jitlint.link.values.boxes import argument, const_int, make_seq, repeated, spread
from jitlint.link.values.questions import truths

Handler = Callable[[Machine, Frame, int, Args], Value]
Part = tuple["list[Value] | None", "Value | None"]

MAX_ROWS: Final = 64
"""Products and permutations of more rows keep only the join of their elements."""


def _stands_for(part: Part) -> Value:
    """One value for every element."""
    items, rest = part
    return or_unknown(rest if items is None else joined(items))


def _parts(m: Machine, f: Frame, at: int, args: Args) -> list[Part]:
    return [spread(m, f, at, value) for value in args.pos]


def _chained(f: Frame, parts: list[Part], extra: Value | None = None) -> Value:
    known = [items for items, _ in parts if items is not None]
    if extra is None and len(known) == len(parts):
        return make_seq(f, "iter", list(itertools.chain(*known)))
    inside = [item for items in known for item in items]
    inside.extend(rest for items, rest in parts if items is None and rest is not None)
    return make_seq(f, "iter", None, joined(inside if extra is None else [*inside, extra]))


def _chain(m: Machine, f: Frame, at: int, args: Args) -> Value:
    extra = None if args.more is None else iteration.element(m, f, at, args.more)
    return _chained(f, _parts(m, f, at, args), extra)


def _chain_iterables(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    if items is not None:
        return _chained(f, [spread(m, f, at, item) for item in items])
    return make_seq(f, "iter", None, None if rest is None else iteration.element(m, f, at, rest))


def _rows(f: Frame, rows: Iterable[tuple[Value, ...]]) -> Value:
    return make_seq(f, "iter", [Tup(row) for row in rows])


def _product(m: Machine, f: Frame, at: int, args: Args) -> Value:
    repeat = args.kw.get("repeat")
    times = 1 if repeat is None else const_int(repeat)
    if times is None or not 0 <= times <= UNROLLED or args.more is not None:
        anything = joined([_stands_for(part) for part in _parts(m, f, at, args)])
        return make_seq(f, "iter", None, Seq("tuple", None, anything, f.world.level))
    parts = _parts(m, f, at, args) * times
    known = [items for items, _ in parts if items is not None]
    if len(known) == len(parts) and math.prod(map(len, known)) <= MAX_ROWS:
        return _rows(f, itertools.product(*known))
    return make_seq(f, "iter", None, Tup(tuple(map(_stands_for, parts))))


def _zip_longest(m: Machine, f: Frame, at: int, args: Args) -> Value:
    fill = args.kw.get("fillvalue", NONE)
    parts = _parts(m, f, at, args)
    known = [items for items, _ in parts if items is not None]
    if len(known) == len(parts):
        return _rows(f, itertools.zip_longest(*known, fillvalue=fill))
    return make_seq(f, "iter", None, Tup(tuple([join(_stands_for(part), fill) for part in parts])))


def _selection(make: Callable[[list[Value], int], Iterable[tuple[Value, ...]]]) -> Handler:
    """The handler of permutations and combinations of a given length."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        items, _rest = part = spread(m, f, at, or_unknown(argument(args, 0)))
        size = args.get(1, "r")
        count = len(items) if size is None and items is not None else const_int(size)
        if count is None or not 0 <= count <= UNROLLED:
            return make_seq(f, "iter", None, Seq("tuple", None, _stands_for(part), f.world.level))
        if items is not None:
            rows = list(itertools.islice(make(items, count), MAX_ROWS + 1))
            if len(rows) <= MAX_ROWS:
                return _rows(f, rows)
        return make_seq(f, "iter", None, Tup((_stands_for(part),) * count))

    return handler


def _islice(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    for bound in args.pos[1:]:
        if emit_convert(m, f, at, bound, "index", "itertools.islice"):
            break
    if items is not None:
        bounds = [None if bound is NONE else const_int(bound) for bound in args.pos[1:]]
        exact = all(b is not None or bound is NONE for b, bound in zip(bounds, args.pos[1:]))
        if exact and 1 <= len(bounds) <= 3 and all(b is None or b >= 0 for b in bounds) and bounds[2:] != [0]:
            return make_seq(f, "iter", list(itertools.islice(items, *bounds)))
        rest = joined(items)
    return make_seq(f, "iter", None, rest)


def _accumulate(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0, "iterable")))
    func, initial = args.get(1, "func"), args.kw.get("initial")

    def step(total: Value, item: Value) -> Value:
        if func is None or func is NONE:
            return operators.binary(m, f, at, "+", total, item)
        return evaluator.call(m, f, at, func, Args([total, item]))

    if items is not None and len(items) <= UNROLLED:
        values = items if initial is None or initial is NONE else [initial, *items]
        out = values[:1]
        for item in values[1:]:
            out.append(step(out[-1], item))
        return make_seq(f, "iter", out)
    element = _stands_for((items, rest))
    start = element if initial is None or initial is NONE else initial
    with repeated(f):
        once = step(start, element)
        return make_seq(f, "iter", None, join(start, join(once, step(once, element))))


def _repeat(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value, times = or_unknown(argument(args, 0, "object")), args.get(1, "times")
    if times is not None and not emit_convert(m, f, at, times, "index", "itertools.repeat"):
        count = const_int(times)
        if count is not None and count <= MAX_ITEMS:
            return make_seq(f, "iter", [value] * count)
    return make_seq(f, "iter", None, value)


def _count(m: Machine, f: Frame, at: int, args: Args) -> Value:
    start, step = args.get(0, "start"), args.get(1, "step")
    value = INT if start is None else operators.binary(m, f, at, "+", start, INT if step is None else step)
    return make_seq(f, "iter", None, value)


def _cycle(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return make_seq(f, "iter", None, _stands_for(spread(m, f, at, or_unknown(argument(args, 0)))))


def _starmap(m: Machine, f: Frame, at: int, args: Args) -> Value:
    callee = or_unknown(argument(args, 0))
    items, rest = spread(m, f, at, or_unknown(argument(args, 1)))
    if items is not None and len(items) <= UNROLLED:
        return make_seq(f, "iter", [_call_spread(m, f, at, callee, item) for item in items])
    with repeated(f):
        return make_seq(f, "iter", None, _call_spread(m, f, at, callee, _stands_for((items, rest))))


def _call_spread(m: Machine, f: Frame, at: int, callee: Value, row: Value) -> Value:
    items, rest = spread(m, f, at, row)
    return evaluator.call(m, f, at, callee, Args(items) if items is not None else Args([], None, rest))


def _asks_truth(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """takewhile, dropwhile, filterfalse: some of the elements, chosen by a predicate."""
    predicate = or_unknown(argument(args, 0))
    element = _stands_for(spread(m, f, at, or_unknown(argument(args, 1))))
    with repeated(f):
        answer = element if predicate is NONE else evaluator.call(m, f, at, predicate, Args([element]))
    truths.truth(m, f, at, answer, "filter")
    return make_seq(f, "iter", None, element)


def _tee(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    size = args.get(1, "n")
    count = 2 if size is None else const_int(size)
    if count is None or not 0 <= count <= UNROLLED:
        return UNKNOWN
    return Tup(
        tuple([make_seq(f, "iter", None if items is None else list(items), rest) for _ in range(count)])
    )


def _pairwise(m: Machine, f: Frame, at: int, args: Args) -> Value:
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    if items is not None:
        return _rows(f, itertools.pairwise(items))
    return make_seq(f, "iter", None, Tup((or_unknown(rest), or_unknown(rest))))


def _batched(m: Machine, f: Frame, at: int, args: Args) -> Value:
    element = _stands_for(spread(m, f, at, or_unknown(argument(args, 0))))
    return make_seq(f, "iter", None, Seq("tuple", None, element, f.world.level))


_HANDLERS: Final[dict[str, Handler]] = {
    "accumulate": _accumulate,
    "batched": _batched,
    "chain": _chain,
    "chain.from_iterable": _chain_iterables,
    "combinations": _selection(itertools.combinations),
    "combinations_with_replacement": _selection(itertools.combinations_with_replacement),
    "count": _count,
    "cycle": _cycle,
    "dropwhile": _asks_truth,
    "filterfalse": _asks_truth,
    "islice": _islice,
    "pairwise": _pairwise,
    "permutations": _selection(itertools.permutations),
    "product": _product,
    "repeat": _repeat,
    "starmap": _starmap,
    "takewhile": _asks_truth,
    "tee": _tee,
    "zip_longest": _zip_longest,
}

ITERTOOLS_CALLS: Final[dict[str, Handler]] = {
    f"itertools.{name}": handler for name, handler in _HANDLERS.items()
}
"""Dotted name to handler."""
