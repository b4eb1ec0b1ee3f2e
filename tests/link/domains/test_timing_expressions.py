"""Which forms of statements and expressions wait for a result, and which do not."""

from __future__ import annotations

import textwrap

import pytest

from tests.link.domains.telling import told

PROGRAM = """\
import time

step = jax.jit(lambda x: x + 1)


def main(x, flag):
    start = time.time()
    y = step(x)
    {}
    return time.time() - start


main(jnp.ones(()), unknown)
"""

CASES = {
    "asked for its truth, turned round": ("done = not y", False),
    "asked for its truth before another question": ("done = y and flag", False),
    "one of two answers": ("z = y if flag else x", True),
    "asked which answer": ("z = 1 if y else 2", False),
    "written into text": ('text = f"{y}"', False),
    "asked for its truth in a filter": ("z = [i for i in range(3) if y]", False),
    "computed with": ("z = -y * 2", True),
    "given a name in passing": ("z = (w := y)", True),
    "compared": ("z = y > 3", True),
    "asserted": ("assert y", False),
    "a condition": ("if y:\n    pass", False),
    "a loop condition": ("while y:\n    break", False),
    "asked whether it is None": ("if y is None:\n    pass", True),
    "put into a list that is printed": ("z = [y]\nprint(z)", False),
    "stored into a list": ("z = []\nz.append(y)", True),
    "a matched subject": ("match y:\n    case 1:\n        pass", False),
    "in a handler": ("try:\n    pass\nexcept ValueError:\n    y.block_until_ready()", False),
    "in a finally": ("try:\n    pass\nfinally:\n    y.block_until_ready()", False),
    "measured again after a wait": ("first = time.time() - start\ny.block_until_ready()", True),
    "a deadline": ("while time.time() - start < 3:\n    y.block_until_ready()", False),
    "mapped over": ("z = jax.tree.map(jnp.sin, y)", True),
    "mapped over by something unknown": ("z = jax.tree.map(flag, y)", False),
    "given to something unknown": ("z = flag(y)", False),
    "its clock started anew": ("y.block_until_ready()\nstart = time.time()", False),
    "indexed": ("z = y[..., None]", True),
    "taken out by item": ("z = y.item()", False),
}
"""What stands between the start of the work and the reading of the clock, and whether the reading is too early."""


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    body, said = CASES[name]
    found = told(PROGRAM.format(textwrap.indent(body, "    ").lstrip()))
    assert [line.partition(" ")[0] for line in found] == (["UnsyncedClock"] if said else [])
