"""The run behind `jitlint check`, and what is left out of its result because somebody wants it so (layer: ``frontends``)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import BY_A_RUN, EXCLUDED, IN_TESTS, INSTALLED, UNREAD, CheckResult
from jitlint.driver.environments import is_installed
from jitlint.frontends import console
from jitlint.frontends.check_fixes import Wishes
from jitlint.frontends.check_output import BY_FILE_LINE, FOR_PEOPLE

if TYPE_CHECKING:
    from jitlint.driver.changes import Changes


@dataclass(frozen=True, slots=True)
class Request:
    """What the options ask for, apart from the settings."""

    paths: tuple[str, ...]
    unsaved: dict[str, bytes]
    context: tuple[str, ...] | None
    output_format: str
    output_file: str
    baseline: str
    write_baseline: str
    prune_baseline: bool
    diff: str
    recorded: bool
    show_refuted: bool
    show_path: bool
    statistics: bool
    exit_zero: bool
    verbosity: int
    color: str
    jobs: int | None
    use_cache: bool
    wished: Wishes


def run(request: Request, settings: Settings, unsaved: Mapping[str, bytes]) -> CheckResult:
    """The result of a run over what is asked for, with other texts perhaps."""
    from jitlint.driver.run import check as run_check

    wants_line = request.verbosity >= 0 and request.output_format in FOR_PEOPLE
    with console.progress_line(wants_line) as progress:
        return run_check(
            request.paths,
            settings,
            jobs=request.jobs,
            use_cache=request.use_cache,
            unsaved=unsaved,
            context=request.context,
            progress=progress,
        )


def checked(
    request: Request, settings: Settings, hidden: list[str], everything: list[Finding] | None = None
) -> tuple[CheckResult, Changes | None]:
    """The run's result, and what has changed if it is only about that. hidden: gets what was found and is not in the result;
    everything: gets all findings in the files asked for."""
    result = run(request, settings, request.unsaved)
    if request.diff or request.output_format in BY_FILE_LINE:
        from jitlint.driver.documents import with_file_lines

        result.findings = with_file_lines(result.findings, request.unsaved)
        result.problems = with_file_lines(result.problems, request.unsaved)
        result.elsewhere = with_file_lines(result.elsewhere, request.unsaved)
    if everything is not None:
        everything += result.findings
    result.findings = [*result.findings, *result.elsewhere]
    left_out = [os.path.abspath(path) for path in result.statistics.excluded]
    installed = sum(map(is_installed, left_out))
    hide(hidden, len(left_out) - installed, EXCLUDED)
    hide(hidden, installed, INSTALLED)
    if result.unread:
        more = f" and {len(result.unread) - 1:,} more" if len(result.unread) > 1 else ""
        hidden.append(f"{result.unread[0]}{more} {UNREAD}")
    hide(hidden, result.in_tests, f"{IN_TESTS}, which `--tests all` shows")
    if request.recorded:
        refuted = _with_recorded(request, result)
        hide(hidden, refuted, f"{BY_A_RUN}, which `--show-refuted` shows")
    return result, _changes(request)


def _changes(request: Request) -> Changes | None:
    if not request.diff:
        return None
    from jitlint.driver.changes import changed_lines

    here = os.path.abspath(request.paths[0])
    return changed_lines(request.diff, here if os.path.isdir(here) else os.path.dirname(here))


def keep_changed(result: CheckResult, changes: Changes | None, hidden: list[str]) -> None:
    """Leave out what has nothing to do with what has changed."""
    if changes is None:
        return
    from jitlint.driver.changes import on_changed_lines

    changed = on_changed_lines(result.findings, changes)
    hide(hidden, len(result.findings) - len(changed), "outside the changed lines")
    result.findings = changed


def put_in_sight(result: CheckResult, changes: Changes | None) -> None:
    """Show what is found in other files, or outside of what has changed, where it was asked about."""
    if result.elsewhere or changes is not None:
        from jitlint.driver.changes import in_sight

        result.findings = [in_sight(each, result.named, changes) for each in result.findings]


def hide(hidden: list[str], count: int, where: str) -> None:
    """Note what is found and not shown, for the last line."""
    if count:
        hidden.append(f"{count:,} {where}")


def _with_recorded(request: Request, result: CheckResult) -> int:
    """What the last recorded run of the project says of the findings, if there is one; how many it leaves out."""
    from jitlint.driver.project import project_root

    root = project_root(request.paths)
    path = os.path.join(root, ".jitlint_recorded.json")
    if not os.path.exists(path):
        return 0
    from jitlint.driver.project import is_test
    from jitlint.driver.registry import rules
    from jitlint.record.compare import REFUTED, missed, relative_to, verdicts, with_verdicts
    from jitlint.record.store import read_store, still_true

    store = still_true(read_store(path), root, request.unsaved)
    name_of = relative_to(root)
    outcomes = {code: rule.outcome for code, rule in rules().items()}
    words = verdicts(store, result.findings, outcomes, name_of)
    if request.verbosity >= 0:
        looked_at = {name_of(each) for each in result.named}
        for item in missed(
            store, result.findings, name_of, lambda file: is_test(os.path.join(root, file), root)
        ):
            if item.file in looked_at:
                console.warn(f"{item.file}:{item.line}: missed: in a recorded run {item.what}")
    told = with_verdicts(result.findings, words)
    refuted = words.count(REFUTED)
    if refuted:
        result.statistics.notes[f"findings {BY_A_RUN}"] = refuted
    if request.show_refuted:
        result.findings = told
        return 0
    result.findings = [finding for finding, word in zip(told, words) if word != REFUTED]
    return refuted
