"""Notebooks and texts, run piece by piece under real JAX: what raises is found at its line, and nothing else is.

A mark ``# expect: CODE`` stands on every line with a finding. ``# expect: leaked`` is a line that raises because of
what another line did, where that is reported.
"""

from __future__ import annotations

import re
import shutil
import traceback
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Severity
from jitlint.driver.registry import rules
from jitlint.driver.run import check
from jitlint.syntax.documents import read_document
from jitlint.syntax.documents.document import Document

FOLDER = Path(__file__).parent / "documents"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.suffix in (".ipynb", ".md"))
_MARK = re.compile(r"# expect: (\w+)")

Place = tuple[int, int]


def _document(name: str) -> Document:
    return read_document(name, (FOLDER / name).read_bytes())


def _place(document: Document, line: int) -> Place:
    row = document.rows[line - 1]
    return row.cell, row.line


def _marks(document: Document) -> dict[Place, str]:
    lines = document.text.split("\n")
    return {
        _place(document, number): mark[1]
        for number, text in enumerate(lines, 1)
        if (mark := _MARK.search(text))
    }


def _findings(name: str, folder: Path) -> dict[Place, tuple[str, bool]]:
    """Place of every finding: its code, and whether JAX is said to raise. What lies here would count as a test."""
    copy = shutil.copy(FOLDER / name, folder)
    result = check([str(copy)], Settings(min_severity=Severity.INFO), jobs=1, use_cache=False)
    assert result.problems == []
    return {
        (finding.span.cell, finding.span.line): (
            finding.code,
            rules()[finding.code].severity is Severity.ERROR and finding.severity is not Severity.WARNING,
        )
        for finding in result.findings
    }


def _pieces(document: Document) -> Iterator[tuple[int, str]]:
    """The pieces that run one after the other, each with the number of lines before it."""
    lines = document.text.split("\n")
    starts = [number for number, text in enumerate(lines) if text.startswith("# %% [")]
    for start, stop in zip(starts, [*starts[1:], len(lines)]):
        yield start, "\n".join(lines[start:stop])


def _raising(document: Document, name: str) -> set[Place]:
    """Where exceptions came from when every piece ran, whatever those before it did."""
    module = types.ModuleType("__main__")
    module.__dict__["get_ipython"] = lambda: None
    found = set()
    for before, text in _pieces(document):
        try:
            exec(compile("\n" * before + text, name, "exec"), module.__dict__)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            assert frames[-1].lineno is not None
            found.add(_place(document, frames[-1].lineno))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_findings_equal_marks(name: str, tmp_path: Path) -> None:
    marks = {place: code for place, code in _marks(_document(name)).items() if code != "leaked"}
    assert {place: code for place, (code, _) in _findings(name, tmp_path).items()} == marks


@pytest.mark.parametrize("name", NAMES)
def test_what_raises_is_found_and_nothing_else_is_an_error(name: str, tmp_path: Path) -> None:
    document = _document(name)
    leaked = {place for place, code in _marks(document).items() if code == "leaked"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raising = _raising(document, name)
    found = _findings(name, tmp_path)
    # A line from which something leaks does not raise itself: what uses it does.
    errors = {place for place, (code, is_error) in found.items() if is_error and code != "JIT304"}
    assert leaked <= raising
    assert raising - leaked == errors
