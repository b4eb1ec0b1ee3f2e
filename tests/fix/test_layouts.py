"""However a program is laid out, the same is fixed in it, and the layout stays."""

from __future__ import annotations

import ast
import io
import random
import re
import tokenize
from pathlib import Path

import pytest

from jitlint.driver.registry import rules
from jitlint.fix.cures import CURES
from tests.fix.repairing import PROGRAMS, repair

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


def _texts() -> dict[Path, str]:
    """The example of each rule, and the programs with forms that these lack."""
    texts = {Path(f"{code}.py"): PRELUDE + rules()[code].bad for code in WITH_EXAMPLES}
    return texts | {Path(name): (PROGRAMS / name).read_text() for name in ("forms.py", "more.py")}


_GO_ON = frozenset(
    "= += -= *= /= //= + - * / // % ** < > <= >= == != return in if while assert and or not".split()
)
"""Behind what a line may go on below a backslash."""


def _continued(text: str, number: int) -> str:
    """The text in another layout: line breaks inside of brackets, backslashes outside of them, comments behind and above
    statements, other indentation and line ends."""
    chance = random.Random(number)
    text, _, newline = _variant(text, number)
    text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    breaks: list[tuple[int, int, str]] = []
    depth = 0
    in_text = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        row, column = token.end
        kind = tokenize.tok_name[token.type]
        in_text += {"FSTRING_START": 1, "FSTRING_END": -1}.get(kind, 0)
        depth += (token.string in "([{") - (token.string in ")]}") if kind == "OP" and not in_text else 0
        opens = kind == "OP" and token.string in ("(", "[", "{", ",")
        line = lines[row - 1]
        margin = line[: len(line) - len(line.lstrip())]
        if opens and depth and not in_text and chance.random() < 0.5:
            breaks.append((row, column, "\n" + margin + " " * chance.choice([4, 8, 11])))
        elif kind in ("OP", "NAME") and token.string in _GO_ON and not depth and not in_text:
            if chance.random() < 0.45:
                breaks.append((row, column, f" \\\n{margin}{' ' * chance.choice([1, 4, 7])}"))
        elif kind == "NEWLINE" and "#" not in line and chance.random() < 0.4:
            breaks.append((row, token.start[1], f"  # remark {len(breaks)}"))
    for row, column, added in sorted(breaks, reverse=True):
        line = lines[row - 1]
        rest = line[column:].lstrip() if "\n" in added else line[column:]
        lines[row - 1] = line[:column] + added + rest
    above = [at for at, line in enumerate(lines) if line.lstrip().startswith("@") and chance.random() < 0.5]
    for at in reversed(above):
        margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines.insert(at, f"{margin}# remark {1000 + at}")
    return newline.join("\n".join(lines).split("\n"))


@pytest.mark.parametrize("number", range(8))
def test_lines_that_go_on_and_comments_change_nothing(number: int) -> None:
    """The same is fixed, it means the same, and each remark is still there."""
    plain = _texts()
    varied = {path: _continued(text, number * 100 + at) for at, (path, text) in enumerate(plain.items())}
    fixed = repair({path: text.encode() for path, text in plain.items()})
    others = repair({path: text.encode() for path, text in varied.items()})
    assert sum(text != plain[path] for path, text in varied.items()) > 30
    assert sum("\\" in text for text in varied.values()) > 12
    assert fixed.texts.keys() == others.texts.keys()
    for path, text in fixed.texts.items():
        assert ast.dump(ast.parse(others.texts[path])) == ast.dump(ast.parse(text)), others.texts[path]
        remarks = re.findall(r"# remark \d+", varied[Path(path.name)])
        assert sorted(re.findall(r"# remark \d+", others.texts[path])) == sorted(remarks)
