"""Which statements are checks that a program goes past only if they hold."""

from __future__ import annotations

import ast

import pytest

from jitlint.confirm.checks import Without, check_at


def _check(body: str, line: int = 2) -> bool:
    return check_at("def f(x, n):\n" + body, line) is not None


@pytest.mark.parametrize(
    "body",
    [
        "    if x > 0:\n        raise ValueError\n",
        "    if x > 0:\n        text = f'{x}'\n        raise ValueError(text)\n",
        "    assert x > 0, 'no'\n",
        "    for y in x:\n        assert y\n",
    ],
)
def test_checks(body: str) -> None:
    assert _check(body, 3 if "for" in body else 2)


@pytest.mark.parametrize(
    "body",
    [
        "    if x > 0:\n        n = 3\n",
        "    if x > 0:\n        return 1\n",
        "    if x > 0:\n        raise ValueError\n    else:\n        n = 3\n",
        "    if (n := x) > 0:\n        raise ValueError\n",
        "    if x > 0:\n        if n:\n            raise KeyError\n        raise ValueError\n",
        "    while x > 0:\n        raise ValueError\n",
        "    y = x if x > 0 else n\n",
        "    x ==\n",
    ],
)
def test_no_checks(body: str) -> None:
    assert not _check(body)


@pytest.mark.parametrize("around", ["try:", "with suppress(ValueError):"])
def test_what_may_be_caught_is_no_check(around: str) -> None:
    after = "    except ValueError:\n        pass\n" if around == "try:" else ""
    assert not _check(f"    {around}\n        assert x > 0\n{after}", 3)


def test_a_check_is_taken_out_and_nothing_moves() -> None:
    text = "def f(x):\n    if x > 0:\n        raise ValueError\n    return x\n"
    check = check_at(text, 2)
    assert check is not None
    tree = Without({check}).visit(ast.parse(text))
    assert ast.unparse(tree) == "def f(x):\n    pass\n    return x"
    assert tree.body[0].body[1].lineno == 4
