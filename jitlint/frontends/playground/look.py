"""What the playground shows of a text: findings, and what every value in it is (layer: ``frontends``).

The text is analysed and never run. It is looked at alone: nothing on the disk is its caller, or what it imports.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType

import jitlint
from jitlint.base.config import ConfigError, Settings
from jitlint.base.result import AnalysisError
from jitlint.driver.registry import rules
from jitlint.driver.run import check
from jitlint.driver.why import values
from jitlint.driver.writing import save
from jitlint.report.json import finding_json
from jitlint.report.values import value_json

_NAMES = {"python": "code.py", "markdown": "text.md", "notebook": "notebook.ipynb"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One box of the page: a whole file, or a cell of a notebook."""

    text: str
    is_code: bool = True


@dataclass(frozen=True, slots=True)
class Pasted:
    """What somebody has pasted or opened. kind: python, markdown or notebook, which alone has several cells."""

    kind: str
    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, data: object) -> Pasted:
        """Read what the page sends. Raises ValueError if it is something else."""
        table = data if isinstance(data, dict) else {}
        kind, listed = table.get("kind"), table.get("cells")
        if kind not in _NAMES or not isinstance(listed, list) or not listed:
            raise ValueError("neither code nor a notebook")
        if not all(isinstance(each, dict) and isinstance(each.get("text"), str) for each in listed):
            raise ValueError("a cell without a text")
        if kind != "notebook" and len(listed) > 1:
            raise ValueError("only notebooks have cells")
        return cls(kind, tuple(Cell(each["text"], each.get("code") is not False) for each in listed))

    @property
    def content(self) -> bytes:
        """As the file would be."""
        if self.kind != "notebook":
            return self.cells[0].text.encode("utf-8", "replace")
        cells: list[dict[str, object]] = [
            {"cell_type": "code" if cell.is_code else "markdown", "metadata": {}, "source": cell.text}
            for cell in self.cells
        ]
        return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


class Looker(AbstractContextManager["Looker"]):
    """Looks at one text after the other. Texts stay in memory; the folder, which is empty, only gives them a place."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="jitlint-playground-")
        root = os.path.realpath(self._folder.name)
        save(os.path.join(root, "jitlint.toml"), b"")  # a project of its own: nothing around it is read
        self._root = root

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def look(self, pasted: Pasted) -> dict[str, object]:
        """Findings and values as plain data; under ``problem`` why there are none."""
        path = os.path.join(self._root, _NAMES[pasted.kind])
        unsaved = {path: pasted.content}
        settings = Settings(directory=self._root)
        try:
            result = check([path], settings, jobs=1, use_cache=False, unsaved=unsaved, context=[])
            seen = [] if result.problems else values(path, settings, use_cache=False, unsaved=unsaved)
        except (AnalysisError, ConfigError) as error:
            return {"problem": str(error), "findings": [], "values": []}
        found = sorted([*result.problems, *result.findings], key=lambda each: each.sort_key)
        return {
            "problem": None,
            "findings": [_without_path(finding_json(each, {})) for each in found],
            "values": [_without_path(value_json(row)) for row in seen if not row.code],
            "about": f"jitlint {jitlint.__version__}, {len(rules())} rules; for JAX {result.statistics.jax}",
        }


def _without_path(item: dict[str, object]) -> dict[str, object]:
    """There is one file, and where it lies is nobody's business."""
    return {
        key: [_without_path(each) for each in value]
        if key in ("related", "because") and isinstance(value, list)
        else value
        for key, value in item.items()
        if key != "path"
    }
