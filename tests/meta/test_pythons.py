"""The table of Pythons: what is counted, and what makes it fail."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pythons  # noqa: E402

REPORT = """\
<testsuites><testsuite>
<testcase classname="a" name="one"/>
<testcase classname="a" name="two"><failure message="no"/></testcase>
<testcase classname="a" name="three"><error message="no"/></testcase>
<testcase classname="a" name="four"><skipped message="needs jax&gt;=0.7: a name"/></testcase>
<testcase classname="a" name="five"><skipped message="needs jax&gt;=0.7: a name"/></testcase>
<testcase classname="a" name="six"><skipped message="needs haiku"/></testcase>
</testsuite></testsuites>
"""


def test_every_supported_python_is_asked() -> None:
    assert pythons.supported() == ["3.10", "3.11", "3.12", "3.13"]
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = pythons.interpreter(here)
    assert found is None or found.exists()
    assert pythons.interpreter("3.0") is None


def test_a_row_counts_what_was_reported(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    row = pythons.Row("3.10", {"jax": "0.6.2"})
    pythons.read(tmp_path / "report.xml", row)
    assert (row.passed, row.failed, row.tests, row.for_version) == (1, ["a::two", "a::three"], 6, 2)
    lines = list(pythons.table([row, pythons.Row("3.11", problem="set-up failed: no network")]))
    assert lines[1].split() == ["3.10", "0.6.2", "-", "-", "-", "-", "1", "2", "3", "2", "(33.3%)", "0"]
    assert lines[3:] == [
        "3.10: failed: a::two",
        "3.10: failed: a::three",
        "3.10: 2 skipped: needs jax>=0.7: a name",
        "3.11: set-up failed: no network",
    ]


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (pythons.Row("3.10", passed=1), 0),
        (pythons.Row("3.10", passed=1, failed=["a"]), 1),
        (pythons.Row("3.10", problem="no"), 1),
    ],
)
def test_the_exit_code(row: pythons.Row, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pythons, "interpreter", lambda version: Path(sys.executable))
    monkeypatch.setattr(pythons, "run", lambda *arguments: row)
    assert pythons.main(["--only", "3.10", "tests/meta", "-k", "nothing"]) == code
    monkeypatch.setattr(pythons, "interpreter", lambda version: None)
    assert pythons.main(["--only", "3.10"]) == 1
