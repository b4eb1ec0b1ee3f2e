"""Findings as text: the right line, carets under the right columns, and nothing dangerous for a terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Related, Severity, Span
from jitlint.report.excerpt import excerpt
from jitlint.report.style import Style, wants_colours
from jitlint.report.text import concise, full, summary

pytestmark = pytest.mark.installed

PLAIN = Style()
SOURCE = {
    "losses.py": ["def loss(p, n):", "    for i in range(n):", "        p = p + i"],
    "train.py": ["@jax.jit", "def step(p, n):", "    return loss(p, n)"],
}
FINDING = Finding(
    code="JIT106",
    name="traced-range",
    severity=Severity.ERROR,
    confidence=Confidence.CERTAIN,
    message="`range` needs a concrete integer, but `n` is traced",
    path="losses.py",
    span=Span(2, 14, 2, 22),
    help="use `jax.lax.fori_loop`",
    ground="jit",
    function="loss",
    related=(
        Related("train.py", Span(1, 1, 1, 9), "`step` is jitted"),
        Related("train.py", Span(3, 12, 3, 22), "`step` calls `loss`"),
    ),
)


def _full(finding: Finding, show_path: bool = False) -> list[str]:
    return list(full([finding], PLAIN, lambda path: SOURCE.get(path, []), show_path))


def test_full() -> None:
    assert _full(FINDING) == [
        "losses.py:2:14: error[JIT106] `range` needs a concrete integer, but `n` is traced",
        "  |",
        "2 |     for i in range(n):",
        "  |              ^^^^^^^^",
        "  = traced because:",
        "    train.py:1: `step` is jitted",
        "    train.py:3: `step` calls `loss`",
        "  = help: use `jax.lax.fori_loop`",
        "",
    ]


def test_full_with_the_source_of_every_step() -> None:
    assert _full(FINDING, show_path=True)[4:11] == [
        "  = traced because:",
        "  ::: train.py:1: `step` is jitted [seen]",
        "1 | @jax.jit",
        "  | ^^^^^^^^",
        "  ::: train.py:3: `step` calls `loss` [seen]",
        "3 |     return loss(p, n)",
        "  |            ^^^^^^^^^^",
    ]


def test_long_paths_lose_their_middle() -> None:
    steps = tuple(Related("train.py", Span(n, 1, n, 2), f"step {n}") for n in range(1, 10))
    lines = _full(replace(FINDING, related=steps))
    start = lines.index("  = traced because:") + 1
    assert [line.strip() for line in lines[start : start + 5]] == [
        "train.py:1: step 1",
        "train.py:2: step 2",
        "... 5 more (--show-path)",
        "train.py:8: step 8",
        "train.py:9: step 9",
    ]


def test_the_ground_is_named_when_no_transform_in_the_project_says_so() -> None:
    lines = _full(replace(FINDING, ground="test", confidence=Confidence.LIKELY))
    assert "  = note: likely: only the project's own tests or examples trace this code" in lines


def test_what_is_no_question_of_tracing_says_nothing_of_who_traces() -> None:
    timing = replace(FINDING, code="JIT701", ground="test", heading="because", confidence=Confidence.LIKELY)
    assert "  = note: likely, not certain" in _full(timing)
    assert not any("trace this code" in line for line in _full(timing))


def test_a_file_that_is_gone_still_has_its_finding() -> None:
    lines = _full(replace(FINDING, path="gone.py"))
    assert lines[0].startswith("gone.py:2:14: error[JIT106]")
    assert lines[1] == "  = traced because:"


def test_concise() -> None:
    assert list(concise([FINDING], PLAIN)) == [
        "losses.py:2:14: JIT106 `range` needs a concrete integer, but `n` is traced"
    ]
    assert list(concise([FINDING], PLAIN, show_path=True))[1:] == [
        "    train.py:1:1: `step` is jitted",
        "    train.py:3:12: `step` calls `loss`",
    ]


@pytest.mark.parametrize(
    ("line", "span", "shown"),
    [
        ("\tif x:", Span(1, 5, 1, 6), ["1 |     if x:", "  |        ^"]),
        ("é = 漢字 + x", Span(1, 5, 1, 7), ["1 | é = 漢字 + x", "  |     ^^^^"]),
        ("x = f(", Span(1, 5, 3, 2), ["1 | x = f(", "  |     ^^"]),
        ("x", Span(1, 1, 1, 1), ["1 | x", "  | ^"]),
        ("x\x1b[31m", Span(1, 1, 1, 2), ["1 | x·[31m", "  | ^"]),
        ("x", Span(2, 1, 2, 2), []),
    ],
)
def test_carets(line: str, span: Span, shown: list[str]) -> None:
    assert excerpt([line], span, PLAIN, 1) == shown


def test_long_lines_are_cut_around_the_span() -> None:
    line = "a" * 500 + "HERE" + "b" * 500
    text, carets = excerpt([line], Span(1, 501, 1, 505), PLAIN, 1)
    assert len(text) < 140
    assert text[carets.index("^") : carets.rindex("^") + 1] == "HERE"
    assert text.startswith("1 | …a")
    assert text.endswith("b…")


def test_colours_are_for_terminals_that_want_them() -> None:
    assert wants_colours(True, {"TERM": "xterm"})
    assert not wants_colours(True, {"NO_COLOR": "1"})
    assert not wants_colours(True, {"TERM": "dumb"})
    assert not wants_colours(False, {})
    assert wants_colours(False, {"FORCE_COLOR": "1"})
    coloured = "\n".join(full([FINDING], Style(True), lambda path: SOURCE[path]))
    assert "\033[1;31merror[JIT106]\033[0m" in coloured
    assert "\033" not in "\n".join(_full(FINDING))


def test_control_characters_never_reach_the_terminal() -> None:
    nasty = replace(FINDING, path="a\x1b]0;b.py", message="m\x07", help="h\x1b", related=())
    assert not any(char in "\n".join([*_full(nasty), *concise([nasty], PLAIN)]) for char in "\x1b\x07")


def test_summary() -> None:
    warning = replace(FINDING, severity=Severity.WARNING)
    assert summary([], [], 1, PLAIN) == "No findings in 1 file."
    assert (
        summary([FINDING, FINDING, warning], [], 1200, PLAIN)
        == "Found 2 errors, 1 warning in 1 file (1,200 files checked)."
    )
    assert summary([FINDING], [replace(FINDING, path="b.py")], 3, PLAIN) == (
        "Found 2 errors in 2 files (3 files checked). 1 file could not be analysed."  # as many as are shown
    )
    assert summary([], [FINDING], 3, PLAIN) == ("1 file could not be analysed. No findings in what could be.")
    assert summary([], [FINDING], 0, PLAIN) == "1 file could not be analysed."
    assert summary([], [], 0, PLAIN) == "No Python files, so nothing was checked."
    hidden = ["1 in the baseline", "3 outside the changed lines"]
    assert summary([], [], 2, PLAIN, hidden) == (
        "No new findings in 2 files (1 in the baseline, 3 outside the changed lines)."
    )
    assert summary([FINDING], [], 2, PLAIN, hidden[:1]) == (
        "Found 1 error in 1 file (2 files checked; 1 in the baseline)."
    )
    assert summary([], [FINDING], 2, PLAIN, hidden[:1]) == (
        "1 file could not be analysed. No new findings in what could be (1 in the baseline)."
    )
