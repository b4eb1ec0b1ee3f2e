"""An edit of bodies is told as such, and puts the older form in the state of the newer one."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import jitlint
from jitlint.syntax import ir
from jitlint.syntax.difference import MOST_FUNCTIONS, Origins, Patch, difference
from jitlint.syntax.lowering import lower

TEXT = """import jax

LIMIT = sorted([3, 1], key=lambda pair: -pair)


def outer(x, scale=lambda y: y):
    def inner(z):
        return z * 2

    return inner(scale(x)) + LIMIT


class Model:
    size: "int" = 3

    def __call__(self, x: "jax.Array"):
        return [each + 1 for each in x]

    def other(self):
        return lambda: self


def last(x):
    return -x
"""


def lowered(text: str) -> ir.Module:
    found = lower(text)
    assert isinstance(found, ir.Module), found
    return found


def compared(before: str, after: str) -> tuple[Patch, Origins] | None:
    """The difference, after it was put in place and compared with the newer form."""
    older, newer = lowered(before), lowered(after)
    found = difference(older, newer)
    if found is not None:
        _same(older, newer, *found)
    return found


def _same(older: ir.Module, newer: ir.Module, patch: Patch, origins: Origins) -> None:
    """The older form with the patch says what the newer does, in its origins."""
    functions = [*older.functions, *patch.added]
    for number, function in patch.functions.items():
        functions[number] = function
    order: list[int] = []

    def moved(node: Any) -> Any:
        if isinstance(node, list):
            return [moved(each) for each in node]
        fields = getattr(node, "__struct_fields__", None)
        if fields is None:
            return node
        values = [getattr(node, name) for name in fields]
        for place, name in enumerate(fields):
            if name in ("at", "name_at", "first_at"):
                values[place] = origins.newer(values[place])
            elif name == "function":
                values[place] = visit(values[place])
            elif name == "body" and isinstance(values[place], bytes):
                values[place] = ir.encode_body(moved(ir.decode_body(values[place])))
            else:
                values[place] = moved(values[place])
        return type(node)(*values)

    known: dict[int, int] = {}
    out: dict[int, ir.Function] = {}

    def visit(number: int) -> int:
        """The functions come in the order of the source, each before what is in it."""
        if number not in known:
            known[number] = -1
            order.append(number)
        return number

    body = moved(older.body)
    for number in order:
        out[number] = moved(functions[number])
    names = {number: place for place, number in enumerate(sorted(order, key=lambda n: out[n].at))}

    def renamed(node: Any) -> Any:
        if isinstance(node, list):
            return [renamed(each) for each in node]
        fields = getattr(node, "__struct_fields__", None)
        if fields is None:
            return node
        values = [
            names[getattr(node, name)] if name == "function"
            else ir.encode_body(renamed(ir.decode_body(node.body))) if name == "body" and isinstance(node.body, bytes)
            else renamed(getattr(node, name))
            for name in fields
        ]  # fmt: skip
        return type(node)(*values)

    assert renamed(body) == newer.body
    assert [renamed(out[number]) for number in names] == newer.functions
    quoted = {origins.newer(at) for at in (*older.quoted, *patch.quoted)}
    assert quoted >= set(newer.quoted)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("z * 2", "z * 3", ["outer"]),
        ("        return z * 2\n", "        w = 1\n        return z * w\n", ["outer"]),
        ("return inner(", "return (lambda q: q)(", ["outer"]),
        ("    def inner(z):\n        return z * 2\n\n    return inner(scale(x))", "    return scale(x)", ["outer"]),
        ("[each + 1 for each in x]", "{each: 1 for each in x}", ["Model.__call__"]),
        ("return lambda: self", "def f() -> 'Model':\n            return self\n\n        return f", ["Model.other"]),
        ("-x\n", "x\n", ["last"]),
        ("-pair", "pair", ["<lambda>"]),
        ("y: y)", "y: y + 1)", ["outer.<locals>.<lambda>"]),
        ("# nothing", "# nothing", []),
    ],
)  # fmt: skip
def test_an_edit_of_a_body(old: str, new: str, names: list[str]) -> None:
    found = compared(TEXT, TEXT.replace(old, new))
    assert found is not None
    older = lowered(TEXT)
    told = [older.functions[number].qualname for number in found[0].functions]
    assert [name.rpartition(".")[2] for name in told] == [name.rpartition(".")[2] for name in names]


def test_edits_of_several_bodies() -> None:
    after = TEXT.replace("z * 2", "z * 2 * 3").replace("each + 1", "each").replace("-x\n", "x + 1\n")
    found = compared(TEXT, after)
    assert found is not None
    assert len(found[0].functions) == 3
    assert compared(after, TEXT) is not None


def test_layout_is_no_difference() -> None:
    found = compared(TEXT, TEXT.replace("\n\n", "\n\n\n# a comment\n"))
    assert found is not None
    assert found[0] == Patch()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import jax\n", "import jax.numpy\n"),
        ("def last(x)", "def last(x, y)"),
        ("def last(x)", "async def last(x)"),
        ("def last(x)", "def final(x)"),
        ("def last(x):", "@jax.jit\ndef last(x):"),
        ("    return -x\n", "    yield -x\n"),
        ("    return -x\n", "    global LIMIT\n    return -x\n"),
        ("    return -x\n", "    import numpy\n    return -x\n"),
        ("    return -x\n", "    return -x\n\n\ndef more():\n    pass\n"),
        ("def last(x):\n    return -x\n", ""),
        ("size: ", "sizes: "),
        ("[3, 1]", "[3, 2]"),
        ("[3, 1]", "[3, 1.0]"),
        ('"jax.Array"', "jax.Array | None"),
    ],
)
def test_an_edit_of_more_than_bodies(old: str, new: str) -> None:
    assert old in TEXT
    assert compared(TEXT, TEXT.replace(old, new)) is None


def test_many_bodies_are_more_than_somebody_types() -> None:
    def text(value: int) -> str:
        return "".join(f"def f{i}():\n    return {value}\n" for i in range(MOST_FUNCTIONS + 1))

    assert compared(text(1), text(2)) is None


def test_edits_of_real_code() -> None:
    rng = random.Random(0)
    files = sorted(Path(jitlint.__file__).parent.rglob("*.py"))
    told = 0
    for path in rng.sample(files, 60):
        lines = path.read_text("utf-8").split("\n")
        places = [i for i, line in enumerate(lines) if line.startswith("        ") and " = " in line]
        for _ in range(2 if places else 0):
            at = rng.choice(places)
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            new = rng.choice(
                [f"{indent}more = lambda q: [q]\n{lines[at]}", f"{indent}pass", f"{lines[at]}\n{lines[at]}"]
            )
            edited = lower("\n".join([*lines[:at], new, *lines[at + 1 :]]))
            if isinstance(edited, ir.Module):
                older = lowered("\n".join(lines))
                found = difference(older, edited)
                if found is not None:
                    _same(older, edited, *found)
                    told += 1
    assert told > 30
