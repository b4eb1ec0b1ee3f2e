"""Builtins that make, walk or order sequences: range, zip, map, sum, max, sorted, list, dict (layer: ``link``, room ``models``).

Elements are kept one by one where all are known; otherwise one value stands for all of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Final

from jitlint.infer.changes import forget_length
from jitlint.infer.counted import LONGEST, ranging
from jitlint.infer.events import Convert
from jitlint.infer.lattice import join, joined, or_unknown, seq_element
from jitlint.infer.values import (
    INT,
    NO_CONST,
    NONE,
    SETS,
    STR,
    UNKNOWN,
    Arr,
    Inst,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.budgets import MAX_ITEMS, UNROLLED
from jitlint.link.engine.domain import Change
from jitlint.link.engine.events import STAGED_OR_BATCHED, emit_convert, emit_truth, hurt
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import hashing, iteration, operators
from jitlint.link.values.boxes import (
    argument,
    collect,
    const_int,
    each,
    is_array,
    make_map,
    make_seq,
    owned,
    put,
    put_all,
    repeated,
    spread,
)
from jitlint.link.values.questions import longest, truths
from jitlint.link.values.questions.kinds import find_method

MAX_RANGE: Final = 64
"""A range of at most this length is kept number by number."""

Handler = Callable[[Machine, Frame, int, Args], Value]


def make_range(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``range(...)``: a tracer among the bounds is recorded."""
    bounds = args.pos + ([args.more] if args.more is not None else [])
    if any(emit_convert(m, f, at, bound, "range") for bound in bounds):
        return make_seq(f, "range", None, INT)
    consts = [const_int(bound) for bound in args.pos]
    known = [const for const in consts if const is not None]
    if args.more is None and 1 <= len(known) == len(consts) <= 3 and (len(known) < 3 or known[2] != 0):
        numbers = range(*known)
        if len(numbers) <= MAX_RANGE:
            return make_seq(f, "range", [py(number) for number in numbers])
        return make_seq(f, "range", None, Py("int", counted=ranging(f.module.name, at, numbers)))
    return make_seq(f, "range", None, INT)


