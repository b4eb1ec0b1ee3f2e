"""Which forms of statements and expressions read a buffer that was given away, and which do not."""

from __future__ import annotations

import textwrap

import pytest

from tests.link.domains.telling import told

PROGRAM = """\
step = jax.jit(lambda x: x + 1, donate_argnums=0)


def main(flag):
    x = jnp.ones(3)
    {}


main(unknown)
"""

CASES = {
    "asked for its truth, turned round": ("x = x.sum()\nstep(x)\nreturn not x", True),
    "one of two answers": ("step(x)\nreturn x if flag else 1", False),
    "computed with one of two answers": ("step(x)\nreturn (x if flag else x) + 1", True),
    "written into text": ('step(x)\nreturn f"{x}"', True),
    "an element": ("step(x)\nreturn x[0]", True),
    "an element stored": ("y = step(x)\nx = y\nreturn x[0]", False),
    "its shape": ("step(x)\nreturn x.shape", False),
    "its sum": ("step(x)\nreturn x.sum()", True),
    "given to a function of JAX": ("step(x)\nreturn jnp.sin(x)", True),
    "given to something unknown": ("step(x)\nreturn flag(x)", False),
    "in a comprehension": ("step(x)\nreturn [i * x for i in range(3)]", True),
    "given a name in passing": ("z = (y := x)\nstep(x)\nreturn y + 1", True),
    "annotated": ("y: jax.Array = x\nstep(y)\nreturn x + 1", True),
    "counted on": ("step(x)\nx += 1\nreturn 2", True),
    "raised": ("step(x)\nraise ValueError(x + 1)", True),
    "deleted and made again": ("step(x)\ndel x\nx = jnp.ones(3)\nreturn x + 1", False),
    "in a handler": ("try:\n    step(x)\nexcept ValueError:\n    x = jnp.ones(3)\nreturn x + 1", False),
    "in a finally": ("try:\n    step(x)\nfinally:\n    y = x + 1\nreturn y", True),
    "after a loop that donates": (
        "for _ in range(3):\n    step(x)\n    x = jnp.ones(3)\nreturn x + 1",
        False,
    ),
    "after the else of a loop": ("for _ in range(3):\n    pass\nelse:\n    step(x)\nreturn x + 1", True),
    "after a loop left at once": ("for _ in range(3):\n    step(x)\n    break\nreturn x + 1", True),
    "after an endless loop left by a return": ("while True:\n    step(x)\n    return x + 1", True),
    "matched, not in every case": ("match flag:\n    case 1:\n        step(x)\nreturn x + 1", False),
    "in one side of an or": ("flag or step(x)\nreturn x + 1", False),
    "in the first side of an or": ("step(x).any() or flag\nreturn x + 1", True),
    "unpacked": ("a, b = x, jnp.ones(3)\nstep(a)\nreturn x + 1", True),
    "unpacked, the other one": ("a, b = x, jnp.ones(3)\nstep(b)\nreturn x + 1", False),
    "an attribute": ("flag.x = x\nstep(x)\nreturn flag.x + 1", True),
    "an attribute replaced": ("flag.x = x\nstep(x)\nflag.x = jnp.ones(3)\nreturn flag.x + 1", False),
    "a dictionary made anew": ('d = {"a": x}\nstep(x)\nreturn d["a"] + 1', True),
    "another element of a dictionary": ('d = {"a": x, "b": jnp.ones(3)}\nstep(x)\nreturn d["b"] + 1', False),
    "a dictionary that something unknown has changed": (
        'd = {"a": x}\nstep(x)\nflag(d)\nreturn d["a"] + 1',
        False,
    ),
    "asserted": ("step(x)\nassert x.sum() > 0", True),
    "printed": ("step(x)\nprint(x)", True),
    "mapped over": ("step(x)\nreturn jax.tree.map(jnp.sin, x)", True),
}
"""What a function does with an array, and whether it reads one that was given away."""


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    body, said = CASES[name]
    found = told(PROGRAM.format(textwrap.indent(body, "    ").lstrip()))
    assert [line.partition(" ")[0] for line in found] == (["DonatedRead"] if said else [])
