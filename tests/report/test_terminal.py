"""What a terminal shows: readable colours, one gutter, lines that fit, links where they work."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from jitlint.base.diagnostic import Related, Span
from jitlint.report.excerpt import excerpt
from jitlint.report.style import CODES, Style, columns_for, wants_links, width
from jitlint.report.text import concise, full
from tests.report.test_text import FINDING, SOURCE

pytestmark = pytest.mark.installed

PLAIN = Style()
PAGE = {"JIT106": "https://example.org/JIT106"}
LONG = "use `jax.lax.scan` over as many turns as there may be, " * 5

# What xterm draws; other terminals are brighter.
XTERM = {"31": (205, 0, 0), "35": (205, 0, 205), "94": (92, 92, 255)}


def _contrast(colour: tuple[int, int, int], ground: tuple[int, int, int]) -> float:
    """The ratio of WCAG: 3 is legible for large text and marks."""

    def luminance(each: tuple[int, int, int]) -> float:
        parts = [p / 255 for p in each]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    lighter, darker = sorted((luminance(colour), luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("ground", [(0, 0, 0), (255, 255, 255)], ids=["dark", "light"])
def test_every_colour_can_be_read_on(ground: tuple[int, int, int]) -> None:
    assert {code for code in CODES.values() if code != "1"} == set(XTERM)
    assert all(_contrast(colour, ground) >= 3 for colour in XTERM.values())


@pytest.mark.parametrize("line", [5, 500, 50000])
def test_the_path_keeps_the_gutter(line: int) -> None:
    """Every line below the heading begins in the same column, whatever the numbers of the lines are."""
    source = {name: [*[""] * line, *text] for name, text in SOURCE.items()}
    down = [replace(step, span=replace(step.span, line=step.span.line + line)) for step in FINDING.related]
    finding = replace(
        FINDING,
        span=replace(FINDING.span, line=2),
        related=(*down, Related("gone.py", Span(1, 1, 1, 1), "s")),
    )
    shown = list(full([finding], PLAIN, lambda path: source.get(path, []), show_path=True))
    gutter = len(str(line + 3))
    for text in shown[1:-1]:
        assert re.fullmatch(rf"[ \d]{{{gutter}}} (\||=|:::)( .*)?", text), text


def test_no_line_is_longer_than_120_columns_or_the_terminal() -> None:
    finding = replace(
        FINDING,
        path="a/long/way/" * 8 + "losses.py",
        message=LONG,
        help=LONG,
        related=tuple(replace(step, message=LONG) for step in FINDING.related),
    )
    lines = {"train.py": ["x" * 300] * 3, finding.path: ["y" * 300, "    for i in 漢字(" + "n" * 300]}
    for columns in (120, 100, 60):
        for show_path in (False, True):
            shown = list(full([finding], Style(columns=columns), lines.__getitem__, show_path))
            assert max(map(width, shown[1:])) <= columns
            if columns > 100:  # the place itself is not broken
                assert width(shown[0]) <= columns
    said = " ".join(" ".join(full([finding], PLAIN, lambda path: [])).split())
    assert said.count(LONG.strip()) == 4  # nothing is lost


def test_code_in_backticks_is_not_broken() -> None:
    text = f"{'word ' * 21}`jnp.where(a, b, c)` end"
    first, second = Style(columns=120).wrapped(text, 0, 4)
    assert first == ("word " * 21).strip()
    assert second == "`jnp.where(a, b, c)` end"


def test_a_long_line_shows_what_is_meant_within_the_width() -> None:
    line = "a" * 500 + "HERE" + "b" * 500
    text, carets = excerpt([line], Span(1, 501, 1, 505), Style(columns=80), 3)
    assert len(text) <= 80
    assert text[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_the_code_leads_to_the_page_of_its_rule_where_the_terminal_can() -> None:
    link = "\033]8;;https://example.org/JIT106\033\\"
    shown = "\n".join(full([FINDING], Style(links=True), lambda path: [], urls=PAGE))
    assert f"{link}error[JIT106]\033]8;;\033\\" in shown
    assert link in "\n".join(concise([FINDING], Style(links=True), urls=PAGE))
    assert "\033" not in "\n".join(full([FINDING], PLAIN, lambda path: [], urls=PAGE))


def test_links_are_for_terminals_that_show_them() -> None:
    assert wants_links(True, {"TERM_PROGRAM": "vscode", "TERM": "xterm-256color"})
    assert wants_links(True, {"VTE_VERSION": "7006", "TERM": "xterm-256color"})
    assert wants_links(True, {"TERM": "xterm-kitty"})
    assert not wants_links(True, {"TERM": "xterm-256color"})
    assert not wants_links(False, {"TERM": "xterm-kitty"})
    assert not wants_links(True, {"TERM": "dumb", "WT_SESSION": "1"})
    assert not wants_links(True, {"TERM": "xterm-kitty", "FORCE_HYPERLINK": "0"})
    assert wants_links(False, {"FORCE_HYPERLINK": "1"})


def test_columns_follow_the_terminal_up_to_a_limit() -> None:
    assert [columns_for(width) for width in (0, 10, 80, 250)] == [120, 40, 80, 120]
