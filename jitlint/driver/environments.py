"""Which places hold installed code: virtual environments and what pip fills (layer: ``driver``).

Such code is no part of the project around it, and the thousands of files beside it are nobody's callers. Nothing here reads
a source file.
"""

from __future__ import annotations

import os
import re

_FILLED_BY_TOOLS = frozenset({"site-packages", "dist-packages", "__pypackages__", ".eggs"})
_OF_AN_ENVIRONMENT = frozenset({"bin", "include", "Include", "lib", "lib64", "Lib", "Scripts", "share"})
_MARKS = ("pyvenv.cfg", "conda-meta")
_STANDARD_LIBRARY = re.compile(r"python\d+\.\d+t?")


def is_installed(path: str) -> bool:
    """Whether a file or folder, by its absolute path, lies where tools put code. What is checked out from git there is not
    theirs, nor is what somebody keeps beside the folders of an environment."""
    child, current = "", path
    while True:
        name = os.path.basename(current)
        above = os.path.dirname(current)
        if name in _FILLED_BY_TOOLS:
            return True
        if _STANDARD_LIBRARY.fullmatch(name) and os.path.basename(above) in ("lib", "lib64"):
            return True
        if child in _OF_AN_ENVIRONMENT and _has_any(current, _MARKS):
            return True
        if above == current or _has_any(current, (".git",)):
            return False
        child, current = name, above


def _has_any(folder: str, names: tuple[str, ...]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)
