"""Texts that `jax.debug.print` is to fill in, and that have no place for what it is given (layer: ``link``, room ``domains``).

What it does: reads a text that is known, and looks whether it has a place for each argument, and an argument for each place. What it
does not: read places with formats that are filled in themselves.
Source: https://docs.jax.dev/en/latest/_autosummary/jax.debug.print.html
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterable
from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Py
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

PRINT: Final = "jax.debug.print"
_OPTIONS: Final = frozenset({"fmt", "ordered", "partitioned", "skip_format_check"})


def heard(m: Machine, f: Frame, library: Library) -> None:
    """`jax.debug.print` is called."""
    args = library.args
    fmt = args.get(0, "fmt")
    whole = args.more is None and args.kw_more is None and "skip_format_check" not in args.kw
    places = _places(fmt.const) if type(fmt) is Py and isinstance(fmt.const, str) and whole else None
    if places is None:
        return
    given = len(args.pos) - ("fmt" not in args.kw)
    unused = _unused(places, given, args.kw)
    missing = next((name for name in sorted(places) if name.isdigit() and int(name) >= given), "")
    if unused or missing:
        m.emit(
            f, ApiMisuse, library.at, api=library.dotted, problem="wrong-call", parameter=unused or missing,
            detail="unprinted" if unused else "unfilled", exception="ValueError" if unused else "IndexError",
        )  # fmt: skip


def _unused(places: set[str], given: int, named: Iterable[str]) -> str:
    """The first argument that a text has no place for, "" if it has one for each."""
    left = [f"argument {n + 2}" for n in range(given) if str(n) not in places]
    left += [f"`{name}`" for name in named if name not in places and name not in _OPTIONS]
    return left[0] if left else ""


def _places(text: str) -> set[str] | None:
    """The names and numbers that a text has places for; None if that is not plain to see."""
    found, counted = set[str](), itertools.count()
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError:
        return None
    for _, field, spec, _ in parts:
        if field is None:
            continue
        if "{" in (spec or ""):
            return None
        name = field.partition(".")[0].partition("[")[0]
        found.add(name or str(next(counted)))
    return found
