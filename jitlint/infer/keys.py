"""Identities of PRNG keys and the record of which were consumed (layer: ``infer``).

What it is: a key is named by where it came from and how it was derived (child of a split, element of an array of
keys), so the same derivation gives the same name; the record is a value that lives among a scope's variables, where
joins of branches and fixpoints of loops treat it like any other. What it is not: a judge of what consumes a key;
that is `jitlint.link.domains.keys`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from jitlint.infer.values import Value

USES: Final = "$keys"
"""The name under which a scope holds its `KeyUses`."""

TYPED: Final = "key"
"""The function of ``jax.random`` that makes keys with a data type of their own."""
COPIES: Final = "copies"
"""The step from a key to an array that holds nothing but it."""

MAX_MEMBERS: Final = 4
MAX_JOINS: Final = 2


class Key:
    """One key, or one array of keys. Interned: equal derivations are the same object.

    parent: what it was derived from, None for a root. step: how, as ``("new", n)``, ``("const", scope, seed)``,
    ``("split", n, place)``, ``("item", index)``, ``("fold", data)``. joins: how often paths met on its way.
    """

    __slots__ = ("joins", "parent", "step")

    def __init__(self, parent: Key | None, step: tuple[Any, ...]) -> None:
        self.parent = parent
        self.step = step
        self.joins: int = 0 if parent is None else parent.joins

    def __repr__(self) -> str:
        return f"{self.parent or ''}/{self.step[0]}:{self.step[1] if len(self.step) > 1 else ''}"


class KeyNames:
    """The names that one session has given. count: of those that stand for a key that is no other. makers: the functions that
    made a key which is derived from none."""

    __slots__ = ("_known", "count", "makers")

    def __init__(self) -> None:
        self.count = 0
        self.makers: dict[Key, set[str]] = {}
        self._known: dict[tuple[Any, ...], Key] = {}

    def is_typed(self, key: Key) -> bool:
        """Whether a key certainly has a data type of its own, and is no array of numbers."""
        made = [self.makers.get(root_of(member)) for member in members_of(key)]
        return all(names == {TYPED} for names in made)

    def fresh(self) -> Key:
        """The name of a key that is no other key."""
        self.count += 1
        return Key(None, ("new", self.count))

    def derived(self, parent: Key | None, *step: Any) -> Key:
        """The name of a key derived from another, or from a constant; the same derivation gives the same name."""
        place = (parent, step)
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = Key(parent, step)
        return found


class Either(Key):
    """One of several keys, depending on the path taken."""

    __slots__ = ("members",)

    def __init__(self, members: frozenset[Key]) -> None:
        super().__init__(None, ("either",))
        self.members = members
        self.joins = 1 + max(member.joins for member in members)

    def __eq__(self, other: object) -> bool:
        return type(other) is Either and other.members == self.members

    def __hash__(self) -> int:
        return hash(self.members)


def root_of(key: Key) -> Key:
    """What a key was made of in the end."""
    while key.parent is not None:
        key = key.parent
    return key


def members_of(key: Key) -> frozenset[Key]:
    """The keys that a name may stand for."""
    return key.members if type(key) is Either else frozenset((key,))


def either(a: Key | None, b: Key | None) -> Key | None:
    """The name of a key that is one of two; None when one of them has no name."""
    if a is None or b is None:
        return None
    if a == b:
        return a
    members = members_of(a) | members_of(b)
    if len(members) > MAX_MEMBERS or any(member.joins >= MAX_JOINS for member in members):
        return None
    return Either(members)


@dataclass(frozen=True, slots=True)
class Use:
    """A consumption: the key, what for (``draw`` or a library's own stream), where, and the consuming call.

    site: the call in the function at hand through which it happens; the same as the place for a direct use.
    dims: the shape of what is drawn, None when that is not known. idle: it is split, and nobody has drawn from the parts yet.
    told: that all runs of a function have it in common was said further in. drawn: module, place and function of the call
    that JAX gets the key from in the end. returned: the function that has consumed it has given it back.
    staged: the code that draws is compiled. goes_on: what a call of it leaves is what the next one gets.
    """

    key: Key
    stream: str
    module: str
    at: int
    function: str
    api: str
    site: tuple[str, int]
    dims: tuple[int | None, ...] | None = None
    idle: bool = False
    told: bool = False
    drawn: tuple[str, int, str] = ("", 0, "")
    returned: bool = False
    staged: bool = False
    goes_on: bool = False


class KeyUses(Value):
    """Which keys were consumed on some path so far, with the first use of each."""

    __slots__ = ("table",)

    def __init__(self, table: dict[Any, Use]) -> None:
        self.table = table

    def merged(self, other: KeyUses) -> KeyUses:
        """Consumed on one path or the other."""
        if other.table.keys() <= self.table.keys():
            return self
        return KeyUses({**other.table, **self.table})


def descends(key: Key | None, from_: Key) -> bool:
    """Whether a key is another one, or was derived from it; of several keys, whether one of them was."""
    while key is not None and key is not from_:
        if type(key) is Either:
            return any(descends(member, from_) for member in key.members)
        key = key.parent
    return key is not None
