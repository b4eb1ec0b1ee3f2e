"""Which releases of JAX have a name, an argument or an option (layer: ``catalogue``).

Measured on the releases that `History.releases` lists; between two of them that disagree nobody knows, and a release newer
than all is taken for the newest. A view looks at the history from one version, and knows from which version the code
comes. This module does not know what functions do: that is ``load``.
"""

from __future__ import annotations

import difflib
from typing import Final

import msgspec

from jitlint.catalogue.schema import Removed

POSITIONS: Final = 40
"""No function of JAX takes more arguments by position."""


DESCRIBED: Final = (0, 10)
"""The minor version that lines of functions describe."""


class History(msgspec.Struct, frozen=True):
    """What ``history.toml`` says. Stories such as ``-0.6.2`` or ``+0.5.3 -0.7.2`` by name, by ``name(argument)`` and by
    option; ``moved``: ``OLD NEW RELEASE`` by ``name(position)``; ``said``: what replaces a name, and the exact version;
    ``listed``: by module, all names that it has in one of the releases, as ``names.toml`` says."""

    releases: tuple[str, ...]
    names: dict[str, str]
    arguments: dict[str, str]
    moved: dict[str, str]
    options: dict[str, str]
    said: dict[str, tuple[str, str]]
    listed: dict[str, frozenset[str]] = msgspec.field(default_factory=dict)


class Moved(msgspec.Struct, frozen=True):
    """An argument by position that means another one than before."""

    position: int
    old: str
    new: str
    version: str


def numbers(version: str) -> tuple[int, ...]:
    """A version to compare. Without a patch (``0.12``) the last one of that minor version is meant."""
    parts = tuple(int(part) for part in version.split(".") if part.isdigit())
    return (*parts, 10_000) if len(parts) == 2 else parts


