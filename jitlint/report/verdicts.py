"""Findings with the verdict of real JAX, as a table and as JSON (layer: ``report``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitlint.base.diagnostic import Finding
from jitlint.report.json import finding_json
from jitlint.report.style import Style, visible

# The column of verdicts: they come one by one, and nobody knows how long the longest will be.
_WIDTH = len("confirmed")
_COLOURS = {"confirmed": "red", "refuted": "blue", "proved": "green", "harmful": "red"}
# path, line, error, inputs
Missed = tuple[str, int, str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A finding, the verdict on it, one sentence of evidence and what was run. jax: the version that ran, "" if none did.
    target: the one that the finding is about, if that is another."""

    finding: Finding
    verdict: str
    evidence: str
    inputs: str
    jax: str = ""
    target: str = ""

    @property
    def said(self) -> str:
        """The evidence, with what a reader must know of it."""
        return f"{self.evidence} (in JAX {self.jax}, not in {self.target})" if self.target else self.evidence


def verdict_lines(row: Row, style: Style) -> list[str]:
    """Two lines: verdict, place, rule and message; then what was seen, and with what."""
    place = f"{visible(row.finding.span.within(row.finding.path))}:{row.finding.span.line}"
    word = style.paint(row.verdict.ljust(_WIDTH), "bold", _COLOURS.get(row.verdict, "magenta"))
    said = f"{row.said} [{row.inputs}]" if row.inputs else row.said
    return [
        f"{word}  {place}  {row.finding.code}  {visible(row.finding.message)}",
        f"{' ' * _WIDTH}  {visible(said)}",
    ]


def missed_line(missed: Missed, style: Style) -> str:
    """What has no finding."""
    path, line, error, inputs = missed
    word = style.paint("missed".ljust(_WIDTH), "bold", "magenta")
    return f"{word}  {visible(path)}:{line}  {visible(error)} [{visible(inputs)}]"


def summary(rows: Sequence[Row]) -> Iterator[str]:
    """How many findings have which verdict, and which JAX gave it."""
    counts = Counter(row.verdict for row in rows)
    words = [f"{count} {verdict}" for verdict, count in counts.most_common()]
    ran = " and ".join(sorted({row.jax for row in rows} - {""}))
    by = f" (JAX {ran})" if ran else ""
    yield f"{len(rows)} finding{'' if len(rows) == 1 else 's'}: {', '.join(words) or 'nothing to confirm'}{by}."
    targets = sorted({row.target for row in rows} - {""})
    if targets:
        yield f"The findings are about JAX {' and '.join(targets)}: what another version does proves nothing for certain."


def verdict_json(row: Row, urls: Mapping[str, str]) -> str:
    """A finding as `jitlint check` writes it, with ``verdict``, ``evidence`` and ``inputs``, ``jax`` (the version that
    ran) and ``target`` (the one that was meant, if that is another)."""
    item = finding_json(row.finding, urls)
    more = {
        "verdict": row.verdict,
        "evidence": row.evidence,
        "inputs": row.inputs,
        "jax": row.jax or None,
        "target": row.target or None,
    }
    return json.dumps({**item, **more})


def missed_json(missed: Missed) -> str:
    """What has no finding."""
    path, line, error, inputs = missed
    return json.dumps({"path": path, "line": line, "verdict": "missed", "evidence": error, "inputs": inputs})


def verdicts_json(rows: Sequence[Row], missed: Sequence[Missed], urls: Mapping[str, str]) -> str:
    """All of it as one array, the findings in their order."""
    items = [*(verdict_json(row, urls) for row in rows), *map(missed_json, missed)]
    return "[\n" + ",\n".join(items) + "\n]" if items else "[]"
