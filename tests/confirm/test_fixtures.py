"""The command proves the fixtures as the tests of real JAX do: every mark confirmed, nothing refuted."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.confirm.project import confirmed
from tests.fixtures.marks import FIXTURES, ROOT, Mark, marks, needs, programs, statement

pytest.importorskip("jax", reason="proof needs JAX")


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    return confirmed(ROOT, "--no-cache", "--missed", "--timeout", "60", "fixtures")


def _cannot_run() -> set[Path]:
    """The files of programs that need a library, or a version of one, which is not installed."""
    return {
        path
        for program in programs()
        if (program.framework and importlib.util.find_spec(program.framework) is None)
        or any(map(needs, program.files))
        for path in program.files
    }


def _at(item: dict[str, Any]) -> Iterator[Mark]:
    path = ROOT / item["path"]
    last = statement(path, item["line"])[1]
    return (m for m in marks(path) if m.code == item["code"] and item["line"] <= m.line <= last)


def test_every_mark_is_confirmed(items: list[dict[str, Any]]) -> None:
    skipped = _cannot_run()
    found = [item for item in items if item["verdict"] != "missed" and ROOT / item["path"] not in skipped]
    assert len(found) > 1000
    still_open = [
        f"{item['verdict']} {item['path']}:{item['line']} {item['code']}: {item['evidence']}"
        for item in found
        if item["verdict"] != "confirmed"
        and not any(mark.kind == "expect-static" or mark.disproved_by_jax for mark in _at(item))
    ]
    if sys.version_info < (3, 11):  # it does not tell which expression of a line fails
        assert len(still_open) < len(found) / 3
    else:
        assert not still_open


def test_nothing_is_refuted(items: list[dict[str, Any]]) -> None:
    refuted = [item for item in items if item["verdict"] == "refuted"]
    assert not [item for item in refuted if not any(mark.disproved_by_jax for mark in _at(item))]


def test_no_case_fails_without_a_finding(items: list[dict[str, Any]]) -> None:
    """Known gaps aside, which are marked."""
    lost = [(ROOT / item["path"], item["line"]) for item in items if item["verdict"] == "missed"]
    known = {(m.path, m.line) for p in FIXTURES.rglob("*.py") for m in marks(p) if m.kind == "missed"}
    assert not [place for place in lost if place not in known]