def length(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``len(x)``: static for arrays; an instance answers with its own ``__len__``."""

    def one(value: Value) -> Value:
        method = find_method(value, "__len__") if isinstance(value, (Inst, Tup)) else None
        if method is not None:
            return evaluator.call(m, f, at, method, Args([value]))
        if type(value) is Inst:
            return UNKNOWN
        if type(value) is Arr:
            return _rows(m, f, at, value)
        if type(value) is Py:
            return py(len(value.const)) if isinstance(value.const, (str, bytes)) else INT
        items = iteration.known_items(value)
        if items is not None:
            return INT if type(value) is Seq and value.kind in SETS else py(len(items))
        return UNKNOWN if value is UNKNOWN else INT

    return each(or_unknown(argument(args, 0)), one)


def _rows(m: Machine, f: Frame, at: int, array: Arr) -> Value:
    """How long an array is along its first axis, if it has one."""
    if array.rank == 0 and array.dtype != "key" and array.modes:
        m.emit(f, Convert, at, array, to="len")
    if array.dims and array.dims[0] is not None:
        return py(array.dims[0])
    return INT if array.about.rows is None else Py("int", counted=array.about.rows)


def converter(kind: str) -> Handler:
    """The handler of ``list(x)``, ``tuple(x)``, ``iter(x)``, ``deque(x)``."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        source = argument(args, 0, "iterable")
        if source is None:
            return Tup(()) if kind == "tuple" else make_seq(f, kind, [])
        if kind == "iter" and type(source) is Seq and source.kind == "iter":
            return source
        return collect(m, f, at, source, kind)

    return handler


def set_maker(kind: str) -> Callable[[Machine, Frame, int, Args], Value]:
    """The handler of ``set(x)`` or ``frozenset(x)``: both hash the elements."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        source = argument(args, 0)
        if source is None:
            return make_seq(f, kind, [])
        out = collect(m, f, at, source, kind)
        if type(source) is Tree and source.evidence != "array":
            return out  # perhaps a dict, whose keys are hashed
        for alt in alternatives(out):
            element = seq_element(alt)
            if element is not None and hashing.hashed(m, f, at, element, "set member"):
                break
        return out

    return handler


def make_dict(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``dict(mapping_or_pairs, **more)``; a dict of an unknown pytree is that pytree."""
    source = argument(args, 0)
    if type(source) is Tree and not args.kw:
        return Tree(source.modes, source.why, source.level, source.traced, "map")
    out = make_map(f, {})
    if source is not None:
        put_all(m, f, at, out, source)
    for key, value in args.kw.items():
        put(m, f, at, out, py(key), value)
    if args.kw_more is not None:
        put(m, f, at, out, STR, args.kw_more)
    return out


def dict_fromkeys(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``dict.fromkeys(keys, value=None)``."""
    keys, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    value = args.get(1, "value") or NONE
    out = make_map(f, {})
    for key in keys if keys is not None else [or_unknown(rest)]:
        hashing.hashed(m, f, at, key, "dict key")
        put(m, f, at, out, key, value)
    return out


def make_enumerate(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``enumerate(x, start=0)``: pairs with static numbers."""
    items, rest = spread(m, f, at, or_unknown(argument(args, 0, "iterable")))
    start = args.get(1, "start")
    first = 0 if start is None else const_int(start)
    if items is None:
        return make_seq(f, "iter", None, Tup((INT, or_unknown(rest))))
    numbers = [INT if first is None else py(first + i) for i in range(len(items))]
    return make_seq(f, "iter", [Tup(pair) for pair in zip(numbers, items)])


def make_zip(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``zip(a, b, ...)``: the shortest known length when all are known."""
    columns = [spread(m, f, at, value) for value in args.pos]
    if args.more is not None:
        return _zip_of_more(m, f, at, columns, args.more)
    known = [items for items, _ in columns if items is not None]
    if len(known) == len(columns):
        return make_seq(f, "iter", [Tup(row) for row in zip(*known)])
    if any(not items for items in known):
        return make_seq(f, "iter", [])
    return make_seq(f, "iter", None, Tup(tuple(_elements(columns))))


def _zip_of_more(
    m: Machine, f: Frame, at: int, columns: list[tuple[list[Value] | None, Value | None]], more: Value
) -> Value:
    """``zip(a, *rows)`` of nobody knows how many rows: each of as many items as they are known to have goes by itself."""
    known = [items for items, _ in (*columns, spread(m, f, at, more)) if items is not None]
    if len(known) == len(columns) + 1:
        rows: list[Value] = [Seq("tuple", None, joined(row), f.world.level) for row in zip(*known)]
        return make_seq(f, "iter", rows)
    inner = joined([*_elements(columns), iteration.element(m, f, at, more)])
    return make_seq(f, "iter", None, Seq("tuple", None, inner, f.world.level))


def _elements(columns: list[tuple[list[Value] | None, Value | None]]) -> list[Value]:
    return [or_unknown(rest if items is None else joined(items)) for items, rest in columns]


def make_map_object(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``map(f, xs, ...)`` calls the function: per element when they are few, else once on their join."""
    callee = or_unknown(argument(args, 0))
    columns = [spread(m, f, at, value) for value in args.pos[1:]]
    if args.more is not None:
        with repeated(f):
            return make_seq(
                f,
                "iter",
                None,
                evaluator.call(m, f, at, callee, Args([], None, iteration.element(m, f, at, args.more))),
            )
    known = [items for items, _ in columns if items is not None]
    rows = list(zip(*known))
    if columns and len(known) == len(columns) and len(rows) <= UNROLLED:
        return make_seq(f, "iter", [evaluator.call(m, f, at, callee, Args(list(row))) for row in rows])
    with repeated(f):
        result = evaluator.call(m, f, at, callee, Args(_elements(columns)))
    if len(known) == len(columns) and len(rows) <= MAX_ITEMS:
        return make_seq(f, "iter", [result] * len(rows))
    return make_seq(f, "iter", None, result)


def make_filter(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``filter(p, xs)`` asks for the truth of what the predicate returns."""
    predicate = or_unknown(argument(args, 0))
    items, rest = spread(m, f, at, or_unknown(argument(args, 1)))
    if items is None or len(items) > UNROLLED:
        element = rest if items is None else joined(items)
        if element is not None:
            with repeated(f):
                _passes(m, f, at, predicate, element)
        return make_seq(f, "iter", None, element)
    kept: list[Value] = []
    certain = True
    for item in items:
        outcome = _passes(m, f, at, predicate, item)
        certain = certain and outcome is not None
        if outcome is not False:
            kept.append(item)
    return make_seq(f, "iter", kept if certain else None, joined(kept))


def _passes(m: Machine, f: Frame, at: int, predicate: Value, item: Value) -> bool | None:
    answer = item if predicate is NONE else evaluator.call(m, f, at, predicate, Args([item]))
    return truths.truth(m, f, at, answer, "filter")


def make_reversed(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``reversed(x)``."""
    items, rest = spread(m, f, at, or_unknown(argument(args, 0)))
    return make_seq(f, "iter", None if items is None else items[::-1], rest)


def take_next(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``next(iterator[, default])``; a known iterator of this region advances."""
    source = or_unknown(argument(args, 0))
    default = args.get(1, "")

    def one(alt: Value) -> Value:
        if type(alt) is Inst:
            method = find_method(alt, "__next__")
            return UNKNOWN if method is None else evaluator.call(m, f, at, method, Args([alt]))
        if type(alt) is Seq:
            if f.world.floor:
                m.domains.on_change(f, Change(at, alt, "next"))
            return advance(f, alt, default)
        found = iteration.element(m, f, at, alt)
        return found if default is None else join(found, default)

    return each(source, one)


def advance(f: Frame, iterator: Seq, default: Value | None) -> Value:
    """The next element of an iterator, which is consumed."""
    if iterator.items is not None and owned(f, iterator):
        if iterator.items:
            return iterator.items.pop(0)
        return or_unknown(default)
    found = seq_element(iterator)
    forget_length(iterator)
    if found is None:
        return or_unknown(default)
    return found if default is None else join(found, default)


def total(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``sum(xs, start=0)`` adds; arrays give an array."""
    return fold(m, f, at, "+", or_unknown(argument(args, 0)), args.get(1, "start") or py(0))


def fold(m: Machine, f: Frame, at: int, op: str, iterable: Value, start: Value) -> Value:
    """All elements combined by an operator."""

    def one(alt: Value) -> Value:
        items, rest = spread(m, f, at, alt)
        if items is not None and len(items) <= MAX_RANGE:
            out = start
            for item in items:
                out = operators.binary(m, f, at, op, out, item)
            return out
        element = joined(items) if items is not None else rest
        if element is None:
            return start
        once = operators.binary(m, f, at, op, _unfixed(start), _unfixed(element))
        twice = operators.binary(m, f, at, op, once, _unfixed(element))
        return twice if is_array(twice) or once is UNKNOWN else join(once, twice)

    return each(iterable, one)


def _unfixed(value: Value) -> Value:
    """A number that stands for many has no exact value."""
    if type(value) is Py and type(value.const) in (int, float) and value.const != 0:
        return Py(value.kind)
    return value


def order(
    m: Machine, f: Frame, at: int, items: list[Value], certain: bool, key: Value | None, form: str
) -> bool:
    """Compare elements as `sorted`, `min` and `max` do. Answers whether a tracer was asked for its truth.

    certain: these are all elements; otherwise each stands for any number of elements.
    """
    if certain and len(items) < 2:
        return False
    if key is not None and key is not NONE:
        with repeated(f):
            items = [evaluator.call(m, f, at, key, Args([item])) for item in items[: 2 * UNROLLED]]
    pairs = itertools.pairwise(items) if len(items) > 1 else [(item, item) for item in items]
    return any(_compared(m, f, at, a, b, form) for a, b in pairs)


def _compared(m: Machine, f: Frame, at: int, a: Value, b: Value, form: str) -> bool:
    """Tuples compare by their first parts; later parts only decide a tie."""
    if type(a) is Tup and type(b) is Tup and a.items and b.items:
        return _compared(m, f, at, a.items[0], b.items[0], form)
    if type(a) is Inst and type(b) is Inst:
        method = find_method(a, "__lt__")
        result = UNKNOWN if method is None else evaluator.call(m, f, at, method, Args([a, b]))
    else:
        result = operators.compare(m, f, at, "<", a, b)
    return emit_truth(m, f, at, result, form)


def _known_extreme(items: list[Value], form: str) -> Value | None:
    """The smallest or largest of constants."""
    consts = [item.const for item in items if type(item) is Py and isinstance(item.const, (int, float))]
    if not consts or len(consts) != len(items):
        return None
    return py(min(consts) if form == "min" else max(consts))


def extreme(form: str) -> Handler:
    """The handler of ``min`` or ``max``."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        key = args.kw.get("key")
        items, rest = _candidates(m, f, at, args)
        if items is not None and (key is None or key is NONE):
            known = _known_extreme(items, form)
            if known is not None:
                return known
        values = items if items is not None else [] if rest is None else [rest]
        order(m, f, at, values, items is not None, key, form)
        result = or_unknown(joined([_unfixed(value) for value in values]))
        found = hurt(result, STAGED_OR_BATCHED)
        if found is not None:
            return found
        default = args.kw.get("default")
        if form == "max" and (result is INT or result is UNKNOWN) and longest.is_taken(m, f, at):
            return Py("int", counted=LONGEST)
        return result if default is None or items else join(result, default)

    return handler


def _candidates(m: Machine, f: Frame, at: int, args: Args) -> tuple[list[Value] | None, Value | None]:
    """What `min` and `max` choose from: the arguments, or the elements of the only one."""
    if args.more is not None:
        return None, joined([*args.pos, args.more])
    if len(args.pos) != 1:
        return args.pos, None
    alts = alternatives(args.pos[0])
    if len(alts) == 1:
        return spread(m, f, at, alts[0])
    return None, joined(_elements([spread(m, f, at, alt) for alt in alts]))


def make_sorted(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``sorted(xs, key=..., reverse=...)`` gives a list of the same length."""
    items, rest = _candidates(m, f, at, Args(args.pos[:1], None, args.more if not args.pos else None))
    return make_seq(f, "list", *sort_items(m, f, at, items, rest, args))


def sort_items(
    m: Machine, f: Frame, at: int, items: list[Value] | None, rest: Value | None, args: Args
) -> tuple[list[Value] | None, Value | None]:
    """Elements in a sorted list: exactly for constants, else each position may hold any of them."""
    key = args.kw.get("key")
    values = items if items is not None else [] if rest is None else [rest]
    order(m, f, at, values, items is not None, key, "sorted")
    if items is None:
        return None, rest
    reverse = args.kw.get("reverse")
    backwards = False if reverse is None else reverse.const if type(reverse) is Py else NO_CONST
    consts = [item.const for item in items if type(item) is Py and isinstance(item.const, (int, float, str))]
    if len(consts) == len(items) and (key is None or key is NONE) and backwards is not NO_CONST:
        try:
            ordered: list[Any] = sorted(consts, reverse=bool(backwards))
        except TypeError:
            return None, joined(items)
        return [py(const) for const in ordered], None
    return [or_unknown(joined(items))] * len(items), None


def quantifier(form: str) -> Handler:
    """The handler of ``any`` or ``all``: the truth of each element until the answer is certain."""
    stop = form == "any"

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        def one(alt: Value) -> Value:
            items, rest = spread(m, f, at, alt)
            certain = items is not None
            for item in items if items is not None else [] if rest is None else [rest]:
                outcome = truths.truth(m, f, at, item, form)
                if outcome is stop and certain:
                    return py(stop)
                certain = certain and outcome is not None
            return py(not stop) if certain else Py("bool")

        return each(or_unknown(argument(args, 0)), one)

    return handler
