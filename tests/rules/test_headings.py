"""The steps that lead to a finding are called what they are: where nothing is traced, nothing is *traced because*."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jitlint.frontends.cli import main

Capture = pytest.CaptureFixture[str]
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


@pytest.mark.parametrize(
    ("folder", "says"),
    [
        ("JIT101_traced_branch", "traced because"),
        ("JIT509_donated_reuse", "because"),
        ("JIT701_unsynced_timing", "because"),
    ],
)
def test_steps_are_called_what_they_are(folder: str, says: str, capsys: Capture) -> None:
    path = str(FIXTURES / folder / "bad.py")
    main(["check", "--isolated", "--no-cache", "--select", folder[:6], path])
    headings = re.findall(r"^ +[=] (.*because):$", capsys.readouterr().out, re.MULTILINE)
    assert set(headings) == {says}
