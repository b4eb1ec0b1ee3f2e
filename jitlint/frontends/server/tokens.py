"""Names as semantic tokens: whether they are traced, static, or both (layer: ``frontends``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lsprotocol import types

from jitlint.base.result import ValueRow

MODIFIERS = ("traced", "static", "mixed")
LEGEND = types.SemanticTokensLegend(["variable"], list(MODIFIERS))

Place = tuple[int, int]
InClient = Callable[[types.Position], types.Position]


def common(rows: Iterable[tuple[Place, str]]) -> dict[Place, str]:
    """What is said of each place in all situations together; nothing where it is not known."""
    found: dict[Place, set[str]] = {}
    for place, status in rows:
        found.setdefault(place, set()).add(status)
    said = {place: statuses.pop() if len(statuses) == 1 else "mixed" for place, statuses in found.items()}
    return {place: status for place, status in sorted(said.items()) if status != "unknown"}


def tokens(rows: Sequence[ValueRow], cell: int, in_client: InClient) -> list[int]:
    """The names in traced code as the protocol writes them: each relative to the one before."""
    names = [
        row
        for row in rows
        if row.in_trace and row.span.cell == cell and not row.code and row.text.isidentifier()
    ]
    ends = {(row.span.line, row.span.column): row.span.end_column for row in names}
    said = common(((row.span.line, row.span.column), row.status) for row in names)
    data: list[int] = []
    before = types.Position(0, 0)
    for (line, column), status in said.items():
        start = in_client(types.Position(line - 1, column - 1))
        end = in_client(types.Position(line - 1, ends[line, column] - 1))
        lines = start.line - before.line
        columns = start.character - (0 if lines else before.character)
        data += [lines, columns, end.character - start.character, 0, 1 << MODIFIERS.index(status)]
        before = start
    return data
