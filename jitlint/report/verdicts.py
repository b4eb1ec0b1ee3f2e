"""Findings with the verdict of real JAX, as a table and as JSON (layer: ``report``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jitlint.base.diagnostic import Finding
from jitlint.report.json import finding_json
from jitlint.report.style import Style, visible

_COLOURS = {"confirmed": "red", "refuted": "blue"}
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


def verdicts_table(
    rows: Sequence[Row], missed: Sequence[Missed], style: Style, summary: bool = True
) -> Iterator[str]:
    """Two lines per finding: place, rule and verdict; then what was seen, and with what."""
    verdict_width = max((len(row.verdict) for row in rows), default=0)
    places = [f"{visible(row.finding.span.within(row.finding.path))}:{row.finding.span.line}" for row in rows]
    place_width = max(map(len, places), default=0)
    for row, place in zip(rows, places):
        word = style.paint(row.verdict.ljust(verdict_width), "bold", _COLOURS.get(row.verdict, "magenta"))
        yield f"{word}  {place.ljust(place_width)}  {row.finding.code}  {visible(row.finding.message)}"
        said = f"{row.said} [{row.inputs}]" if row.inputs else row.said
        yield f"{' ' * verdict_width}  {visible(said)}"
    for path, line, error, inputs in missed:
        yield f"{style.paint('missed', 'bold', 'magenta')}  {visible(path)}:{line}  {visible(error)} [{visible(inputs)}]"
    if summary:
        counts = Counter(row.verdict for row in rows)
        words = [f"{count} {verdict}" for verdict, count in counts.most_common()]
        ran = " and ".join(sorted({row.jax for row in rows} - {""}))
        by = f" (JAX {ran})" if ran else ""
        yield f"{len(rows)} finding{'' if len(rows) == 1 else 's'}: {', '.join(words) or 'nothing to confirm'}{by}."
        targets = sorted({row.target for row in rows} - {""})
        if targets:
            yield f"The findings are about JAX {' and '.join(targets)}: what another version does proves nothing for certain."


def verdicts_json(rows: Sequence[Row], missed: Sequence[Missed], urls: Mapping[str, str]) -> str:
    """Findings as `jitlint check` writes them, with ``verdict``, ``evidence`` and ``inputs``, ``jax`` (the
    version that ran) and ``target`` (the one that was meant, if that is another); then what was missed."""
    items: list[dict[str, object]] = [
        {
            **finding_json(row.finding, urls),
            "verdict": row.verdict,
            "evidence": row.evidence,
            "inputs": row.inputs,
            "jax": row.jax or None,
            "target": row.target or None,
        }
        for row in rows
    ]
    items += [
        {"path": path, "line": line, "verdict": "missed", "evidence": error, "inputs": inputs}
        for path, line, error, inputs in missed
    ]
    return "[\n" + ",\n".join(json.dumps(item) for item in items) + "\n]" if items else "[]"
