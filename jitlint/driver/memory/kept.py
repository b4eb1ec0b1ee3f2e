"""What is remembered of whole runs, and the time they took (layer: ``driver``). Nothing here needs a parser."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

from jitlint.base.diagnostic import Finding
from jitlint.base.result import Statistics, TracedRow


class KeptCheck(msgspec.Struct):
    """A check's result before selection. by_noqa: silenced by nothing but a ``noqa``. elsewhere: in files that were not asked
    for, by way of those that were. unread: files around those that could not be analysed."""

    findings: list[Finding]
    by_noqa: list[Finding]
    problems: list[Finding]
    statistics: Statistics
    elsewhere: list[Finding]
    unread: list[str]


class KeptTraced(msgspec.Struct):
    """The result of looking for traced functions."""

    rows: list[TracedRow]
    problems: list[Finding]
    statistics: Statistics


@dataclass(slots=True)
class Clock:
    """Wall time per phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time spent inside to the phase ``name``."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
