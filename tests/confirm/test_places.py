"""Where nothing else can fail, so that the line alone says what failed: all that Python before 3.11 tells."""

from __future__ import annotations

import ast

import pytest

from jitlint.confirm.planning.places import Places, columns_of_node


def _is_alone(source: str, flagged: str) -> bool:
    """Whether the first expression with this text is."""
    tree = ast.parse(source)
    found = [part for part in ast.walk(tree) if isinstance(part, ast.expr) and ast.unparse(part) == flagged]
    return Places(tree).is_alone(columns_of_node(found[0]))


@pytest.mark.parametrize(
    "source",
    [
        "if x > 0:\n    y = f(x)\nelse:\n    y = -x\n",
        "for i in range(3):\n    while x > 0:\n        y = f(x)\n",
        "def f(x):\n    try:\n        g()\n        return x > 0\n    except E:\n        h()\n",
        "with f():\n    if (\n        x > 0\n    ):\n        g()\n",
        "@g\ndef f(x):\n    return float(x > 0)\n",
        "class A:\n    y = [x > 0]\n",
        "match n:\n    case 1 if x > 0:\n        f()\n",
        "y = 1 if x > 0 else 2\n",
    ],
)
def test_what_blocks_hold_does_not_run_with_their_header(source: str) -> None:
    assert _is_alone(source, "x > 0")


@pytest.mark.parametrize(
    "source",
    [
        "if x > 0: y = f(x)\n",
        "y = f(x); z = x > 0\n",
        "if f(x): y = x > 0\n",
        "y = f(x); z = g(\n    x > 0\n)\n",
        "if x > 0 and f(x):\n    pass\n",
        "if x > 0 and y < 1:\n    pass\n",
        "y = x if x > 0 else -x\n",
        "@g(x > 0)\ndef f(): return h()\n",
        "try:\n    pass\nexcept f(): y = x > 0\n",
        "match n:\n    case 1 if f(): y = x > 0\n",
    ],
)
def test_what_shares_a_line_with_something_is_not_alone(source: str) -> None:
    assert not _is_alone(source, "x > 0")
