"""Start a new rule: write its file and its fixture folder.

    python tools/new_rule.py 112 traced-sleep

writes ``jitlint/rules/jit1xx/jit112_traced_sleep.py`` and ``fixtures/JIT112_traced_sleep/{bad,good}.py``. The driver finds
the rule by itself. Fill in the prose, choose the event type, and let the tests tell what is missing. Existing files
are never overwritten.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

RULE = '''\
"""{code}: say in one line what is wrong (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Truth

RULE = Rule(
    code="{code}",
    name="{name}",
    severity=Severity.ERROR,
    summary="",
    explanation="""\\
""",
    instead="""\\
""",
    bad="""\\
@jax.jit
def f(x):
    return x  # expect: {code}


f(1.0)
""",
    good="""\\
@jax.jit
def f(x):
    return x


f(1.0)
""",
    outcome=Raises(("TypeError",)),
    since="{since}",
    reference="https://docs.jax.dev/en/latest/",
)


@RULE.on(Truth)
def check(event: Truth) -> Report | None:
    """Say which events the rule reports."""
    if event.form != "{name}":
        return None
    return Report("", "")
'''

BAD = '''\
"""Say what all these mistakes have in common."""

import jax


@jax.jit
def first(x):
    return x  # expect: {code}


def case_first():
    first(1.0)
'''

GOOD = '''\
"""Say why these are fine although they look like {code}."""

import jax


@jax.jit
def first(x):
    return x


def case_first():
    first(1.0)
'''


class Refused(Exception):
    """The rule cannot be started; the text says why."""


def create(root: Path, number: str, name: str, since: str) -> list[Path]:
    """Write the files of a new rule below ``root`` and answer their paths.

    Raises `Refused` for a malformed or used number or name; nothing is written then.
    """
    if not re.fullmatch(r"[1-9]\d\d", number):
        raise Refused(f"{number!r} is not a rule number: three digits, the first not 0")
    if not re.fullmatch(r"[a-z]+(-[a-z]+)+", name):
        raise Refused(f"{name!r} is not a rule name: two or more lower-case words joined by hyphens")
    rules = root / "jitlint" / "rules"
    suffix = name.replace("-", "_")
    for taken in sorted(rules.glob("*/jit*.py")):
        number_taken, _, name_taken = taken.stem.partition("_")
        if number_taken == f"jit{number}" or name_taken == suffix:
            raise Refused(f"{taken.relative_to(root).as_posix()} exists")
    code = f"JIT{number}"
    folder = root / "fixtures" / f"{code}_{suffix}"
    if folder.exists():
        raise Refused(f"{folder.relative_to(root).as_posix()} exists")
    folder.mkdir(parents=True)
    family = rules / f"jit{number[0]}xx"
    family.mkdir(exist_ok=True)
    texts = {family / f"jit{number}_{suffix}.py": RULE, folder / "bad.py": BAD, folder / "good.py": GOOD}
    for path, text in texts.items():
        path.write_text(text.format(code=code, name=name, since=since), encoding="utf-8")
    return list(texts)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="Start a new rule.")
    parser.add_argument("number", help="three digits, for example 112")
    parser.add_argument("name", help="kebab-case, reads well after 'allow', for example traced-sleep")
    parser.add_argument("--since", default="0.1", help="version that introduces the rule (default: 0.1)")
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        paths = create(options.root, options.number, options.name, options.since)
    except Refused as refusal:
        print(f"new_rule: {refusal}", file=sys.stderr)
        return 2
    for path in paths:
        print(path.relative_to(options.root).as_posix())
    return 0


if __name__ == "__main__":
    sys.exit(main())
