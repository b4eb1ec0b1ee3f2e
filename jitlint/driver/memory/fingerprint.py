"""What cached results depend on besides the files: this tool, its parser, Python (layer: ``driver``).

Sizes and times of the installed modules stand for their content, so that an editable installation never
serves results of an older self. Nothing is imported to find out.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable

import jitlint
from jitlint.base import plugins

_PACKAGE = os.path.dirname(os.path.abspath(jitlint.__file__))


def parser_fingerprint() -> str:
    """Changes whenever the same text might be lowered to another IR."""
    parts = [jitlint.__version__, sys.version, _libcst_stamp(), *_stamps(os.path.join(_PACKAGE, "syntax"))]
    return _digest(parts)


def tool_fingerprint(extra_files: Iterable[str] = ()) -> str:
    """Changes whenever the same project might get other findings. ``extra_files``: user catalogues."""
    parts = [jitlint.__version__, sys.version, _libcst_stamp(), *_stamps(_PACKAGE), *plugins.stamps()]
    for path in extra_files:
        try:
            with open(path, "rb") as stream:
                parts += [path, hashlib.sha256(stream.read()).hexdigest()]
        except OSError:
            parts += [path, "missing"]
    return _digest(parts)


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _libcst_stamp() -> str:
    """The installed version as its version file states it; importing libcst would take half the warm run."""
    spec = importlib.util.find_spec("libcst")
    if spec is None or spec.origin is None:
        return "missing"
    directory = os.path.dirname(spec.origin)
    return "\n".join(_stamps(directory, recurse=False))


def _stamps(directory: str, recurse: bool = True) -> list[str]:
    stamps: list[str] = []
    try:
        with os.scandir(directory) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.is_dir():
                    if recurse and entry.name != "__pycache__":
                        stamps += _stamps(entry.path)
                elif not entry.name.endswith(".pyc"):
                    status = entry.stat()
                    stamps.append(f"{entry.name} {status.st_size} {status.st_mtime_ns}")
    except OSError:
        stamps.append("unreadable")
    return stamps
