"""Notebooks with other code in some cells, and nothing else changed (layer: ``syntax``).

What it does: find the strings of the JSON text that hold the source of each cell, and replace those whose text is another one.
Outputs, metadata, the order of keys and the layout of the JSON text stay as they are, because they are not read. What it does
not: understand the code, or write files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jitlint.syntax.documents.notebook import source_tokens


@dataclass(slots=True)
class _Source:
    """The strings of a cell's source, as offsets into the JSON text. is_list: one string for each line."""

    tokens: list[tuple[int, int]] = field(default_factory=list)
    is_list: bool = False


def cell_sources(text: str) -> dict[int, str]:
    """The source of each cell, by its number from 1, of a notebook's JSON text."""
    return {cell: "".join(_strings(text, source)) for cell, source in _found(text).items()}


def with_sources(text: str, sources: Mapping[int, str]) -> str | None:
    """The JSON text with these sources for these cells; None if a cell keeps its source otherwise than in strings."""
    found = _found(text)
    parts: list[str] = []
    at = 0
    for cell in sorted(sources):
        source = found.get(cell)
        if source is None or not source.tokens:
            return None
        start, stop = source.tokens[0][0], source.tokens[-1][1]
        parts += [text[at:start], _written(text, source, sources[cell])]
        at = stop
    return "".join([*parts, text[at:]])


def _found(text: str) -> dict[int, _Source]:
    found: dict[int, _Source] = {}
    for cell, start, stop, is_list in source_tokens(text):
        source = found.setdefault(cell, _Source(is_list=is_list))
        source.tokens.append((start, stop))
    return found


def _strings(text: str, source: _Source) -> list[str]:
    return [str(json.loads(text[start:stop], strict=False)) for start, stop in source.tokens]


def _written(text: str, source: _Source, code: str) -> str:
    """The code as the notebook writes it; lines that stay keep their very characters."""
    plain = text.isascii() and "\\u" in text
    if not source.is_list:
        return json.dumps(code, ensure_ascii=plain)
    old = _strings(text, source)
    new = code.splitlines(keepends=True) if "\r" in code else _lines(code)
    written = [text[start:stop] for start, stop in source.tokens]
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    middle = [json.dumps(line, ensure_ascii=plain) for line in new[first : len(new) - last]]
    kept = written[len(old) - last :] if last else []
    return _between(text, source).join([*written[:first], *middle, *kept])


def _lines(code: str) -> list[str]:
    lines = code.split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for a, b in zip(one, other):
        if a != b:
            break
        count += 1
    return count


def _between(text: str, source: _Source) -> str:
    """What stands between two strings of the list."""
    tokens = source.tokens
    if len(tokens) > 1:
        return text[tokens[0][1] : tokens[1][0]]
    start = tokens[0][0]
    return "," + text[text.rindex("[", 0, start) + 1 : start]
