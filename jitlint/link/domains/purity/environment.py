"""Environment variables that the program changes itself (layer: ``link``, room ``domains``).

What it does: notes which variables host code or traced code sets; what traced code read of these is stale once they
change. What it does not: care for variables that are set before the program starts. These are switches, and reading
them once is what their readers mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from jitlint.infer.values import Py, Value
from jitlint.link.engine.frame import Args
from jitlint.link.engine.sink import Found

READS: Final = "environment"
SETS: Final = "setting"


@dataclass(slots=True)
class Environment:
    """changed: the names of the variables that the program sets, as far as they are known."""

    changed: set[str] = field(default_factory=set)

    def is_set(self, args: Args) -> None:
        """A variable, or several by keyword, gets a value, or goes."""
        self.changed.update(args.kw)
        name = _name(args)
        if name is not None:
            self.changed.add(name)


class Changed:
    """The program sets a variable that traced code has read."""

    def __init__(self, environment: Environment, args: Args) -> None:
        self.environment = environment
        self.name = _name(args)

    def holds(self, found: Found) -> bool:
        """Whether the variable is known and is set anywhere."""
        return self.name is not None and self.name in self.environment.changed


def _name(args: Args) -> str | None:
    value: Value | None = args.get(0, "key")
    return value.const if type(value) is Py and isinstance(value.const, str) else None
