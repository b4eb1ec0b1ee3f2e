"""The programs of this folder, and the findings that are put into them.

A file holds programs one below the other, each under `=== what is wrong with the finding`. A comment is the finding:

    # wrong: JIT108 `float(x.shape[0])`     on this text of the line; nothing may confirm it
    # true: JIT108 `float(x)`               nothing may refute it
    # proved: JIT601/case eager `x`@2       and it must be confirmed; the second `x` of the line
    # wrong: JIT108 catalogue `float(x)`    on another ground than that the project jits it
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.result import CheckResult, Statistics
from jitlint.confirm.engine import Options, prove
from jitlint.confirm.verdict import Confirmation

FOLDER = Path(__file__).parent
_MARK = re.compile(
    r"# (?P<kind>wrong|true|proved): (?P<code>JIT\d+)(?:/(?P<case>\w+))?(?: (?P<ground>eager|catalogue))? `(?P<text>.+)`(?:@(?P<nth>\d+))?$"
)


@dataclass(frozen=True, slots=True)
class Program:
    """A program with one finding. kind: wrong, true or proved."""

    name: str
    source: str
    kind: str
    code: str
    case: str
    ground: str
    span: Span

    @property
    def file(self) -> str:
        """A name for its file."""
        return re.sub(r"\W+", "_", self.name).strip("_").lower() + ".py"


def read() -> list[Program]:
    """All programs of the folder."""
    found = []
    for path in sorted(FOLDER.glob("*.txt")):
        for section in path.read_text(encoding="utf-8").split("=== ")[1:]:
            name, _, source = section.partition("\n")
            if "import flax" in source and importlib.util.find_spec("flax") is None:
                continue  # not every JAX has one
            found.append(_program(f"{path.stem}: {name}", source))
    return found


def _program(name: str, source: str) -> Program:
    marked = [(n, m) for n, line in enumerate(source.splitlines(), start=1) if (m := _MARK.search(line))]
    ((line, mark),) = marked
    text, code = mark["text"], source.splitlines()[line - 1][: mark.start()]
    start = -1
    for _ in range(int(mark["nth"] or 1)):
        start = code.index(text, start + 1)
    span = Span(line, start + 1, line, start + 1 + len(text))
    return Program(
        name, source, mark["kind"], mark["code"], mark["case"] or "", mark["ground"] or "jit", span
    )


def verdicts(programs: list[Program], folder: Path) -> list[Confirmation]:
    """What is said of the findings, in the order of the programs, which are written into the folder."""
    (folder / "pyproject.toml").write_text("", encoding="utf-8")
    findings = []
    for program in programs:
        path = folder / program.file
        path.write_text(program.source, encoding="utf-8")
        findings.append(
            Finding(
                program.code, "", Severity.ERROR, Confidence.LIKELY, program.name, str(path), program.span,
                ground=program.ground, case=program.case,
            )
        )  # fmt: skip
    options = Options(jobs=1, seconds=20.0, use_cache=False)
    return prove(CheckResult(findings, [], Statistics()), [str(folder)], Settings(), options).confirmations
