"""What a call has made is made anew for each later one, and what it has changed inside of its arguments is changed again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from jitlint.infer.values import UNKNOWN, Map, Seq, Tup, Value, const_of, py
from jitlint.link.engine import copies, effects


def _dict(**entries: Value) -> Map:
    return Map(dict(entries))


def _machine() -> Any:
    return SimpleNamespace(new_activation=lambda: -1)


def test_a_box_is_copied_once() -> None:
    shared = _dict(n=py(1))
    copier = copies.Copier(None, {})
    new = copier.value(Tup((shared, shared, py(2))))
    assert isinstance(new, Tup)
    first, second, number = new.items
    assert first is second
    assert first is not shared
    assert isinstance(first, Map)
    assert first.entries == shared.entries
    assert const_of(number) == 2


def test_a_box_inside_of_itself_is_copied() -> None:
    outer = _dict()
    outer.entries["self"] = outer
    new = copies.Copier(None, {}).value(outer)
    assert isinstance(new, Map)
    assert new is not outer
    assert new.entries["self"] is new


def test_what_was_there_before_is_the_same() -> None:
    old, inner = _dict(n=py(1)), _dict(m=py(2))
    made = _dict(old=old, inner=inner)
    new = copies.Copier(None, {id(old): old}).value(made)
    assert isinstance(new, Map)
    assert new.entries["old"] is old
    assert new.entries["inner"] is not inner


def test_without_boxes_nothing_is_new() -> None:
    value = Tup((py(1), UNKNOWN))
    assert copies.Copier(None, {}).value(value) is value


def test_too_many_boxes_are_told() -> None:
    copier = copies.Copier(None, {})
    copier.value(Seq("list", [_dict(n=py(i)) for i in range(200)]))
    assert copier.full


def test_what_was_there_is_found_in_arguments_and_what_was_read() -> None:
    deep = _dict(n=py(1))
    argument, read = _dict(deep=deep), _dict()
    known = copies.older(effects.watch({"a": argument}), [(read, [])])
    assert known is not None
    assert set(known) == {id(argument), id(deep), id(read)}


def test_changes_inside_are_made_again_inside_of_another_argument() -> None:
    inner = _dict(n=py(1))
    watched = effects.watch({"a": _dict(inner=inner)})
    inner.entries["n"] = py(2)
    _, found = effects.remembered(watched, UNKNOWN, [])
    assert found is not None
    other = _dict(n=py(1))
    frame: Any = SimpleNamespace(token=None)
    effects.replay(_machine(), frame, found, {"a": _dict(inner=other)})
    assert const_of(other.entries["n"]) == 2


def test_what_is_given_back_is_another_one_each_time() -> None:
    made = _dict(n=py(1))
    kept, found = effects.remembered(effects.watch({}), made, [])
    made.entries["n"] = py(5)
    assert found is not None
    frame: Any = SimpleNamespace(token=object())
    first, second = (effects.Again(_machine(), frame, found, {}).value(kept) for _ in range(2))
    assert isinstance(first, Map) and isinstance(second, Map)
    assert first is not second
    assert const_of(first.entries["n"]) == const_of(second.entries["n"]) == 1
