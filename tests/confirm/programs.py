"""What the tests of witnesses share: observing a piece of source whose flagged line is marked."""

from __future__ import annotations

import itertools
import linecache
import os
from typing import Any

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import pytest

pytest.importorskip("jax", reason="proof needs JAX")

from jitlint.confirm.planning.statements import guarded_by, statement_around
from jitlint.confirm.statement import Statement
from jitlint.confirm.watch.observe import Watch
from jitlint.confirm.watch.runs import Runs

PRELUDE = "import time\nimport jax\nimport jax.numpy as jnp\nimport numpy as np\n"
_NUMBERS = itertools.count()


def runs(source: str) -> tuple[Runs, Statement]:
    """The runs of a program, and the statement that ``# here`` marks. Its result is what ``answer`` holds at the end."""
    name, text = f"<program {next(_NUMBERS)}>", PRELUDE + source
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)

    def run() -> Any:
        variables: dict[str, Any] = {"__name__": name}
        exec(compile(text, name, "exec", dont_inherit=True), variables)
        return variables.get("answer")

    marked = [number for number, line in enumerate(text.splitlines(), start=1) if "# here" in line]
    line = marked[0] if marked else 1
    tried, handler = guarded_by(text, line)
    statement = Statement(name, line, *statement_around(text, line), "", 0, tried, handler)
    watches = {(name, line): [Watch(0, frozenset(), (), True, True)]}
    return Runs(run, lambda filename: filename == name, watches), statement
