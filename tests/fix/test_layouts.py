"""However a program is laid out, the same is fixed in it, and the layout stays."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from jitlint.driver.registry import rules
from jitlint.fix.cures import CURES
from tests.fix.repairing import repair

PRELUDE = "import jax\nimport jax.numpy as jnp\nimport numpy as np\n\n"
WITH_EXAMPLES = [code for code in sorted(CURES) if rules()[code].bad]


def _variant(text: str, number: int) -> tuple[str, str, str]:
    """The text with other indentation, line ends and comments; and what each of the two first became."""
    chance = random.Random(number)
    step = chance.choice(["  ", "\t", "   ", "    ", "        "])
    newline = chance.choice(["\n", "\r\n"])
    lines = []
    for line in text.split("\n"):
        body = line.lstrip(" ")
        lines.append(step * ((len(line) - len(body)) // 4) + body)
    return newline.join(lines), step, newline


@pytest.mark.parametrize("number", range(4))
def test_fixing_and_laying_out_anew_go_together(number: int) -> None:
    """Laid out otherwise and then fixed, a program is what it is when it is fixed first."""
    plain = {Path(f"{code}.py"): PRELUDE + rules()[code].bad for code in WITH_EXAMPLES}
    varied = {path: _variant(text, number * 100 + at) for at, (path, text) in enumerate(plain.items())}
    fixed = repair({path: text.encode() for path, text in plain.items()})
    others = repair({path: text.encode() for path, (text, _, _) in varied.items()})
    assert len(fixed.texts) > 25
    assert fixed.texts.keys() == others.texts.keys()
    for path, text in fixed.texts.items():
        step, newline = varied[Path(path.name)][1:]
        again = newline.join(
            step * ((len(line) - len(line.lstrip(" "))) // 4) + line.lstrip(" ") for line in text.split("\n")
        )
        assert others.texts[path] == again
