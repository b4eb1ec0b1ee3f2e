"""The numbers of a run as text (layer: ``report``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from jitlint.base.diagnostic import Finding
from jitlint.base.result import Statistics


def statistics_lines(findings: Iterable[Finding], statistics: Statistics) -> Iterator[str]:
    """Findings per rule (most frequent first), by name where they are about one, then what was looked at and how long it took."""
    listed = list(findings)
    counts = Counter((finding.code, finding.name) for finding in listed)
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>7,}  {code}  {name}"
        about = Counter(f.subject for f in listed if f.code == code and f.subject)
        for subject, times in sorted(about.items(), key=lambda item: (-item[1], item[0])):
            yield f"{'':7}  {times:>7,}  {subject}"
    yield f"files: {statistics.files:,} ({statistics.parsed:,} analysed, context included)"
    yield f"lines: {statistics.lines:,}"
    if statistics.units:
        yield (
            f"groups of files that import each other: {statistics.units:,} ({statistics.units_run:,} analysed now, the"
            " others known)"
        )
        yield f"files parsed now: {statistics.lowered:,}, looked into for positions: {statistics.placed:,}"
    sites, resolved = statistics.jit_sites, statistics.jit_sites_resolved
    share = f" ({resolved / sites:.0%})" if sites else ""
    yield f"uses of `jit` and other transforms whose function is known: {resolved:,} of {sites:,}{share}"
    if statistics.jax:
        yield f"JAX: {statistics.jax}"
    notes = dict(statistics.notes)
    functions, bodies, events = (notes.pop(name, 0) for name in ("functions", "activations", "events"))
    yield f"functions: {functions:,}, gone through {bodies:,} times; observations for the rules: {events:,}"
    for note, count in sorted(notes.items()):
        yield f"{note}: {count:,}"
    phases = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in statistics.seconds.items())
    yield f"time: {phases}{' (result from the cache)' if statistics.cached else ''}"
