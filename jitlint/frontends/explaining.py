"""`jitlint explain`: from names of rules to pages, and onto the screen (layer: ``frontends``)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from jitlint.base.config import ConfigError
from jitlint.frontends.console import print_lines, style_for

if TYPE_CHECKING:
    from jitlint.base.rule import Rule


def pages(selectors: Sequence[str]) -> list[str]:
    """Lines of Markdown about all rules that are meant. Raises ConfigError for a word that means none."""
    from jitlint.base.families import family_of
    from jitlint.driver.registry import find_rule, rules
    from jitlint.driver.select import nearest
    from jitlint.report.explain import overview, page

    lines: list[str] = []
    told: set[str] = set()
    for selector in selectors:
        found = _matching(selector)
        if not found:
            raise ConfigError(f"no rule {selector!r}; {nearest(selector, rules())}")
        if find_rule(selector) is None:
            for start in dict.fromkeys(rule.code[:4] for rule in found):
                family = family_of(start)
                if family is not None:
                    lines += [*overview(family, [r for r in found if r.code.startswith(start)]), "", ""]
        for rule in found:
            if rule.code not in told:
                told.add(rule.code)
                lines += [*page(rule, rule.url, rule.more), "", ""]
    return lines[:-2]


def _matching(selector: str) -> list[Rule]:
    """The rules that a code, a name, the beginning of a code or ``ALL`` means."""
    from jitlint.base.rule import begins
    from jitlint.driver.registry import find_rule, rules

    one = find_rule(selector)
    if one is not None:
        return [one]
    start = selector.strip()
    return [rule for code, rule in rules().items() if start.upper() == "ALL" or begins(start, code)]


def show(lines: list[str], color: str) -> None:
    """Print what is Markdown: as it is, or rendered on a terminal, with a pager if it is longer than that."""
    from jitlint.report.explain import on_terminal

    style = style_for(sys.stdout, color)
    terminal = sys.stdout.isatty()
    if not terminal and not style.colours:
        print_lines(lines)
        return
    shown = on_terminal(lines, style)
    if terminal and sys.stdin.isatty() and len(shown) >= shutil.get_terminal_size().lines:
        # Pagers know colours, but not all of them know links; less has to be told, as git does.
        os.environ.setdefault("LESS", "-FRX")
        plain = on_terminal(lines, replace(style, links=False))
        click.echo_via_pager("\n".join(plain) + "\n", color=style.colours)
    else:
        print_lines(shown)
