"""What `argparse` makes of a command line."""

from __future__ import annotations

import pytest

from jitlint.infer.events import TransformMisuse
from tests.link.domains.telling import told

HEAD = "import argparse\nimport functools\n\nparser = argparse.ArgumentParser()\n"
STATIC = """
@functools.partial(jax.jit, static_argnames="o")
def f(x, o):
    return x

f(1.0, args.option)
"""


def parsed(declared: str, ending: str) -> str:
    return f"{HEAD}{declared}\nargs = parser.parse_args()\n{ending}"


@pytest.mark.parametrize(
    ("declared", "unhashable"),
    [
        ("parser.add_argument('--option', type=int, nargs='+', default=[1])", True),
        ("parser.add_argument('-o', '--option', nargs='*', default=[1])", True),
        ("parser.add_argument('option', type=float, nargs=2)", True),
        ("parser.add_argument_group('more').add_argument('--option', action='append', default=[])", True),
        ("parser.add_argument('--option', type=int, nargs='+', default=(1, 2))", False),
        ("parser.add_argument('--option', type=int, default=3)", False),
        ("parser.add_argument('--option', type=lambda text: tuple(text.split(',')))", False),
        ("parser.add_argument('--other', nargs='+', default=[1])", False),
        ("parser.add_argument('--option', **{'nargs': '+'})", False),
    ],
)
def test_lists_have_no_hash(declared: str, unhashable: bool) -> None:
    assert bool(told(parsed(declared, STATIC), TransformMisuse)) is unhashable


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("parser.add_argument('option')", True),
        ("parser.add_argument('--option', required=True, choices=['a', 'b'])", True),
        ("parser.add_argument('--some-option', dest='option', type=str, default='a')", True),
        ("parser.add_argument('--option', type=float, default=3)", False),
        ("parser.add_argument('--option', action='count', default=0)", False),
        ("parser.add_argument('--option', action='store_true')", False),
        ("parser.add_argument('--option', type=unknown, default='a')", False),
    ],
)
def test_texts_are_no_arrays(declared: str, text: bool) -> None:
    ending = "jax.jit(lambda x: x)(args.option)\n"
    assert bool(told(parsed(declared, ending), TransformMisuse)) is text


def test_what_is_put_in_its_place() -> None:
    declared = "parser.add_argument('--option', type=int, nargs='+', default=[1])"
    ending = f"args.option = tuple(args.option)\n{STATIC}"
    assert told(parsed(declared, ending), TransformMisuse) == []
