"""Domains that gather what happens in a function, and in those that it calls (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Generic, TypeVar

from jitlint.link.engine.domain import Activation, Domain
from jitlint.link.engine.frame import Frame, Slot

T = TypeVar("T")


class Gathering(Domain[frozenset[T]], Generic[T]):
    """Keeps things with the activation in which they happen; a remembered activation makes them happen again.

    slot: where they are kept, which `keeps` names as well.
    """

    slot: Slot[frozenset[T]]

    def note(self, f: Frame, things: frozenset[T]) -> None:
        """Things happen in an activation, on whichever side of the transforms that it calls."""
        frame: Frame | None = f if things else None
        while frame is not None:
            self.slot.put(frame, things | (self.slot.of(frame) or frozenset()))
            frame = frame.outer

    def summarise(self, inner: Frame, activation: Activation) -> frozenset[T] | None:
        """The things in it."""
        return self.slot.of(inner)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """They are the caller's too."""
        self.note(f, self.slot.of(inner) or frozenset())

    def replay(self, f: Frame, activation: Activation, summary: frozenset[T]) -> None:
        """They happen again."""
        self.note(f, summary)
