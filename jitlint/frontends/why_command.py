"""`jitlint why`: a place to what its values are, and the path (layer: ``frontends``)."""

from __future__ import annotations

import sys

import click

from jitlint.frontends import console
from jitlint.frontends.console import FAILED, OK


@click.command(short_help="Say which values on a line are traced, and why.")
@click.argument("place", metavar="FILE:LINE[:COLUMN]")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", help="Text or JSON.")
@console.CONFIG
@console.ISOLATED
@console.NO_CACHE
@console.COLOR
def why(place: str, output_format: str, config: str, isolated: bool, no_cache: bool, color: str) -> int:
    """Say of every value on a line whether it is traced, static or unknown, and how it comes to be so.

    With a column, of the innermost expression there. In a notebook the place is FILE:cell N:LINE.

    \b
    Examples:
      jitlint why model.py:12        all values on line 12
      jitlint why model.py:12:8      the expression at column 8
    """
    from jitlint.driver.why import parse_question
    from jitlint.driver.why import why as ask
    from jitlint.report.text import concise
    from jitlint.report.values import values_json, values_text

    question = parse_question(place)
    settings = console.settings_for((question.path,), config, isolated)
    result = ask(question, settings, use_cache=not no_cache)
    style = console.style_for(sys.stdout, color)
    console.print_lines(concise(result.problems, console.style_for(sys.stderr, color)), sys.stderr)
    if result.problems and not result.rows:
        return FAILED
    if output_format == "json":
        console.print_lines([values_json(result.rows)])
    else:
        console.print_lines(values_text(place, result, style, question.column))
    return OK
