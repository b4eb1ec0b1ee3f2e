"""What a run over one share of a project writes, and how it is read again (layer: ``farm``).

A file of JSON, described in ``docs/farms.md``. It holds what was found before anybody selects: rules, baselines and formats
are applied once, where the parts are joined.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

import jitlint
from jitlint.base.config import ConfigError, Settings
from jitlint.base.text import display_path
from jitlint.driver.memory.fingerprint import content_fingerprint, python_version
from jitlint.driver.memory.kept import KeptCheck
from jitlint.driver.processes.schedule import Progress, Workers
from jitlint.driver.run import check_part
from jitlint.driver.workspace import Workspace
from jitlint.farm.share import Share

FORMAT: Final = "jitlint part"
VERSION: Final = 1


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one run found. Paths are relative to the project's top, but for ``folder``, ``paths`` and ``context``, which are
    relative to the working directory.

    shard, shards: the third of sixteen is 3 and 16. jitlint, python, tool: versions, and a hash of all that answers
    depend on besides the project. folder: the project's top. paths, context: what was asked for. state: a hash of all that the whole
    answer depends on. named: the files asked for that this run answers for. seen: files that are
    mentioned in findings, with the hash of their content. found: see `KeptCheck`.
    """

    format: str
    version: int
    shard: int
    shards: int
    jitlint: str
    python: str
    tool: str
    folder: str
    paths: tuple[str, ...]
    context: tuple[str, ...] | None
    settings: Settings
    state: str
    named: tuple[str, ...]
    seen: dict[str, str]
    found: KeptCheck


class _Head(msgspec.Struct, frozen=True):
    """What says whether the rest can be read."""

    format: str
    version: int
    jitlint: str


def make_part(
    share: Share,
    paths: Sequence[str],
    context: Sequence[str] | None,
    settings: Settings,
    workers: Workers,
    use_cache: bool,
    progress: Progress | None = None,
) -> Part:
    """Do the work of a share. Raises what `jitlint.driver.run.check` raises."""
    done = check_part(
        paths,
        settings,
        share.narrow,
        workers=workers,
        use_cache=use_cache,
        context=context,
        progress=progress,
    )
    workspace, kept = done.workspace, done.kept
    statistics = kept.statistics
    statistics.excluded = [workspace.kept_path(path) for path in workspace.excluded]
    statistics.hidden = [workspace.kept_path(path) for path in workspace.hidden]
    return Part(
        format=FORMAT,
        version=VERSION,
        shard=share.number,
        shards=share.of,
        jitlint=jitlint.__version__,
        python=python_version(),
        tool=content_fingerprint(settings.catalogue),
        folder=os.path.relpath(workspace.root),
        paths=tuple(paths),
        context=tuple(context) if context is not None else None,
        settings=with_places(settings, workspace.kept_path),
        state=done.state,
        named=tuple(map(workspace.kept_path, share.named)),
        seen=_seen(workspace, kept),
        found=kept,
    )


def with_places(settings: Settings, convert: Callable[[str], str]) -> Settings:
    """The settings with their files elsewhere; "" stays what it is."""

    def moved(path: str) -> str:
        return convert(path) if path else ""

    return replace(
        settings,
        catalogue=tuple(map(moved, settings.catalogue)),
        baseline=moved(settings.baseline),
        extend=moved(settings.extend),
        directory=moved(settings.directory),
        source=moved(settings.source),
    )


def _seen(workspace: Workspace, kept: KeptCheck) -> dict[str, str]:
    everything = (*kept.findings, *kept.by_noqa, *kept.elsewhere, *kept.problems)
    mentioned = {each.path for each in everything} | {
        step.path for each in everything for step in each.related
    }
    known = {path: workspace.entries.get(os.path.join(workspace.root, path)) for path in mentioned}
    return {path: entry.digest.hex() for path, entry in sorted(known.items()) if entry is not None}


def encoded(part: Part) -> str:
    """As it is written: names that are not text come back as they were."""
    return json.dumps(msgspec.to_builtins(part), separators=(",", ":"))


def read_part(path: str) -> Part:
    """The part in a file. Raises ConfigError for a file that is none, or one that another version has written."""
    name = display_path(path)
    try:
        with open(path, "rb") as stream:
            data: Any = json.loads(stream.read())
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{name}: broken, or not what `jitlint check --shard` has written") from None
    try:
        head = msgspec.convert(data, _Head)
    except msgspec.ValidationError:
        head = None
    if head is None or head.format != FORMAT:
        raise ConfigError(f"{name}: not what `jitlint check --shard` has written")
    if (head.version, head.jitlint) != (VERSION, jitlint.__version__):
        raise ConfigError(
            f"{name}: written by jitlint {head.jitlint}, and this is {jitlint.__version__}; join shards with the version"
            " that has made them"
        )
    try:
        return msgspec.convert(data, Part)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{name}: broken: {error}") from None
