"""What the pages show is what happens: their programs, their commands, their output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jitlint.frontends.cli import main
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = ["index.md", "why-is-this-traced.md", "catalogues.md"]
Capture = pytest.CaptureFixture[str]


def _blocks(page: str) -> dict[str, str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return dict(re.findall(r"```\w+\n# ([\w/]+\.\w+)\n(.*?)```", text, re.DOTALL))


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_is_shown(page: str, project: Write, capsys: Capture) -> None:
    project(_blocks(page))
    text = (DOCS / page).read_text(encoding="utf-8")
    shown = re.findall(r"```console\n\$ jitlint ([^\n]+)\n(.+?)```", text, re.DOTALL)
    assert shown
    for command, output in shown:
        main(command.split())
        assert capsys.readouterr().out.strip() == output.strip()


def test_the_front_page_shows_how_to_install_and_leads_everywhere() -> None:
    front = (DOCS / "index.md").read_text(encoding="utf-8")
    assert front.index("pip install") < front.index("jitlint check") < front.index("{toctree}")
    listed = set(re.findall(r"^([\w/-]+)$", front.partition(":hidden:")[2], re.MULTILINE))
    pages = {p.stem for p in DOCS.glob("*.md") if not p.name.endswith(".in.md")} - {"index"}
    assert listed == pages | {"rules/index"}


def test_the_comment_of_the_page_silences(project: Write, capsys: Capture) -> None:
    project(_blocks("false-alarms.md"))
    assert main(["check"]) == 0
    (text,) = _blocks("false-alarms.md").values()
    project({"loop.py": re.sub(r"  # jitlint.*", "", text)})
    assert main(["check", "-q"]) == 1
    assert "error[JIT106]" in capsys.readouterr().out


def test_the_notes_that_a_page_explains_are_those_that_exist() -> None:
    from jitlint.infer.grounds import Ground
    from jitlint.report.text import _BECAUSE, _GROUNDS

    page = (DOCS / "why-is-this-traced.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| \*([^*]+)\* \|", page, re.MULTILINE))
    assert explained == {note for ground, note in _GROUNDS.items() if ground != "possible"}
    words = page.partition("| word | what it means |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| (\w+) \|", words, re.MULTILINE)) == set(_BECAUSE)
    assert len(Ground) == len(_BECAUSE)
