"""Fix programs without writing them: what the tests of this folder share."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding, Safety
from jitlint.base.result import CheckResult
from jitlint.driver.registry import rules
from jitlint.driver.run import check
from jitlint.fix.engine import Engine, Offer
from tests.fixtures.marks import FIXTURES, programs

SETTINGS = Settings(extend_select=("JIT004", "JIT702"), tests="all", directory=str(FIXTURES.parent))
PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Outcome:
    """texts: the changed files; fixed: what was done; found, left: the findings before and afterwards."""

    before: Mapping[Path, str]
    texts: Mapping[Path, str]
    fixed: tuple[Offer, ...]
    found: tuple[Finding, ...]
    left: tuple[Finding, ...]


def repair(contents: Mapping[Path, bytes], safety: Safety = Safety.UNSAFE) -> Outcome:
    """Fix these files, as if they stood on the disk."""
    unsaved = {str(path.absolute()): data for path, data in contents.items()}
    names = [str(path) for path in contents]

    def again(texts: Mapping[str, bytes]) -> CheckResult:
        return check(names, SETTINGS, use_cache=False, jobs=1, unsaved=texts, context=())

    engine = Engine(again, unsaved)
    first = again(unsaved)
    done = engine.repair(
        first, lambda _: True, lambda _, patch: safety is Safety.UNSAFE or patch.safety is Safety.SAFE
    )
    before = {Path(path).absolute(): source.text for path, (source, _) in done.sources.items()}
    after = {Path(path).absolute(): text for path, (_, text) in done.sources.items()}
    left = (*done.result.findings, *done.result.problems)
    return Outcome(
        before,
        after,
        tuple(done.fixed),
        tuple(first.findings),
        tuple(replace(each, fix=None) for each in left),
    )


@functools.cache
def repaired_fixtures() -> Outcome:
    """All bad fixtures of the rules that have fixes, and the programs that stand here, fixed with everything."""
    folders = {code for code, rule in rules().items() if rule.remedy is not None}
    paths = [
        path
        for program in programs()
        for path in program.files
        if path.name.startswith("bad") and path.relative_to(FIXTURES).parts[0][:6] in folders
    ]
    return repair({path: path.read_bytes() for path in [*paths, *sorted(PROGRAMS.glob("*.py"))]})
