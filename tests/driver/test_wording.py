"""The words of a rule fit the place: the real assignment, and only what can be static is called so."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence, Span
from jitlint.base.rule import Report
from jitlint.driver.drafts import draft
from jitlint.driver.judge import Verdict
from jitlint.driver.registry import rules
from jitlint.driver.wording import words
from jitlint.infer.places import Event, Place, Step


def _words(report: Report, event: Event, lines: list[str], span: Span) -> tuple[str, str]:
    return words(draft(Verdict(rules()["JIT101"], event, report)), lines, span)


def _event(why: str, message: str = "`f` is jitted with `jax.jit` here") -> Event:
    return Event(Place("m", 1, "f", (Step("m", 0, message),), "jit", Confidence.CERTAIN), why)


@pytest.mark.parametrize(
    ("line", "target", "expected"),
    [
        ("    x[0] = 1.0", "x[0]", "x = x.at[0].set(1.0)"),
        ("x[i, 1:] = y[i]  # the rest", "x[i, 1:]", "x = x.at[i, 1:].set(y[i])"),
        ('state["w"][0] = g(1)', 'state["w"][0]', 'state["w"] = state["w"].at[0].set(g(1))'),
        ("x[0] += y", "x[0]", "x = x.at[0].set(y)"),
        ("x[0] **= 2", "x[0]", "x = x.at[0].set(2)"),
        ("x[0] = (y +", "x[0]", "x = x.at[0].set(value)"),
        ("x[0], y = y, x[0]", "x[0]", "x = x.at[0].set(value)"),
        ("x[0] = y[0] = 1", "x[0]", "x = x.at[0].set(value)"),
        ('x["a # b"] = "#"', 'x["a # b"]', 'x = x.at["a # b"].set(value)'),
        ("x = 1", "x", "x = x.at[i].set(value)"),
        ("x" * 60 + "[0] = 1", "x" * 60 + "[0]", "x = x.at[i].set(value)"),
    ],
)
def test_an_update_is_written_as_it_would_stand_there(line: str, target: str, expected: str) -> None:
    start = line.index(target) + 1
    span = Span(1, start, 1, start + len(target))
    assert _words(Report("no", "write `{store:set}`"), _event(""), [line], span)[1] == f"write `{expected}`"


@pytest.mark.parametrize(
    ("why", "line", "message", "expected"),
    [
        (
            "parameter `n` of `f`",
            "n > 3",
            "`f` is jitted with `jax.jit` here",
            "list `n` in `static_argnames`",
        ),
        ("parameter `n` of `f`", "range(n)", "`f` is traced by `jax.pmap` here", "give the position of `n`"),
        ("parameter `n` of `f`", "n.sum() > 3", "`f` is jitted with `jax.jit` here", ""),
        ("parameter `n` of `f`", "n[0]", "`f` is jitted with `jax.jit` here", ""),
        ("parameter `n` of `f`", "m > 3", "`f` is jitted with `jax.jit` here", ""),
        ("parameter `n` of `g`", "n > 3", "`f` is jitted with `jax.jit` here", ""),
        ("parameter `n` of `f`", "n > 3", "`f` runs under `jax.lax.scan` here", ""),
        ("an operand of the traced branch", "n > 3", "`f` is jitted with `jax.jit` here", ""),
    ],
)
def test_only_an_argument_of_the_compiled_function_can_be_static(
    why: str, line: str, message: str, expected: str
) -> None:
    report = Report("no", "use something else", static="if it is a flag")
    text = _words(report, _event(why, message), [line], Span(1, 1, 1, len(line) + 1))[1]
    assert text.startswith("use something else")
    assert (expected in text and "; if it is a flag, " in text) if expected else text == "use something else"


def test_a_quoted_expression_has_no_comments() -> None:
    lines = ["    if jnp.any(  # why", '        x == "# no", # another', "    ):"]
    span = Span(1, 8, 3, 6)
    message, _ = _words(Report("`{expr}` is traced", ""), _event(""), lines, span)
    assert message == '`jnp.any( x == "# no", )` is traced'
