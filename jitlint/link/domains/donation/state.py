"""What is known about buffers at one point of a function: places, objects, the dead (layer: ``link``, room ``domains``).

An object is a *term*: ``("v", name)`` what a variable held at the start, ``("s", owner, key)`` what was at a path of
another object at the start, ``("n", number)`` something made since. Equal terms are certainly the same object,
whatever the names they go by; different terms may still be the same one, and then nothing is claimed.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

Term = tuple[Any, ...]

_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Kill:
    """A donation: module, origin and words of the call. name: what was given away. array: certainly one array. kept: what is
    gone is what an earlier turn of a loop has kept, unless it did so in the last one."""

    module: str
    at: int
    callee: str
    name: str
    array: bool
    kept: bool = False


def fresh() -> Term:
    """A term for something new."""
    return ("n", next(_numbers))


def root(term: Term) -> Term:
    """The object that a path starts from."""
    while term[0] == "s":
        term = term[1]
    return term


@dataclass(slots=True)
class State:
    """env: variables. heap: what is stored at (owner, key); key ``*``: whatever else the owner holds by now.

    dead: killed objects. held: objects that somebody else has a view of, which JAX therefore cannot take over.
    """

    env: dict[str, Term] = field(default_factory=dict)
    heap: dict[tuple[Term, str], Term] = field(default_factory=dict)
    dead: dict[Term, Kill] = field(default_factory=dict)
    held: set[Term] = field(default_factory=set)

    def copy(self) -> State:
        """An independent copy."""
        return State(dict(self.env), dict(self.heap), dict(self.dead), set(self.held))

    def name(self, name: str) -> Term:
        """What a variable holds."""
        return self.env.get(name) or ("v", name)

    def part(self, owner: Term, key: str) -> Term:
        """What is at a path of an object."""
        found = self.heap.get((owner, key))
        if found is not None:
            return found
        return ("s", self.heap.get((owner, "*"), owner), key)

    def store(self, owner: Term, key: str, value: Term) -> None:
        """Put an object at a path."""
        self.heap[owner, key] = value

    def forget(self, owner: Term) -> None:
        """Somebody may have replaced what the object holds."""
        if self.killed(owner) is not None:
            return
        for entry in [entry for entry in self.heap if entry[0] == owner]:
            del self.heap[entry]
        self.heap[owner, "*"] = fresh()

    def kill(self, term: Term, kill: Kill) -> None:
        """Give an object away with everything that is in it."""
        if term in self.held:
            return
        self.dead[term] = kill
        for (owner, _), value in list(self.heap.items()):
            if owner == term and value not in self.dead:
                self.kill(value, kill)

    def killed(self, term: Term) -> Kill | None:
        """The donation that took an object, or one that it is a part of."""
        while True:
            found = self.dead.get(term)
            if found is not None:
                return found
            if term[0] != "s":
                return None
            term = term[1]

    def revive(self, term: Term) -> None:
        """The loss was reported: what comes after it never runs."""
        while term not in self.dead and term[0] == "s":
            term = term[1]
        self.dead.pop(term, None)


def join(a: State, b: State) -> State:
    """Where two paths meet: dead is what is dead on both."""
    out = State(dead={term: kill for term, kill in a.dead.items() if b.killed(term)}, held=a.held | b.held)
    out.dead |= {term: kill for term, kill in b.dead.items() if a.killed(term)}
    for name in {**a.env, **b.env}:
        out.env[name] = _either(out, a, b, a.name(name), b.name(name))
    for owner, key in {**a.heap, **b.heap}:
        if key == "*":
            one, two = a.heap.get((owner, key)), b.heap.get((owner, key))
            out.heap[owner, key] = one if one is not None and one == two else fresh()
        else:
            out.heap[owner, key] = _either(out, a, b, a.part(owner, key), b.part(owner, key))
    return out


def _either(out: State, a: State, b: State, one: Term, two: Term) -> Term:
    if one == two:
        return one
    both = fresh()
    first = a.killed(one)
    if first is not None and b.killed(two) is not None:
        out.dead[both] = first
    return both


def join_all(states: list[State]) -> State | None:
    """The join of several states; None when there are none."""
    out: State | None = None
    for state in states:
        out = state if out is None else join(out, state)
    return out
