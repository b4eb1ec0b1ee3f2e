"""What tests expect of one version of a library and not of another.

Conditions are written as requirements are: ``jax<0.11``, ``jax>=0.7,<0.11``, ``numpy>=2.5``, ``python>=3.12``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import platform

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

# The JAX that the catalogue describes, and that findings are therefore about.
DESCRIBED = "0.10.2"

# The JAX that examples of these rules come from.
UPGRADES = {"JIT513": "0.4.30"}


@functools.cache
def installed(library: str) -> str:
    """The version of a library that the tests run with, "" if it is not installed."""
    if library == "python":
        return platform.python_version()
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return ""


def holds(condition: str, jax: str = "") -> bool:
    """Whether the condition is met; what is not installed meets none.

    jax: the version to ask about instead of the installed one. Raises ValueError for what is no condition.
    """
    try:
        wanted = Requirement(condition)
    except InvalidRequirement as error:
        raise ValueError(f"{condition!r}: {error}") from None
    if not wanted.specifier or wanted.marker or wanted.extras or wanted.url:
        raise ValueError(f"{condition!r} is no condition such as jax<0.11")
    version = jax if jax and wanted.name == "jax" else installed(wanted.name)
    return bool(version) and wanted.specifier.contains(version, prereleases=True)


def minor(version: str) -> str:
    """``0.12`` for ``0.12.0.1``."""
    known = Version(version)
    return f"{known.major}.{known.minor}"
