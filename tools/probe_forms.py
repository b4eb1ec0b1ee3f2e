"""Finds the form of a rank that foretells every call that was made (see ``probe_ranks.py``).

A form is simple, or it is not taken: the fewest questions left open, then the fewest forms. What an optional parameter
does to a result counts as known only where calls with another value than its default say so, for arrays of several
ranks.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from probe_calls import Call, value_of

from jitlint.catalogue.ranks import Argument, Form, Rank
from jitlint.catalogue.schema import VAR_POSITIONAL, ApiFunction

RANKS = (0, 1, 2, 3, 4)
MOST_GROUPS = 12
"""Sets of arrays that are tried beside one and all of them."""

AXES = frozenset({"axis", "axes", "dimensions", "dimension", "dims"})
SHAPES = frozenset({"shape", "sizes", "new_shape", "new_sizes", "num"})
PLAIN = (int, float, str, tuple, type, type(None))
"""What says everything about itself: a file has contents."""
NO_ARRAY = -1
EVERY_PART = -1
"""All arrays of a result, which are alike."""


@dataclass(slots=True)
class Seen:
    """One call that worked: its arguments by parameter, and the rank of the result (`NO_ARRAY`: something else).

    telling: the parameters that do not have their default value.
    """

    arguments: dict[str, Argument]
    rank: int
    telling: frozenset[str]


@dataclass(slots=True)
class Subject:
    """A function with its calls. name: what is called; fn: the entry whose parameters name the arguments.

    arrays: the parameters of all calls that hold arrays of any rank. part: which array of a result of several is asked
    about, None where it is one.
    """

    name: str
    fn: ApiFunction
    calls: list[Call]
    defaults: dict[str, Any] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    made: set[tuple[str, str]] = field(default_factory=set)
    part: int | None = None


def simple_forms(subject: Subject, arrays: list[str]) -> Iterator[Form]:
    """Forms that could foretell the rank, the simplest first."""
    names = [p.name for p in subject.fn.parameters]
    for rank in RANKS:
        yield Form("fixed", (), rank)
    first = arrays[:1]
    axes = [name for name in names if name in AXES]
    keep = [name for name in names if name == "keepdims"]
    for source, axis in itertools.product(first, axes):
        if keep:
            yield Form("reduce", (source, axis, keep[0]))
        yield Form("reduce", (source, axis))
        yield Form("along", (source, axis))
        yield Form("drop", (source, axis))
        yield Form("insert", (source, axis))
    more = tuple(subject.arrays)
    groups = [(name,) for name in arrays]
    groups += [group for n in range(2, len(arrays)) for group in itertools.combinations(arrays, n)][
        :MOST_GROUPS
    ]
    groups += [group for group in (tuple(arrays), more) if len(group) > 1]
    for plus, group in itertools.product((0, 1, -1, 2, -2), groups):
        yield Form("broadcast", group, plus)
    yield from (Form("solved", pair) for pair in itertools.combinations(arrays, 2))


def candidates(subject: Subject, arrays: list[str]) -> Iterator[tuple[Form, ...]]:
    shapes = [Form("shape", (p.name,)) for p in subject.fn.parameters if p.name in SHAPES]
    starred = [p.name for p in subject.fn.parameters if p.kind == VAR_POSITIONAL]
    flat = [Form("flat", (p.name,)) for p in subject.fn.parameters if p.name in AXES and p.optional]
    for form in flat:
        yield from ((form, other) for other in simple_forms(subject, arrays))
    for shape in (*shapes, *(Form("shape", (name,)) for name in starred)):
        yield (shape,)
        for form in simple_forms(subject, arrays):
            yield (shape, form)
    for form in simple_forms(subject, arrays):
        yield (form,)


def fitting(subject: Subject, forms: tuple[Form, ...], arrays: list[str]) -> Rank | None:
    """These forms with what they cannot foretell behind ``unless``, or None when they do not fit."""
    used = {name for form in forms for name in form.names}
    optional = {p.name for p in subject.fn.parameters if p.optional} - used
    static = {p.name for p in subject.fn.parameters if p.must_be_static}
    rank = Rank(forms)
    while True:
        wrong = [seen for seen in subject.seen if contradicts(rank, seen)]
        if not wrong:
            break
        blamed = Counter(name for seen in wrong for name in optional if present(seen, name))
        if not blamed or not all(any(present(seen, name) for name in optional) for seen in wrong):
            return None
        deep = {
            name
            for name in blamed
            if all((s.arguments[name].rank or 0) > 0 for s in wrong if present(s, name))
        }
        name = max(sorted(blamed), key=lambda one: (blamed[one], one in deep))
        rest = {n for n in rank.unless if n.rstrip("+") != name}
        harmless = name in deep - static and f"{name}+" not in rank.unless
        rank = Rank(forms, tuple(sorted({*rest, f"{name}+" if harmless else name})))
    good = [seen for seen in subject.seen if seen.rank >= 0 and rank.of(seen.arguments) == seen.rank]
    proved = {name for name in optional if len(inputs([s for s in good if name in s.telling], arrays)) > 1}
    if not arrays or all(form.kind == "shape" for form in forms):
        proved = {name for seen in good for name in seen.telling}
    rank = Rank(
        forms, tuple(sorted({*rank.unless, *(optional - proved - {n.rstrip("+") for n in rank.unless})}))
    )
    good = [seen for seen in good if rank.of(seen.arguments) == seen.rank]
    fixed = any(form.kind == "fixed" for form in forms)
    plain = all(isinstance(value_of(text), PLAIN) for text in subject.calls[0].args)
    enough = len({seen.rank for seen in good}) > 1 or (
        fixed and (len(inputs(good, arrays)) > 1 or (plain and not arrays))
    )
    each = all(any(first_form(forms, seen) is form for seen in good) for form in forms)
    return rank if enough and each else None


def inputs(seen: list[Seen], arrays: list[str]) -> set[tuple[tuple[str, int | None], ...]]:
    """The different ranks that the arrays had."""
    return {tuple(sorted((n, a.rank) for n, a in one.arguments.items() if n in arrays)) for one in seen}


def first_form(forms: tuple[Form, ...], seen: Seen) -> Form | None:
    return next((form for form in forms if form.applies(seen.arguments)), None)


def present(seen: Seen, name: str) -> bool:
    return name in seen.arguments and seen.arguments[name].present


def contradicts(rank: Rank, seen: Seen) -> bool:
    foretold = rank.of(seen.arguments)
    return foretold is not None and foretold != seen.rank


def weight(subject: Subject, rank: Rank) -> tuple[int, int]:
    """How much a rank leaves open: less is better."""
    silent = sum(rank.of(seen.arguments) is None for seen in subject.seen if seen.rank >= 0)
    return silent, len(rank.forms)
