"""What an analysis says, as short lines: kind and fields of each event, where, how sure, and which steps lead there."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from jitlint.infer.events import AnyEvent
from jitlint.infer.places import Event
from jitlint.link.program import Analysis
from tests.link.sources import run

_COMMON = {field.name for field in dataclasses.fields(Event)}


def told(source: str, *kinds: type[Event]) -> list[str]:
    """The events of these kinds (all if none is named) that a module gives rise to, one line each."""
    return lines(run(source), *kinds)


def lines(found: Analysis, *kinds: type[Event]) -> list[str]:
    """The events of an analysis."""
    return [" ".join(_words(event)) for event in found.events if not kinds or type(event) in kinds]


def _words(event: AnyEvent) -> Iterator[str]:
    yield type(event).__name__
    for field in dataclasses.fields(event):
        value = getattr(event, field.name)
        if field.name not in _COMMON and value != field.default:
            yield f"{field.name}={value}"
    yield f"in {event.place.function or '<module>'}: {event.place.confidence.value}"
    if event.place.ground != "jit":
        yield event.place.ground


def steps(source: str, *kinds: type[Event]) -> list[str]:
    """The steps that lead to the only event, and those that it names besides."""
    (event,) = [event for event in run(source).events if not kinds or type(event) in kinds]
    return [step.message for step in (*event.place.steps, *event.also)]
