"""The run behind `jitlint check`, and what is left out of its result because somebody wants it so (layer: ``frontends``)."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import BY_A_RUN, EXCLUDED, IN_TESTS, INSTALLED, UNREAD, CheckResult
from jitlint.driver.environments import is_installed
from jitlint.frontends import console
from jitlint.frontends.check_fixes import Wishes
from jitlint.frontends.check_output import BY_FILE_LINE, FOR_PEOPLE
from jitlint.frontends.console import Texts

if TYPE_CHECKING:
    from jitlint.driver.changes import Changes
    from jitlint.driver.processes.schedule import Workers


@dataclass(frozen=True, slots=True)
class Request:
    """What the options ask for, apart from the settings. workers: who does the work, if not processes here. joined: what is to
    be reported, where others have done the work already."""

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
    workers: Workers | None = None
    joined: CheckResult | None = None


def run(request: Request, settings: Settings, unsaved: Mapping[str, bytes]) -> CheckResult:
    """The result of a run over what is asked for, with other texts perhaps."""
    from jitlint.driver.run import check as run_check

    if request.joined is not None:
        return request.joined
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
            workers=request.workers,
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

    return changed_lines(request.diff, _folder(request))


def _folder(request: Request) -> str:
    """Where git is asked."""
    here = os.path.abspath(request.paths[0])
    return here if os.path.isdir(here) else os.path.dirname(here)


def keep_changed(
    request: Request, settings: Settings, result: CheckResult, changes: Changes | None, hidden: list[str]
) -> None:
    """Leave out what has nothing to do with what has changed, and what a changed line leads to as it did before."""
    if changes is None:
        return
    from jitlint.driver.changes import has_changed, may_be_brought

    wanted = [has_changed(each, changes) for each in result.findings]
    brought = [not here and may_be_brought(each, changes) for here, each in zip(wanted, result.findings)]
    if any(brought):
        old = _were_there(request, settings, result.findings, wanted)
        hide(hidden, sum(map(operator.and_, brought, old)), "there before")
        wanted = [here or (there and not was) for here, there, was in zip(wanted, brought, old)]
    outside = sum(not (here or there) for here, there in zip(wanted, brought))
    hide(hidden, outside, "outside the changed lines")
    result.findings = [each for each, is_wanted in zip(result.findings, wanted) if is_wanted]


def _were_there(
    request: Request, settings: Settings, findings: list[Finding], come_last: list[bool]
) -> list[bool]:
    """Which findings the revision had, too. come_last: of equal ones, these count as the new ones."""
    from jitlint.base.fingerprint import fingerprints
    from jitlint.driver.changes import before
    from jitlint.driver.project import project_root

    old = before(request.diff, _folder(request))
    top = project_root(request.paths).rstrip(os.sep) + os.sep
    gone = [path for path in old.gone if path in old.texts and path.startswith(top)]
    texts = {**request.unsaved, **old.texts}
    result = run(replace(request, paths=(*request.paths, *gone)), settings, texts)

    def name_now(path: str) -> str:
        return old.gone.get(os.path.abspath(path), os.path.abspath(path))

    then = fingerprints([*result.findings, *result.elsewhere], Texts(texts).lines, name_now)
    last = {id(each) for each, is_last in zip(findings, come_last) if is_last}
    now = fingerprints(findings, Texts(request.unsaved).lines, os.path.abspath, lambda each: id(each) in last)
    known = set(then)
    return [mark in known for mark in now]


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
