"""What is stored into a box that is one of several arrives in each of them, perhaps."""

from __future__ import annotations

from jitlint.infer import changes
from jitlint.infer.lattice import join
from jitlint.infer.values import FLOAT, INT, STR, UNKNOWN, Arr, Map, S, Seq, Union, Value, py


def either(a: Value, b: Value) -> Map:
    made = join(a, b)
    assert isinstance(made, Map)
    return made


def test_a_known_key_is_joined_with_what_was_there() -> None:
    first, second = Map({"x": INT}), Map({})
    changes.put(either(first, second), py("x"), FLOAT, strong=False)
    assert isinstance(first.entries["x"], Union)
    assert second.entries == {}
    assert second.rest is FLOAT


def test_a_tracer_that_outlives_its_trace_is_no_tracer_of_who_reads_it() -> None:
    older, younger = Map({"x": INT}, level=0), Map({"x": INT}, level=1)
    changes.put(either(older, younger), py("x"), Arr(S, level=1), strong=False)
    assert older.entries["x"] is UNKNOWN
    assert younger.entries["x"] is not UNKNOWN


def test_a_key_that_is_lost_is_perhaps_lost_everywhere() -> None:
    first, second = Map({"x": INT, "y": INT}), Map({"y": STR})
    changes.lose(either(first, second), py("x"), strong=False)
    assert "x" not in first.entries
    assert first.rest is INT
    assert second.rest is None


def test_lists_are_as_long_as_nobody_knows() -> None:
    first, second = Seq("list", [INT]), Seq("list", [INT, INT])
    made = join(first, second)
    assert isinstance(made, Seq)
    changes.widen(made, STR)
    assert first.items is None
    assert second.items is None
    changes.put_at(made, 0, FLOAT, strong=False)
    assert isinstance(first.rest, Union)


def test_a_place_that_both_have_is_joined() -> None:
    first, second = Seq("list", [INT]), Seq("list", [INT])
    made = join(first, second)
    assert isinstance(made, Seq)
    changes.put_at(made, 0, STR, strong=True)
    assert made.items == [STR]
    assert isinstance(first.items, list)
    assert isinstance(first.items[0], Union)


def test_joins_of_joins_reach_the_boxes_that_they_are_made_of() -> None:
    boxes = [Seq("list", [py(i)]) for i in range(50)]
    made: Value = boxes[0]
    for box in boxes[1:]:
        made = join(made, box)
    assert isinstance(made, Seq)
    changes.widen(made, STR)
    assert all(box.items is None for box in boxes)
    assert len(changes.reached(made)) < 2 * len(boxes)
