"""The numbers of a run as text (layer: ``report``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from jitlint.base.diagnostic import Finding
from jitlint.base.result import Statistics


def statistics_lines(findings: Iterable[Finding], statistics: Statistics) -> Iterator[str]:
    """Findings per rule (most frequent first), then what was looked at and how long it took."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield f"{count:>7,}  {code}  {name}"
    yield f"files: {statistics.files:,} ({statistics.parsed:,} analysed, context included)"
    yield f"lines: {statistics.lines:,}"
    sites, resolved = statistics.jit_sites, statistics.jit_sites_resolved
    share = f" ({resolved / sites:.0%})" if sites else ""
    yield f"jit sites resolved: {resolved:,} of {sites:,}{share}"
    if statistics.jax_version:
        yield f"JAX: {statistics.jax_version} ({statistics.jax_version_why})"
    for note, count in sorted(statistics.notes.items()):
        yield f"{note}: {count:,}"
    phases = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in statistics.seconds.items())
    yield f"time: {phases}{' (result from the cache)' if statistics.cached else ''}"
