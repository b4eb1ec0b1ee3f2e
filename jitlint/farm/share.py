"""Which part of a project one of several runs looks at (layer: ``farm``).

What hangs together by imports stays together; the largest groups are given out first, each to the run that has least so
far. Every run finds this out by itself: it depends on the files alone, not on what is remembered of them. Nothing is
analysed here.
"""

from __future__ import annotations

import heapq
import re
from dataclasses import dataclass, field

from jitlint.base.config import ConfigError
from jitlint.driver.workspace import Workspace

_SHARD = re.compile(r"(\d{1,9})/(\d{1,9})")


@dataclass(slots=True)
class Share:
    """The share of run ``number`` (from 1) of ``of``. named: which of the files asked for it answers for, once `narrow`
    has looked at the project."""

    number: int
    of: int
    named: list[str] = field(default_factory=list)

    @staticmethod
    def parsed(text: str) -> Share:
        """From ``3/16``. Raises ConfigError for what is no share."""
        found = _SHARD.fullmatch(text.strip())
        if found is None:
            raise ConfigError(f"--shard: {text!r} is not a shard; write 3/16 for the third of sixteen")
        number, of = int(found[1]), int(found[2])
        if not of:
            raise ConfigError(f"--shard: {text}: there is no shard of none")
        if not 1 <= number <= of:
            raise ConfigError(f"--shard: {text}: the shards are 1/{of} to {of}/{of}")
        return Share(number, of)

    def narrow(self, workspace: Workspace) -> None:
        """Leave the project's files of this share, and of what could not be found or read, all to the first."""
        groups = workspace.groups
        owners = _owners(workspace, groups, self.of)
        owner = {path: number for number, group in zip(owners, groups) for path in group}
        # Files that nobody has to look into still have to be counted.
        self.named = [
            path
            for at, path in enumerate(workspace.named)
            if owner.get(path, at % self.of) == self.number - 1
        ]
        workspace.narrow([group for number, group in zip(owners, groups) if number == self.number - 1])
        if self.number != 1:
            workspace.failures = []


def _owners(workspace: Workspace, groups: list[list[str]], of: int) -> list[int]:
    """For each group, whose it is, from 0."""
    sizes = [sum(workspace.entries[path].size for path in group) for group in groups]
    order = sorted(range(len(groups)), key=lambda at: (-sizes[at], workspace.kept_path(groups[at][0])))
    loads = [(0, number) for number in range(of)]
    owners = [0] * len(groups)
    for at in order:
        load, number = loads[0]
        owners[at] = number
        # A group costs something, however small it is.
        heapq.heapreplace(loads, (load + sizes[at] + 1, number))
    return owners
