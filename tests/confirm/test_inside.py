"""Arguments are searched for inside of objects, too, and what they show is not the doing of what was made up."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Related, Severity, Span
from jitlint.base.result import CheckResult, Statistics
from jitlint.confirm.engine import Options, prove
from jitlint.confirm.verdict import Confirmation

pytest.importorskip("jax", reason="proof needs JAX")
pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python 3.10 does not tell which expression of a line fails"
)

TABLE = """\
import jax
import jax.numpy as jnp
import numpy as np


class Table:
    def __init__(self, path, limit=2):
        with open(path) as stream:
            self.rows = np.array([float(line) for line in stream])

    def look(self, x, n):
        scale = np.max(self.rows) * self.settings.factor
        {line}
            return x * scale
        return self.unknown_thing.of(x).that * nobody_has_this

    def all(self, xs, ns):
        return jax.vmap(self.look{axes})(xs, ns)
"""
LOOK = "`Table.look` is batched with `jax.vmap` here"
KERNEL = '''\
import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def add_kernel(x_ref, sum_ref, out_ref):
    """Adds up.

    Args:
        x_ref: values of shape [rows, columns]
        sum_ref: where to begin, of shape [1, columns]
        out_ref: of shape [1, columns]
    """
    {first}

    def body(i, total):
        {line}

    out_ref[:, :] = jax.lax.fori_loop(0, x_ref.shape[0], body, sum_ref[:, :])


def add(x, begin):
    out = jax.ShapeDtypeStruct(begin.shape, begin.dtype)
    return {call}
'''
STORE = "total[:, :] = total + x_ref[i, :]"
KEEPS = "return total + x_ref[i, :]"
ASKS = "sign = 1 if x_ref[0, 0] > 0 else -1"
CALLED = "pl.pallas_call(add_kernel, out_shape=out)(x, begin)"


def _finding(path: Path, code: str, text: str, steps: list[tuple[str, str]], ground: str) -> Finding:
    lines = path.read_text().splitlines()

    def span(wanted: str) -> Span:
        number = next(n for n, line in enumerate(lines, start=1) if wanted in line)
        start = lines[number - 1].index(wanted) + 1
        return Span(number, start, number, start + len(wanted))

    related = tuple(Related(str(path), span(at), said) for at, said in steps)
    return Finding(
        code, "", Severity.ERROR, Confidence.LIKELY, "", str(path), span(text), related=related, ground=ground
    )


def _verdict(
    folder: Path, source: str, code: str, text: str, steps: list[tuple[str, str]], ground: str = "jit"
) -> Confirmation:
    (folder / "pyproject.toml").write_text("")
    path = folder / "program.py"
    path.write_text(source)
    finding = _finding(path, code, text, steps, ground)
    options = Options(jobs=1, seconds=40.0, use_cache=False)
    checked = CheckResult([finding], [], Statistics())
    return prove(checked, [str(folder)], Settings(), options).confirmations[0]


@pytest.mark.parametrize(
    ("line", "code", "text", "axes", "expected"),
    [
        ("if x > 1.0:", "JIT101", "x > 1.0", "", "confirmed"),
        ("for _ in range(n):", "JIT106", "range(n)", "", "confirmed"),
        # What is wrong with these: an attribute is not traced,
        ("if self.limit > 1:", "JIT101", "self.limit > 1", "", "not-reached"),
        # nobody knows what a method answers,
        ("if self.count(x) > 1:", "JIT101", "self.count(x) > 1", "", "not-reached"),
        # and the program maps over the first argument only.
        ("for _ in range(n):", "JIT106", "range(n)", ", in_axes=(0, None)", "not-reached"),
    ],
)
def test_objects_are_made_without_their_constructor(
    tmp_path: Path, line: str, code: str, text: str, axes: str, expected: str
) -> None:
    source = TABLE.format(line=line, axes=axes)
    found = _verdict(tmp_path, source, code, text, [("jax.vmap", LOOK), ("jax.vmap", "and called here")])
    assert found.verdict.value in (expected, "no-inputs" if expected != "confirmed" else expected), found
    if expected == "confirmed":
        assert re.search(r"self=Table\(rows=.*settings=object\(factor=", found.inputs)


@pytest.mark.parametrize(
    ("line", "code", "text", "call", "expected"),
    [
        (STORE, "JIT401", "total[:, :]", CALLED, {"confirmed"}),
        (STORE, "JIT208", "jax.lax.fori_loop(0, x_ref.shape[0], body, sum_ref[:, :])", CALLED, {"confirmed"}),
        # It is a kernel only if somebody makes it one.
        (KEEPS, "JIT101", "x_ref[0, 0] > 0", "add_kernel(x, begin, out)", {"not-reached", "no-inputs"}),
    ],
)
def test_kernels_get_references(
    tmp_path: Path, line: str, code: str, text: str, call: str, expected: set[str]
) -> None:
    steps = [("fori_loop", "`add_kernel.<locals>.body` runs under `jax.lax.fori_loop` here")]
    found = _verdict(
        tmp_path,
        KERNEL.format(first=ASKS if line == KEEPS else "", line=line, call=call),
        code,
        text,
        steps * 2,
    )
    assert found.verdict.value in expected, found


WORDS = """\
import jax.numpy as jnp


def decoded(text: str):
    found = jnp.zeros(4)
    for number, part in enumerate(text.split(" ; ")[1:]):
        found[number] = int(part, 16)
    return found


def test_decoded():
    assert decoded.__name__ and "begin ; ff ; 10"
"""
ROWS = """\
import csv

import jax


@jax.jit
def length(text):
    return text


def lengths(csv_path: str):
    with open(csv_path) as stream:
        for row in csv.reader(stream):
            print(length(row[0]))
"""


def test_a_text_of_the_tests_is_an_argument(tmp_path: Path) -> None:
    found = _verdict(tmp_path, WORDS, "JIT401", "found[number]", [], "eager")
    assert (found.verdict.value, found.inputs) == ("confirmed", "text='begin ; ff ; 10'")


def test_a_file_that_is_asked_for_is_made(tmp_path: Path) -> None:
    found = _verdict(tmp_path, ROWS, "JIT507", "length(row[0])", [], "eager")
    assert found.verdict.value == "confirmed", found
