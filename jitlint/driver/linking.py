"""Runs the analysis over the units that nobody has run yet, in several processes where that pays (layer: ``driver``).

What is known of a unit holds by what its modules say: names, roles and the hashes of their intermediate form, which knows
no positions. A comment, an empty line or another layout runs nothing. What is left out here: files, positions and words.
"""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Confidence
from jitlint.base.result import AnalysisError
from jitlint.driver.drafts import Draft, Linked, draft, traced_draft
from jitlint.driver.lowering import Lowered
from jitlint.driver.processes.carried import Carried, carried, unpacked
from jitlint.driver.processes.schedule import Workers
from jitlint.driver.project import is_test
from jitlint.driver.registry import rules
from jitlint.driver.target import Target
from jitlint.driver.workspace import Workspace

if TYPE_CHECKING:
    from jitlint.driver.processes.ahead import Ahead
    from jitlint.infer.events import AnyEvent
    from jitlint.link.engine.schedule import Calls
    from jitlint.link.program import Analysis, ModuleInput, Options

# Below this many bytes of intermediate form, forking costs more than it saves.
_WORTH_FORKING = 400_000
_WORTH_SWEEPING = 4_000_000
_FAILED, _CONFIG, _FOUND = b"!", b"?", b"="

Stop = Callable[[], bool]
"""Whether somebody does not want the answer any more."""


Heard = Callable[["AnyEvent"], None]


class Stopped(BaseException):
    """The answer is not wanted any more. Not an `Exception`: no part of the analysis may take it for its own failure."""


@dataclass(frozen=True, slots=True)
class Task:
    """What the answer about a unit depends on, beside its modules. target: the JAX that it is about."""

    settings: Settings
    possible: bool
    parameters: bool
    target: Target


@dataclass(slots=True)
class Program:
    """What was found in the units that the named files are in. ran: how many of them had to be analysed. early: see `Ahead`."""

    linked: list[Linked] = field(default_factory=list)
    ran: int = 0
    early: bool = False

    @property
    def drafts(self) -> dict[str, list[Draft]]:
        """By module, which belongs to one unit."""
        return {module: drafts for unit in self.linked for module, drafts in unit.drafts.items()}


def link(
    workspace: Workspace,
    lowered: Lowered,
    task: Task,
    workers: Workers,
    stop: Stop | None = None,
    heard: Heard | None = None,
    ahead: Ahead | None = None,
    exact: bool = True,
) -> Program:
    """What the analysis finds in every unit with a named file. Raises AnalysisError, ConfigError and Stopped.

    heard: gets events before the end, of units that are not analysed in other processes. ahead: answers before the
    analysis does, unless the answer has to be exact, and hears what it needs for the next time.
    """
    keys = {_key(workspace, lowered, task, group): group for group in named_units(workspace, lowered)}
    found = {key: known for key in keys if (known := workspace.cache.link(key, Linked)) is not None}
    missing = {key: group for key, group in keys.items() if key not in found}
    groups = list(missing.values())
    if ahead is not None and not exact:
        early = ahead.answer(workspace, lowered, task, groups, stop)
        if early is not None:
            return Program([found.get(key, early) for key in keys], 1, early=True)
    results = _run(workspace, lowered, task, groups, workers, stop, heard, ahead is not None)
    found.update(zip(missing, [result for result, _ in results]))
    if missing and lowered.complete:
        _keep(workspace, missing, results)
    if ahead is not None:
        ahead.follow(workspace, lowered, task, list(zip(groups, results)))
    return Program([found[key] for key in keys], len(missing))


def _keep(workspace: Workspace, keys: Iterable[str], results: Iterable[tuple[Linked, Calls]]) -> None:
    for key, (result, _) in zip(keys, results):
        workspace.cache.keep_link(key, result)
    workspace.cache.drop_old_links()


def named_units(workspace: Workspace, lowered: Lowered) -> list[list[str]]:
    """The units that the named files are in."""
    named = set(workspace.named)
    return [
        group
        for group in workspace.units
        if not named.isdisjoint(group) and not lowered.digests.keys().isdisjoint(group)
    ]