class View:
    """What one version of JAX has. before: the version that the code comes from, "" when that is no question."""

    def __init__(
        self,
        history: History,
        removed: dict[str, tuple[str, str]],
        instead: dict[str, str],
        version: str = "",
        before: str = "",
        behaviours: dict[str, str] | None = None,
        differences: dict[str, dict[str, str]] | None = None,
        flax: tuple[str, str] = ("", ""),
    ) -> None:
        self._history = history
        self._behaviours = behaviours or {}
        self._removed = removed
        self._instead = instead
        self.version: Final = version or history.releases[-1]
        self.before: Final = before
        self._releases = [numbers(release) for release in history.releases]
        self._now = self._number(self.version)
        self._then = self._number(before) if before else ()
        self._flax = [numbers(version) for version in flax if version]
        self._known: dict[str, Removed | None] = {}
        self._around = self._tables_around(differences or {}) if version else ()
        self._functions: frozenset[str] | None = None

    def there(self, dotted: str) -> bool | None:
        """Whether this version has a name that not all of the measured releases have; None for all other names, and where
        it is not known."""
        story = self._history.names.get(dotted)
        return None if story is None else self._state(story, self._now)

    def is_nowhere(self, dotted: str) -> bool:
        """Whether a module of which all names are listed has one in no measured release. Older ones may have had it, which a project may ask for."""
        module, _, name = dotted.rpartition(".")
        listed = self._history.listed.get(module)
        if listed is None or name in listed or name.startswith("_") or not self.is_measured:
            return False
        history = self._history
        return not (
            dotted in history.names
            or dotted in history.said
            or dotted in self._removed
            or self.removed(dotted)
        )

    def like(self, dotted: str) -> str:
        """The listed name of a module that looks most like one that is nowhere, "" if none does."""
        module, _, name = dotted.rpartition(".")
        return next(iter(difflib.get_close_matches(name, sorted(self._history.listed[module]), 1)), "")

    def behaves(self, name: str) -> bool | None:
        """Whether JAX does what one of the behaviours says, None if that is not known of this version."""
        return self._state(self._behaviours[name], self._now)

    def has_flax(self, release: str, least: str) -> bool | None:
        """Whether flax is this release or a newer one, None if that is not known. least: the oldest JAX that these run with."""
        if self._now < numbers(least) or (self._flax and self._flax[-1] < numbers(release)):
            return False
        return True if self._flax and self._flax[0] >= numbers(release) else None

    def static(self, function: str, parameter: str, described: str | None) -> str | None:
        """What a tracer in a parameter raises: a letter, None if nothing, or if the versions around disagree.

        described: what it raises in the version that the catalogue describes.
        """
        key = f"{function}({parameter})"
        marks = {(found[key] or None) if key in found else described for found in self._around}
        return marks.pop() if len(marks) == 1 else described if not marks or None not in marks else None

    def _tables_around(self, differences: dict[str, dict[str, str]]) -> tuple[dict[str, str], ...]:
        """What differs in the nearest measured minor versions, one table if this one was measured."""
        tables = {numbers(f"{minor}.0")[:2]: table for minor, table in differences.items()}
        tables[DESCRIBED] = {}
        here = self._now[:2]
        nearest = {*sorted(minor for minor in tables if minor <= here)[-1:]}
        nearest |= {*sorted(minor for minor in tables if minor >= here)[:1]}
        return tuple(tables[minor] for minor in sorted(nearest))

    def removed(self, dotted: str) -> Removed | None:
        """How a name as written (aliases are not followed) has gone, None when this version has it. What lies below a name
        that is gone has gone with it."""
        if dotted not in self._known:
            owner = dotted.rpartition(".")[0]
            around = self.removed(owner) if owner else None
            self._known[dotted] = self._gone(dotted) if around is None else around
        return self._known[dotted]

    def lacks(self, function: str, argument: str) -> Removed | None:
        """How an argument by name of a function (a canonical name) has gone, None when it can be given."""
        key = f"{function}({argument})"
        if key in self._removed:
            return self._dated(key)
        return self._of_story(self._history.arguments.get(key, ""), self._instead.get(key, ""))

    def lacks_position(self, function: str, position: int) -> Removed | None:
        """The same for an argument by position, counted from 1."""
        for number in range(min(position, POSITIONS), 0, -1):
            story = self._history.arguments.get(f"{function}({number})")
            if story is not None:
                return self._of_story(story)
        return None

    @property
    def oldest(self) -> str:
        """The first release that was looked at."""
        return self._history.releases[0]

    @property
    def is_measured(self) -> bool:
        """Whether this version is none that is newer, or older, than those that were looked at."""
        return self._releases[0] <= self._now <= self._releases[-1]

    def mentions(self, function: str, argument: str) -> bool:
        """Whether some release has an argument by name of a function, and not all."""
        key = f"{function}({argument})"
        return key in self._removed or key in self._history.arguments

    def mentions_positions(self, function: str) -> bool:
        """Whether releases differ in how many arguments a function takes by position."""
        return any(f"{function}({n})" in self._history.arguments for n in range(1, POSITIONS + 1))

    def lacks_option(self, option: str) -> Removed | None:
        """The same for an option of ``jax.config``."""
        return self._of_story(self._history.options.get(option, ""))

    def moved(self, function: str, given: int) -> Moved | None:
        """The first of so many arguments by position that has changed its meaning since the version before."""
        if not self._then:
            return None
        for position in range(1, given + 1):
            text = self._history.moved.get(f"{function}({position})")
            if text is not None:
                old, new, release = text.split()
                if self._then <= numbers(self._previous(release)) and numbers(release) <= self._now:
                    return Moved(position, old, new, release)
        return None

    def speaks_of(self, function: str) -> bool:
        """Whether the history says anything of a function's arguments."""
        if self._functions is None:
            history = self._history
            self._functions = frozenset(
                key.partition("(")[0]
                for table in (history.arguments, history.moved, self._removed)
                for key in table
                if "(" in key
            )
        return function in self._functions

    def _gone(self, name: str) -> Removed | None:
        if name in self._removed:
            return self._dated(name)
        story = self._history.names.get(name, "")
        replacement, version = self._history.said.get(name, ("", ""))
        if story.count("-") == 1 and version:
            gone = self._now >= numbers(version)
            had = self._had(story) and self._then < numbers(version)
            return Removed(replacement, version, had) if gone else None
        return self._of_story(story, replacement)

    def _dated(self, name: str) -> Removed | None:
        """What is written by hand: when a name or an argument went."""
        replacement, version = self._removed[name]
        if version and self._now < numbers(version):
            return None
        return Removed(replacement, version, bool(self._then and self._then < numbers(version)))

    def _of_story(self, story: str, replacement: str = "") -> Removed | None:
        """Gone if it was there once and this version does not have it. What is only to come is not gone."""
        if "-" not in story or self._state(story, self._now) is not False:
            return None
        last = max((c[1:] for c in story.split() if self._is_past(c)), key=numbers, default="")
        if not last:
            return None
        return Removed(replacement, f"after {self._previous(last)}", self._had(story))

    def _had(self, story: str) -> bool:
        """Whether the version before has it. Where that is not known, code that uses it says so."""
        return bool(self._then) and self._state(story, self._then) is not False

    def _state(self, story: str, version: tuple[int, ...]) -> bool | None:
        """Whether it is there in a version; None between two releases of which one has it."""
        below = max((r for r in self._releases if r <= version), default=None)
        above = min((r for r in self._releases if r >= version), default=None)
        states = {_at(story, release) for release in (below, above) if release is not None}
        return states.pop() if len(states) == 1 and below is not None else None

    def _number(self, version: str) -> tuple[int, ...]:
        """A version to compare; one without a patch is the measured release of that minor version, if there is one."""
        parts = tuple(int(part) for part in version.split(".") if part.isdigit())
        if len(parts) > 2:
            return parts
        return next((r for r in self._releases if r[:2] == parts), numbers(version))

    def _is_past(self, change: str) -> bool:
        upper = min((r for r in self._releases if r >= self._now), default=self._releases[-1])
        return change[0] == "-" and numbers(change[1:]) <= upper

    def _previous(self, release: str) -> str:
        return self._history.releases[self._releases.index(numbers(release)) - 1]


def _at(story: str, release: tuple[int, ...]) -> bool:
    changes = story.split()
    there = changes[0][0] == "-"
    for change in changes:
        if numbers(change[1:]) <= release:
            there = change[0] == "+"
    return there
