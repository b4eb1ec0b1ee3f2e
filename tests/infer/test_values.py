"""The laws of the abstract domain: joins cover both sides, keys tell values apart, unknown swallows everything."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jitlint.infer import freezing
from jitlint.infer.freezing import MAX_PARTS, Alternatives, freeze, freeze_all
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.keys import Key, KeyUses
from jitlint.infer.lattice import (
    JOIN_DEPTH,
    MAX_ALTERNATIVES,
    MAX_FUNCTIONS,
    join,
    parts,
    seq_element,
    traced_modes,
    why_of,
)
from jitlint.infer.program import ClassInfo, ModuleInfo
from jitlint.infer.values import (
    FALSE,
    FLOAT,
    FRESH,
    INT,
    NO_CONST,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    Arr,
    B,
    Class,
    Ext,
    Func,
    Grounded,
    Inst,
    L,
    Map,
    Mod,
    Partial,
    Py,
    S,
    Scope,
    Seq,
    SliceVal,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    Xform,
    alternatives,
    const_of,
    mode_letters,
    py,
)
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower


def _module() -> ModuleInfo:
    tree = lower("")
    assert isinstance(tree, ir.Module)
    return ModuleInfo("case", "case.py", False, False, tree, Scope({}, None, None, 0, 0, None))


def _joined(values: list[Value]) -> Value:
    out = values[0]
    for value in values[1:]:
        out = join(out, value)
    return out


MODULE = _module()
CLASSES = [ClassInfo(id, MODULE, name, name, 0, [], {}, {}, MODULE.scope) for id, name in enumerate("CD")]

MODES = st.integers(0, 7)
LEVELS = st.sampled_from([0, 1, 2, FRESH])
DTYPES = st.sampled_from(["int", "float", "bool", None])
KINDS = st.sampled_from(["list", "set", "tuple", "iter"])
GROUNDS = st.sampled_from([SEEN, GUESSED])
ARRAYS = st.builds(
    Arr,
    modes=MODES,
    dtype=DTYPES,
    rank=st.sampled_from([0, 1, None]),
    level=st.integers(0, 2),
    traced=GROUNDS,
    host=st.booleans(),
)
TREES = st.builds(
    Tree,
    modes=MODES,
    level=st.integers(0, 2),
    traced=GROUNDS,
    evidence=st.sampled_from(["", "array", "map"]),
)
CONSTANTS = st.builds(py, st.sampled_from([None, True, False, 0, 1, 2, 0.5, "a", "b", "c"]))
SCALARS = st.one_of(CONSTANTS, st.sampled_from([INT, FLOAT, STR]))
NAMED = st.sampled_from([Ext("jax.jit"), Ext("jax.vmap"), Class(CLASSES[0]), Class(CLASSES[1]), Mod(MODULE)])
LEAVES = st.one_of(SCALARS, ARRAYS, TREES, NAMED, st.just(UNKNOWN))


def _compounds(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    items = st.lists(inner, max_size=2)
    return st.one_of(
        st.builds(lambda found: Tup(tuple(found)), items),
        st.builds(Seq, KINDS, items, st.none(), LEVELS),
        st.builds(Seq, KINDS, st.none(), st.none() | inner, LEVELS),
        st.builds(Map, st.dictionaries(st.sampled_from("ab"), inner, max_size=2), st.none() | inner, LEVELS),
        st.builds(Inst, st.sampled_from(CLASSES), st.dictionaries(st.sampled_from("xy"), inner), LEVELS),
    )


SIMPLE = st.recursive(LEAVES, _compounds, max_leaves=4)
CLOSE = st.sampled_from(
    [py("a"), py("b"), STR, py(1), INT, NONE, Arr(S), Arr(S, "int", 0, level=1), Tup((py("a"),))]
)
VALUES = st.one_of(
    st.lists(SIMPLE, min_size=1, max_size=3).map(_joined),
    st.lists(CLOSE, min_size=1, max_size=4).map(_joined),
)


def key(value: Value) -> Any:
    """The structural key without the order of dictionary keys and attributes, whichever parts are one object."""

    def plain(frozen: Any) -> Any:
        if isinstance(frozen, frozenset):
            return frozenset(plain(part) for part in frozen)
        if isinstance(frozen, Alternatives):
            return frozenset(plain(part) for part in frozen.parts)
        if not isinstance(frozen, tuple):
            return frozen
        if frozen and frozen[0] in ("m", "i"):
            return tuple(
                frozenset(plain(pair) for pair in part)
                if isinstance(part, tuple) and _pairs(part)
                else plain(part)
                for part in frozen
            )
        return tuple(plain(part) for part in frozen)

    return plain(freeze(_copy(value)))


def _pairs(frozen: tuple[Any, ...]) -> bool:
    return all(isinstance(pair, tuple) and len(pair) == 2 for pair in frozen)


@given(VALUES, VALUES)
def test_join_is_commutative(a: Value, b: Value) -> None:
    assert key(join(a, b)) == key(join(b, a))


@given(VALUES)
def test_join_is_idempotent(a: Value) -> None:
    assert key(join(a, a)) == key(a)


@given(SIMPLE)
def test_a_value_joined_with_an_equal_one_stays_what_it_is(a: Value) -> None:
    copy = _copy(a)
    assert key(join(a, copy)) == key(a)


@given(VALUES, VALUES)
def test_a_join_covers_both_sides(a: Value, b: Value) -> None:
    both = join(a, b)
    assert key(join(both, a)) == key(both)
    assert key(join(both, b)) == key(both)


@given(VALUES, VALUES, VALUES)
def test_join_is_monotone(a: Value, more: Value, other: Value) -> None:
    """Up to the budget: more alternatives than are kept apart are widened to *unknown*, and a widening is not monotone."""
    assume(join(a, other) is not UNKNOWN or UNKNOWN in (a, other))
    larger = join(join(a, more), other)
    assert key(join(larger, join(a, other))) == key(larger)


@given(VALUES)
def test_unknown_absorbs(a: Value) -> None:
    assert join(a, UNKNOWN) is UNKNOWN
    assert join(UNKNOWN, a) is UNKNOWN


@given(VALUES, VALUES)
def test_alternatives_stay_few_and_flat(a: Value, b: Value) -> None:
    found = alternatives(join(a, b))
    assert len(found) <= MAX_ALTERNATIVES  # there are fewer functions than that
    if len(found) > 1:
        assert not any(type(one) is Union or one is UNKNOWN for one in found)


@given(VALUES, VALUES)
def test_a_join_forgets_no_tracer(a: Value, b: Value) -> None:
    both = join(a, b)
    if both is not UNKNOWN and not _holds_unknown(both):
        assert traced_modes(both, 9) == traced_modes(a, 9) | traced_modes(b, 9)


def _holds_unknown(value: Value) -> bool:
    return value is UNKNOWN or any(_holds_unknown(part) for part in parts(value))


def _copy(value: Value) -> Value:
    a: Any = value
    if type(value) is Tup:
        return Tup(tuple(_copy(item) for item in a.items))
    if type(value) is Seq:
        items = None if a.items is None else [_copy(item) for item in a.items]
        return Seq(a.kind, items, None if a.rest is None else _copy(a.rest), a.level)
    if type(value) is Map:
        rest = None if a.rest is None else _copy(a.rest)
        return Map({k: _copy(v) for k, v in a.entries.items()}, rest, a.level)
    if type(value) is Inst:
        return Inst(a.cls, {k: _copy(v) for k, v in a.attrs.items()}, a.level)
    if type(value) is Arr:
        return Arr(a.modes, a.dtype, a.rank, a.why, a.level, a.traced, a.host, kind=a.kind)
    if type(value) is Union:
        return Union(tuple(_copy(alt) for alt in a.alts))
    return value


@given(SIMPLE)
def test_equal_structures_have_equal_keys(a: Value) -> None:
    assert freeze(_copy(a)) == freeze(a)
    assert hash(freeze(_copy(a))) == hash(freeze(a))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Arr(S), Arr(B)),
        (Arr(S, "int"), Arr(S, "float")),
        (Arr(S, level=1), Arr(S, level=2)),
        (Arr(S, traced=GUESSED), Arr(S)),
        (Arr(0, host=True), Arr(0)),
        (Tree(S, evidence="map"), Tree(S)),
        (py(1), py(2)),
        (py(1), INT),
        (Tup((INT,)), Tup((INT, INT))),
        (Tup((INT,)), Seq("tuple", [INT])),
        (Seq("list", [INT]), Seq("list", None, INT)),
        (Seq("list", None, None), Seq("list", None, INT)),
        (Seq("list", [INT], level=1), Seq("list", [INT], level=2)),
        (Map({"a": INT}), Map({"b": INT})),
        (Map({"a": INT}), Map({"a": INT}, STR)),
        (Inst(CLASSES[0], {}), Inst(CLASSES[1], {})),
        (Inst(CLASSES[0], {"x": INT}), Inst(CLASSES[0], {"x": STR})),
        (Class(CLASSES[0]), Class(CLASSES[1])),
        (Ext("jax.jit"), Ext("jax.vmap")),
        (Partial(Ext("f"), [INT], {}), Partial(Ext("f"), [], {"n": INT})),
        (join(INT, NONE), INT),
    ],
)
def test_different_values_have_different_keys(a: Value, b: Value) -> None:
    assert freeze(a) != freeze(b)


def test_the_level_of_a_concrete_array_does_not_tell_it_apart() -> None:
    assert freeze(Arr(0, level=1)) == freeze(Arr(0, level=2))


def _nested(leaf: Value, depth: int) -> Value:
    for _ in range(depth):
        leaf = Tup((leaf,))
    return leaf


def test_keys_are_exact_at_any_depth_and_width() -> None:
    assert freeze(_nested(py(1), 50)) == freeze(_nested(py(1), 50))
    assert freeze(_nested(py(1), 50)) != freeze(_nested(py(2), 50))
    for last in (Tup, lambda items: Seq("list", list(items)), lambda items: Map(dict(enumerate(items)))):
        one, two = [last((*[py(0)] * 200, py(n))) for n in (1, 2)]
        assert freeze(one) != freeze(two)


@pytest.mark.parametrize(
    "value", [_nested(py(1), 2000), Tup(tuple(Tup((INT,)) for _ in range(MAX_PARTS)))], ids=["deep", "wide"]
)
def test_what_is_too_large_for_a_key_equals_nothing(value: Value) -> None:
    assert freeze(value) != freeze(value)


def test_which_parts_are_one_object_tells_values_apart() -> None:
    one, two = Seq("list", [INT]), Seq("list", [INT])
    assert freeze_all([one, two]) != freeze_all([one, one])
    assert freeze_all([one, two]) == freeze_all([two, one])
    pair = Tup((INT, STR))
    assert freeze_all([pair, pair]) == freeze_all([pair, Tup((INT, STR))])


def test_how_keys_are_related_tells_calls_apart() -> None:
    root, other = Key(None, ("new", 1)), Key(None, ("new", 2))
    child = Key(root, ("item", 0))
    calls = [(root, other), (root, root), (root, child), (child, root)]
    frozen = [freeze_all([Arr(0, "key", key=key) for key in call]) for call in calls]
    assert len(set(frozen)) == len(calls)
    assert freeze_all([Arr(0, "key", key=other), Arr(0, "key", key=root)]) == frozen[0]


def test_values_that_share_parts_have_short_keys() -> None:
    shared: Value = Tup((INT, STR))
    held = Map({})
    for n in range(200):
        shared = Tup((shared, shared))
        held.entries[f"k{n}"] = held
        if n == 80:
            assert hash(freeze(shared)) == hash(freeze(shared))
    assert freeze(held) == freeze(held)


def _chosen(depth: int) -> Value:
    """Boxes, each of them one of two, which something beside them refers to as well."""
    out: Value = py(1)
    for n in range(depth):
        left, right = Seq("list", [out]), Map({"k": out, "n": py(n)})
        out = Map({"either": Union((left, right)), "left": left, "right": right})
    return out


def test_boxes_inside_of_alternatives_have_short_keys() -> None:
    deep = 30
    assert hash(freeze(_chosen(deep))) == hash(freeze(_chosen(deep)))
    assert freeze(_chosen(deep)) == freeze(_chosen(deep))


def test_alternatives_have_no_order_unless_something_refers_to_one() -> None:
    left, right = Seq("list", [INT]), Map({"k": INT})
    one, two = Union((left, right)), Union((right, left))
    assert freeze(one) == freeze(two)
    assert hash(freeze(one)) == hash(freeze(two))
    assert freeze_all([one, left]) == freeze_all([Union((left, right)), left])
    assert freeze_all([one, left]) != freeze_all([one, right])
    assert freeze_all([one, left]) != freeze_all([two, right])


def test_lists_that_hold_themselves_are_joined_and_frozen() -> None:
    one, two = Seq("list", []), Seq("list", [])
    assert one.items is not None and two.items is not None
    one.items.append(one)
    two.items.extend([two, two])
    assert freeze(one) != freeze(two)
    joined = join(one, two)
    assert type(joined) is Seq and joined.items is None


def test_parts_that_are_shared_are_joined_once() -> None:
    one: Value = Tup((py(1),))
    two: Value = Tup((py(2),))
    for _ in range(JOIN_DEPTH - 2):
        one, two = Tup((one,) * 20), Tup((two,) * 20)  # 20 ** 6 ways to the bottom
    joined = join(one, two)
    assert type(joined) is Tup and len(set(map(id, joined.items))) == 1


def test_more_alternatives_than_allowed_are_unknown() -> None:
    names = [py(letter) for letter in "abcdefg"]
    assert len(alternatives(_joined([*names[:MAX_ALTERNATIVES]]))) == MAX_ALTERNATIVES
    assert _joined([*names[: MAX_ALTERNATIVES + 1]]) is UNKNOWN


def test_more_functions_may_be_meant() -> None:
    functions = [Ext(f"jax.numpy.f{number}") for number in range(MAX_FUNCTIONS + 1)]
    assert len(alternatives(_joined(functions[:-1]))) == MAX_FUNCTIONS
    assert _joined(functions) is UNKNOWN
    assert _joined([*functions[:MAX_ALTERNATIVES], py(1)]) is UNKNOWN


def test_a_value_that_grows_takes_in_the_alternatives_it_covers() -> None:
    assert join(join(py("a"), py("b")), STR) is STR
    mixed = join(join(py("a"), INT), STR)
    assert [repr(one) for one in alternatives(mixed)] == [repr(STR), repr(INT)]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (py(1), py(2), INT),
        (py("a"), py("a"), py("a")),
        (py("a"), STR, STR),
        (Arr(S, "int", 0), Arr(B, "int", 1), Arr(S | B, "int", None)),
        (Arr(S, level=1), Arr(S, level=2), Arr(S, level=2)),
        (Tree(S, evidence="map"), Tree(S, evidence="seq"), Tree(S)),
        (Tup((py(1), INT)), Tup((py(2), INT)), Tup((INT, INT))),
        (Seq("list", [INT], level=2), Seq("list", [INT], level=1), Seq("list", [INT], level=2)),
        (Seq("list", [INT]), Seq("list", [INT, INT]), Seq("list", None, INT)),
        (Seq("list", []), Seq("list", [STR]), Seq("list", None, STR)),
        (Map({"a": INT}), Map({"b": STR}), Map({"a": INT, "b": STR})),
        (Map({}, INT), Map({}, py(1)), Map({}, INT)),
    ],
)
def test_what_two_of_a_kind_become(a: Value, b: Value, expected: Value) -> None:
    assert freeze(join(a, b)) == freeze(expected)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (INT, NONE),
        (py("a"), py("b")),
        (Arr(S), Arr(0)),
        (Arr(0, host=True), Arr(0)),
        (Arr(S, traced=GUESSED), Arr(S)),
        (Tup((INT,)), Tup((INT, INT))),
        (Tup((INT,), CLASSES[0]), Tup((INT,))),
        (Seq("list", [INT]), Seq("set", [INT])),
        (Inst(CLASSES[0], {}), Inst(CLASSES[1], {})),
        (Ext("jax.jit"), Ext("jax.vmap")),
    ],
)
def test_what_stays_apart(a: Value, b: Value) -> None:
    assert alternatives(join(a, b)) == (a, b)


def test_instances_keep_the_attributes_of_both_sides() -> None:
    left, right = Inst(CLASSES[0], {"x": py(1)}, open=True), Inst(CLASSES[0], {"x": py(2), "y": STR})
    left.modes, left.why = S, "parameter `c`"
    joined = join(left, right)
    assert type(joined) is Inst
    assert joined.attrs["y"] is STR and freeze(joined.attrs["x"]) == freeze(INT)
    assert (joined.open, joined.modes, joined.why) == (True, S, "parameter `c`")


def test_constants() -> None:
    assert (py(None), py(True), py(False)) == (NONE, TRUE, FALSE)
    assert const_of(py(3)) == 3 and const_of(NONE) is None
    assert const_of(INT) is NO_CONST and const_of(Arr(S)) is NO_CONST
    assert isinstance(py(1.5), Py) and py(1.5).kind == "float"


def test_mode_letters() -> None:
    assert [mode_letters(modes) for modes in (0, S, B, L, S | B | L)] == ["", "S", "B", "L", "SBL"]


def test_the_element_of_a_sequence() -> None:
    assert seq_element(Seq("list", [])) is None
    assert seq_element(Seq("list", None, None)) is None
    assert freeze(seq_element(Seq("list", [py(1), py(2)])) or UNKNOWN) == freeze(INT)
    assert seq_element(Seq("list", None, STR)) is STR


def test_the_parts_of_containers() -> None:
    assert parts(Tup((INT, STR))) == [INT, STR]
    assert parts(Seq("list", None, None)) == []
    assert parts(Map({"a": INT}, STR)) == [INT, STR]
    assert parts(Inst(CLASSES[0], {"x": INT})) == [INT]
    assert parts(SliceVal(INT, None, STR)) == [INT, STR]
    assert parts(Partial(Ext("f"), [INT], {"n": STR})) == [INT, STR]
    assert parts(join(INT, STR)) == [INT, STR]
    assert parts(INT) == []


def test_tracers_are_found_inside_containers_with_their_reason() -> None:
    tracer = Arr(S, why="parameter `x` of `f`")
    nested = Tup((INT, Map({"a": Seq("list", [Arr(0, why="made here"), tracer])})))
    assert traced_modes(nested) == S
    assert why_of(nested) == "parameter `x` of `f`"
    assert traced_modes(Tup((INT, Arr(0)))) == 0
    assert why_of(Arr(0, why="made here")) == ""
    assert traced_modes(Tup((Arr(B), Tree(L)))) == B | L


TOLD: dict[type, set[str]] = {
    Arr: {"why"},
    Tree: {"why"},
    Seq: {"one_of"},
    Map: {"one_of"},
    Inst: {"born", "like", "one_of", "why"},
    Func: {"born", "owner", "wraps"},
    Xform: {"born", "called", "module", "origin"},
}
"""What keys leave out: how it is told, when it was made, what the rest says already, and which boxes a change of this one reaches:
a remembered call changes those of the call at hand."""


@pytest.mark.parametrize(
    "kind", Value.__subclasses__() + Grounded.__subclasses__(), ids=lambda kind: kind.__name__
)
def test_keys_read_every_slot(kind: type) -> None:
    """Whoever adds a slot to a value decides whether it tells calls apart: see `freezing`."""
    if kind in (Unknown, Union, KeyUses, Grounded):
        return
    written = inspect.getsource(freezing)
    slots = {slot for base in kind.__mro__ for slot in getattr(base, "__slots__", ())}
    for slot in slots - TOLD.get(kind, set()):
        assert f"a.{slot}" in written, f"{kind.__name__}.{slot}"
