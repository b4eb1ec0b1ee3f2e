"""Several parts made one answer, which is that of one run (layer: ``farm``).

No file of the project is analysed; those that findings name are read, to see that they are the ones that were looked at.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding
from jitlint.base.result import CheckResult, Statistics
from jitlint.base.text import display_path
from jitlint.driver.memory.cache import Cache
from jitlint.driver.memory.kept import KeptCheck
from jitlint.driver.memory.pack import digest
from jitlint.driver.project import Layout
from jitlint.driver.run import Asked, selected
from jitlint.driver.workspace import Workspace
from jitlint.farm.part import Part, with_places


@dataclass(frozen=True, slots=True)
class Joined:
    """The result of all shards together, and what they were asked."""

    result: CheckResult
    settings: Settings
    paths: tuple[str, ...]
    context: tuple[str, ...] | None


def join(parts: Mapping[str, Part]) -> Joined:
    """What one run would have found. parts: by the name of their file. Raises ConfigError if they are not all parts of the
    same whole, or the files here are not those that they are about."""
    _refuse_others(parts)
    ordered = sorted(parts.values(), key=lambda part: part.shard)
    first = ordered[0]
    root = os.path.normpath(os.path.join(os.getcwd(), first.folder))

    def absolute(path: str) -> str:
        return os.path.normpath(os.path.join(root, path))

    _refuse_other_files(parts, root)
    settings = with_places(first.settings, absolute)
    kept = _joined([part.found for part in ordered])
    for name in ("excluded", "hidden"):
        setattr(
            kept.statistics,
            name,
            [display_path(absolute(path)) for path in getattr(first.found.statistics, name)],
        )
    workspace = Workspace(root, Layout(root), Cache(None, root, "", ""))
    workspace.named = [absolute(path) for part in ordered for path in part.named]
    return Joined(
        selected(kept, settings, Asked.of(settings), workspace), settings, first.paths, first.context
    )


# ---------------------------------------------------------------- one whole


def _refuse_others(parts: Mapping[str, Part]) -> None:
    (name, first), *others = parts.items()
    by_number = {first.shard: name}
    for path, part in others:
        for what, ours, theirs in _marks(first, part):
            if ours != theirs:
                raise ConfigError(
                    f"{display_path(name)} and {display_path(path)} are no parts of the same whole: {what}"
                )
        if part.shard in by_number:
            twice = f"{display_path(by_number[part.shard])} and {display_path(path)}"
            raise ConfigError(f"{twice} are both shard {part.shard} of {part.shards}")
        by_number[part.shard] = path
    missing = [str(number) for number in range(1, first.shards + 1) if number not in by_number]
    if missing:
        shown = ", ".join(missing[:8]) + (f" and {len(missing) - 8:,} more" if len(missing) > 8 else "")
        plural = "s" if len(missing) > 1 else ""
        verb = "are" if plural else "is"
        raise ConfigError(f"shard{plural} {shown} of {first.shards} {verb} missing")
    files = first.found.statistics.files
    if sum(len(part.named) for part in parts.values()) != files:
        raise ConfigError(f"the shards do not answer for the {files:,} files that they were asked about")


def _marks(one: Part, other: Part) -> list[tuple[str, Any, Any]]:
    """What parts of the same whole have in common, with words for when they have not."""
    name = _other_setting(one.settings, other.settings)
    return [
        (f"one is of {one.shards} shards, the other of {other.shards}", one.shards, other.shards),
        (f"Python {one.python} made one, Python {other.python} the other", one.python, other.python),
        ("another jitlint, or other packages with rules, made each", one.tool, other.tool),
        ("they were asked about other paths", _question(one), _question(other)),
        (f"they have other settings ({name})", "", name),
        ("the files were not the same", one.state, other.state),
    ]


def _question(part: Part) -> tuple[object, ...]:
    return part.folder, part.paths, part.context


def _other_setting(one: Settings, other: Settings) -> str:
    names = (field.name for field in fields(Settings))
    return next((name.replace("_", "-") for name in names if getattr(one, name) != getattr(other, name)), "")


def _refuse_other_files(parts: Mapping[str, Part], root: str) -> None:
    reader = Workspace(root, Layout(root), Cache(None, root, "", ""))
    for name, part in parts.items():
        for path, seen in part.seen.items():
            absolute = os.path.join(root, path)
            try:
                same = digest(reader.content(absolute)).hex() == seen
            except OSError:
                same = False
            if not same:
                raise ConfigError(
                    f"{display_path(absolute)} is not as it was for {display_path(name)}; join shards where they ran, or in"
                    " an equal copy of the project"
                )
            reader.forget(absolute)


# ---------------------------------------------------------------- one answer


def _joined(found: Sequence[KeptCheck]) -> KeptCheck:
    """Each file is in one of them, so what they hold only has to be put in order."""
    return KeptCheck(
        [each for kept in found for each in kept.findings],
        sorted((each for kept in found for each in kept.by_noqa), key=lambda each: each.sort_key),
        _problems([each for kept in found for each in kept.problems]),
        _statistics([kept.statistics for kept in found]),
        sorted((each for kept in found for each in kept.elsewhere), key=lambda each: each.sort_key),
        sorted({path for kept in found for path in kept.unread}),
    )


def _problems(problems: list[Finding]) -> list[Finding]:
    """Several may say that looking at all files together failed: one of them is enough, as in one run."""
    out: list[Finding] = []
    for each in sorted(problems, key=lambda each: each.sort_key):
        about_all = each.code == "JIT003" and each.path == os.curdir
        if not (about_all and any((other.code, other.path) == (each.code, each.path) for other in out)):
            out.append(each)
    return out


def _statistics(found: Sequence[Statistics]) -> Statistics:
    first = found[0]
    notes: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for each in found:
        for name, count in each.notes.items():
            notes[name] = notes.get(name, 0) + count
        for name, took in each.seconds.items():
            seconds[name] = seconds.get(name, 0.0) + took
    return Statistics(
        files=first.files,
        lines=first.lines,
        parsed=sum(each.parsed for each in found),
        cached=all(each.cached for each in found),
        jit_sites=sum(each.jit_sites for each in found),
        jit_sites_resolved=sum(each.jit_sites_resolved for each in found),
        notes=dict(sorted(notes.items())),
        unmatched=[
            pattern for pattern in first.unmatched if all(pattern in each.unmatched for each in found)
        ],
        seconds=seconds,
        jax=first.jax,
        units=sum(each.units for each in found),
        units_run=sum(each.units_run for each in found),
        lowered=sum(each.lowered for each in found),
        placed=sum(each.placed for each in found),
    )