def _key(workspace: Workspace, lowered: Lowered, task: Task, group: Sequence[str]) -> str:
    settings = task.settings
    parts: list[object] = [
        workspace.cache.tool,
        task.possible,
        task.parameters,
        (task.target.version, task.target.before, task.target.flax),
        settings.traced,
        settings.catalogue,
    ]
    rows = [
        (workspace.names[path], workspace.kept_path(path), lowered.digests[path])
        for path in group
        if path in lowered.digests
    ]
    return hashlib.sha256(repr([*parts, *sorted(rows)]).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def _run(
    workspace: Workspace,
    lowered: Lowered,
    task: Task,
    groups: Sequence[Sequence[str]],
    workers: Workers,
    stop: Stop | None,
    heard: Heard | None,
    calls: bool,
) -> list[tuple[Linked, Calls]]:
    """Analyse units. calls: also tell who calls whom in them; then no other process helps."""
    if not groups:
        return []
    inputs = [module_inputs(workspace, lowered, group) for group in groups]
    sizes = [sum(len(module.data) for module in modules) for modules in inputs]
    # Who listens has something to do meanwhile: only where one unit is not most of all would forking be faster.
    worth = max(sizes) if heard is not None else _WORTH_FORKING
    few = len(groups) < 2 or sum(sizes) - max(sizes) < worth
    if stop is not None or calls or (few and not workers.remote):
        options = _options(task, stop, heard, calls)
        return [_with_calls(modules, options) for modules in inputs]
    options = _options(task)
    work = _Work(options, _to_carry(options.catalogue) if workers.remote else ())
    # After a lost worker it can be tried again here, with all that there is.
    return [
        _with_calls(modules, options) if isinstance(out, Exception) else (_received(out), {})
        for modules, out in zip(inputs, workers.run(work, inputs, sizes, 0))
    ]


def _options(
    task: Task, stop: Stop | None = None, heard: Heard | None = None, calls: bool = False
) -> Options:
    from jitlint.link.program import Options  # before forking, so that the workers share it

    return Options(
        traced=task.settings.traced,
        include_possible=task.possible,
        parameters=task.parameters,
        catalogue=task.settings.catalogue,
        jax_version=task.target.version,
        jax_before=task.target.before,
        flax=task.target.flax,
        stop=_asking(stop) if stop is not None else None,
        heard=heard,
        calls=calls,
    )


def _to_carry(catalogues: Sequence[str]) -> Carried:
    """These files; what is wrong with them is said here, where they have their names."""
    from jitlint.catalogue.schema import CatalogueError
    from jitlint.catalogue.transforms import load_transforms

    try:
        load_transforms(tuple(catalogues))
    except CatalogueError as error:
        raise ConfigError(str(error)) from error
    return carried(catalogues)


@dataclass(slots=True)
class _Work:
    """What workers do with a unit. carried: the files that the options name, where workers do not have them. unswept: how
    much was analysed since what that left behind was looked through: each analysis is a large knot."""

    options: Options
    carried: Carried
    unswept: int = 0

    def __call__(self, modules: list[ModuleInput]) -> bytes:
        self.unswept += sum(len(module.data) for module in modules)
        if self.unswept > _WORTH_SWEEPING:
            gc.collect()
            self.unswept = 0
        try:
            with unpacked(self.carried) as paths:
                options = replace(self.options, catalogue=paths) if paths else self.options
                return _FOUND + msgspec.msgpack.encode(_analysed(modules, options))
        except (ConfigError, AnalysisError) as error:
            kind = _CONFIG if isinstance(error, ConfigError) else _FAILED
            return kind + str(error).encode("utf-8", "replace")


def _received(outcome: bytes) -> Linked:
    """What a worker found; what it could not do is raised here."""
    if outcome[:1] == _FOUND:
        return msgspec.msgpack.decode(outcome[1:], type=Linked)
    kind = ConfigError if outcome[:1] == _CONFIG else AnalysisError
    raise kind(outcome[1:].decode("utf-8", "replace"))


def module_inputs(workspace: Workspace, lowered: Lowered, group: Sequence[str]) -> list[ModuleInput]:
    """What the analysis gets of the files of a unit."""
    from jitlint.link.program import ModuleInput

    inputs: list[ModuleInput] = []
    for path in group:
        if path not in lowered.digests:
            continue
        try:
            data = lowered.module(path)
        except OSError:  # the pack was damaged, and the file has changed since
            lowered.complete = False
            continue
        is_package = os.path.basename(path) == "__init__.py"
        place = workspace.kept_path(path).replace(os.sep, "/")
        inputs.append(
            ModuleInput(workspace.names[path], place, is_package, data, is_test(path, workspace.root))
        )
    return inputs


def _asking(stop: Stop) -> Callable[[], None]:
    def ask() -> None:
        if stop():
            raise Stopped

    return ask


def _analysed(modules: list[ModuleInput], options: Options) -> Linked:
    return _with_calls(modules, options)[0]


def _with_calls(modules: list[ModuleInput], options: Options) -> tuple[Linked, Calls]:
    """What the analysis finds, and who calls whom if the options ask for that."""
    import jitlint.link.program as link_program
    from jitlint.catalogue.schema import CatalogueError
    from jitlint.driver.processes.deep import on_deep_stack

    try:
        analysis = on_deep_stack(lambda: link_program.analyse(modules, options))
    except CatalogueError as error:
        raise ConfigError(str(error)) from error
    except Exception as error:
        raise AnalysisError(f"{type(error).__name__}: {error}") from error
    return to_remember(analysis, modules, options), analysis.calls


def to_remember(analysis: Analysis, modules: Sequence[ModuleInput], options: Options) -> Linked:
    """What an analysis with these options has found."""
    from jitlint.driver.judge import verdicts

    drafts: dict[str, list[Draft]] = {}
    for verdict in verdicts(analysis.events, rules(), {module.name: module.path for module in modules}):
        if options.include_possible or verdict.event.place.confidence is not Confidence.POSSIBLE:
            drafts.setdefault(verdict.event.place.module, []).append(draft(verdict))
    return Linked(
        drafts,
        [traced_draft(function) for function in analysis.traced] if options.parameters else [],
        analysis.jit_sites,
        analysis.jit_sites_resolved,
        dict(analysis.notes),
        list(analysis.unmatched),
        dict(analysis.failures),
    )


def total(linked: Sequence[Linked], patterns: Sequence[str]) -> tuple[int, int, dict[str, int], list[str]]:
    """Over all units: jit sites, those with a known function, the notes, and the patterns that match nothing."""
    notes: dict[str, int] = {}
    for unit in linked:
        for name, count in unit.notes.items():
            notes[name] = notes.get(name, 0) + count
    unmatched = [pattern for pattern in patterns if all(pattern in unit.unmatched for unit in linked)]
    return (
        sum(unit.jit_sites for unit in linked),
        sum(unit.jit_sites_resolved for unit in linked),
        dict(sorted(notes.items())),
        unmatched,
    )


def failures(linked: Sequence[Linked]) -> Mapping[str, str]:
    """Where the analysis itself failed, by module; "" for what looks at all modules together."""
    out: dict[str, str] = {}
    for unit in linked:
        for module, why in unit.failures.items():
            out[module] = min(why, out.get(module, why))  # whichever unit comes first
    return out
