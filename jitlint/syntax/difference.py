"""What an edit changes if it only changes bodies of functions (layer: ``syntax``).

Two intermediate forms of one file are compared without their origins, which an edit moves. If nothing is another but the
statements of a few functions, these fit into the older form: with origins beyond all others, and with the functions inside
them at the end. What it does not: say anything of other edits; a new function, another parameter or import is one.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from jitlint.syntax import ir
from jitlint.syntax.children import below

MOST_FUNCTIONS: Final = 20
"""So many functions may have changed: who changes more does not type."""

NEW: Final = 1 << 40
"""The first origin of what is new. Files have fewer."""


@dataclass(slots=True)
class Patch:
    """Other bodies for functions of an older form.

    functions: by their numbers there. added: functions inside them, which come after all others. quoted: origins in
    annotations that are strings, as in `ir.Module`.
    """

    functions: dict[int, ir.Function] = field(default_factory=dict)
    added: list[ir.Function] = field(default_factory=list)
    quoted: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Origins:
    """Origins of an older form with a patch, as the newer form counts. ends: the last origins of what is replaced; shifts:
    by how much those after it are moved."""

    ends: list[int] = field(default_factory=list)
    shifts: list[int] = field(default_factory=list)

    def newer(self, at: int) -> int:
        """What an origin is called in the newer form."""
        if at >= NEW:
            return at - NEW
        before = bisect_left(self.ends, at)
        return at + self.shifts[before - 1] if before else at


def difference(older: ir.Module, newer: ir.Module) -> tuple[Patch, Origins] | None:
    """What makes the newer form of the older one; None if that is more than other bodies of a few functions."""
    if older.mentions != newer.mentions:
        return None
    groups = list(zip(_groups(older), _groups(newer)))
    numbers = {old[0]: new[0] for old, new in groups}
    if sum(len(old) for old, _ in groups) != len(older.functions):
        return None
    if sum(len(new) for _, new in groups) != len(newer.functions):
        return None
    compare = _Comparison(numbers)
    if not compare(older.body, newer.body):
        return None
    patch, origins = Patch(), Origins()
    for old, new in groups:
        if not compare.headers(older.functions[old[0]], newer.functions[new[0]]):
            return None
        if not _same_bodies(older, newer, old, new):
            if len(patch.functions) == MOST_FUNCTIONS:
                return None
            _replace(older, newer, old, new, patch)
            end, now = _last(older, old), _last(newer, new)
            origins.ends.append(end)
            origins.shifts.append(now - end)
    return patch, origins


def _groups(module: ir.Module) -> list[list[int]]:
    """The functions that are in no other, each with those inside it, in order."""
    inside: dict[str, list[int]] = {}
    found: list[list[int]] = []
    for number, function in enumerate(module.functions):
        outer, local, _ = function.qualname.partition(".<locals>.")
        if local and outer in inside:
            inside[outer].append(number)
        else:
            inside[outer] = [number]
            found.append(inside[outer])
    return found


def _same_bodies(older: ir.Module, newer: ir.Module, old: list[int], new: list[int]) -> bool:
    """Whether functions, and those inside them, say the same."""
    if len(old) != len(new):
        return False
    pairs = [(older.functions[a], newer.functions[b]) for a, b in zip(old, new)]
    if old == new and all(a == b for a, b in pairs):
        return True
    compare = _Comparison(dict(zip(old, new)))
    return all(
        (number == 0 or compare.headers(a, b))  # that of the outermost is compared already
        and a.local_names == b.local_names
        and a.nonlocal_names == b.nonlocal_names
        and (a.body == b.body or compare(ir.decode_body(a.body), ir.decode_body(b.body)))
        for number, (a, b) in enumerate(pairs)
    )


def _last(module: ir.Module, group: list[int]) -> int:
    """The last origin in a function."""
    return max(node.at for number in group for node in below(ir.decode_body(module.functions[number].body)))


def _replace(older: ir.Module, newer: ir.Module, old: list[int], new: list[int], patch: Patch) -> None:
    """Note another body. What stands in front of it stays, and so do its origins."""
    first = len(older.functions) + len(patch.added)
    moved = _Moved({number: first + place for place, number in enumerate(new[1:])})
    before, after = older.functions[old[0]], newer.functions[new[0]]
    patch.functions[old[0]] = msgspec.structs.replace(
        before,
        local_names=after.local_names,
        nonlocal_names=after.nonlocal_names,
        body=moved.body(after.body),
    )
    patch.added += [moved.function(newer.functions[number]) for number in new[1:]]
    begin, end = _first(after), _last(newer, new)
    patch.quoted += [NEW + at for at in newer.quoted if begin <= at <= end]


def _first(function: ir.Function) -> int:
    return min(statement.at for statement in ir.decode_body(function.body))


_ORIGINS: Final = frozenset({"at", "name_at", "first_at"})
_NUMBERS: Final = frozenset({"function"})
_OF_BODIES: Final = frozenset({"body", "local_names", "nonlocal_names"})


class _Comparison:
    """Whether nodes are the same, whatever their origins. numbers: functions of the older form with those of the newer."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self._numbers = numbers

    def __call__(self, a: Any, b: Any) -> bool:
        pairs: list[tuple[Any, Any]] = [(a, b)]
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if a.__class__ is not b.__class__:
                return False
            if a.__class__ is list:
                if len(a) != len(b):
                    return False
                pairs += zip(a, b)
                continue
            fields = getattr(a, "__struct_fields__", None)
            if fields is None:
                if a != b or str(a) != str(b):  # 0.0 and -0.0
                    return False
                continue
            for name in fields:
                if name in _NUMBERS:
                    if self._numbers.get(a.function) != b.function:
                        return False
                elif name not in _ORIGINS:
                    pairs.append((getattr(a, name), getattr(b, name)))
        return True

    def headers(self, a: ir.Function, b: ir.Function) -> bool:
        """Whether functions are the same, their bodies aside."""
        return all(
            self(getattr(a, name), getattr(b, name))
            for name in ir.Function.__struct_fields__
            if name not in _ORIGINS and name not in _OF_BODIES
        )


class _Moved:
    """Copies nodes, with origins of their own. numbers: what the functions inside them are now."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self._numbers = numbers

    def __call__(self, node: Any) -> Any:
        if node.__class__ is list:
            return [self(each) for each in node]
        fields = getattr(node, "__struct_fields__", None)
        if fields is None:
            return node
        return node.__class__(*[self._field(node, name) for name in fields])

    def _field(self, node: Any, name: str) -> Any:
        value = getattr(node, name)
        if name in _ORIGINS:
            return NEW + value
        return self._numbers[value] if name in _NUMBERS else self(value)

    def body(self, data: bytes) -> bytes:
        """An encoded body."""
        return ir.encode_body(self(ir.decode_body(data)))

    def function(self, function: ir.Function) -> ir.Function:
        """A function inside of what is replaced."""
        copied: ir.Function = self(function)
        return msgspec.structs.replace(copied, body=self.body(function.body))
