"""What cached results depend on besides the files: this tool, its parser, Python (layer: ``driver``).

What the installer has written down about the modules stands for their content, so that machines with equal installations
can share a cache. Where nobody has, or a module has changed since, sizes and times do, so that an editable installation never
serves results of an older self. Nothing is imported to find out.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import sys
from collections.abc import Iterable

import jitlint
from jitlint.base import plugins

_PACKAGE = os.path.dirname(os.path.abspath(jitlint.__file__))


def parser_fingerprint() -> str:
    """Changes whenever the same text might be lowered to another IR."""
    parts = [jitlint.__version__, sys.version, _libcst_stamp(), *_state(os.path.join(_PACKAGE, "syntax"))]
    return _digest(parts)


def tool_fingerprint(extra_files: Iterable[str] = ()) -> str:
    """Changes whenever the same project might get other findings. ``extra_files``: user catalogues."""
    parts = [jitlint.__version__, sys.version, _libcst_stamp(), *_state(_PACKAGE), *plugins.stamps()]
    for path in extra_files:
        try:
            with open(path, "rb") as stream:
                parts += [path, hashlib.sha256(stream.read()).hexdigest()]
        except OSError:
            parts += [path, "missing"]
    return _digest(parts)


def content_fingerprint(extra_files: Iterable[str] = ()) -> str:
    """As `tool_fingerprint`, and the same for the same content on any machine. Reads every module."""
    import importlib.metadata

    parts = [jitlint.__version__, python_version(), importlib.metadata.version("libcst"), *plugins.points()]
    inside = [
        os.path.join(folder, name)
        for folder, _, names in sorted(os.walk(_PACKAGE))
        for name in sorted(names)
        if not name.endswith(".pyc")
    ]
    parts += [os.path.relpath(path, _PACKAGE) + _content(path) for path in inside]
    parts += [name + _content(path) for name, path in plugins.modules()]
    return _digest([*parts, *map(_content, extra_files)])


def python_version() -> str:
    """The Python that this is."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def _content(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()
    except OSError:
        return "missing"


def _state(directory: str, recurse: bool = True) -> list[str]:
    """Stands for the content of a folder in a package, or of its files alone."""
    package = _PACKAGE if directory.startswith(_PACKAGE) else directory
    record = _record(package)
    if record is None:
        return _stamps(directory, recurse)
    inside = os.path.relpath(directory, os.path.dirname(package)).replace(os.sep, "/") + "/"
    return [
        line
        for line in record
        if line.startswith(inside) and (recurse or "/" not in line[len(inside) :]) and ".pyc," not in line
    ]


def _record(package: str) -> list[str] | None:
    """What an installer has noted of the files of a package, with their hashes; None if there is no note, or a file is newer."""
    above, name = os.path.split(package)
    try:
        with os.scandir(above) as entries:
            notes = [
                os.path.join(each.path, "RECORD")
                for each in entries
                if each.name.startswith(f"{name}-") and each.name.endswith(".dist-info")
            ]
        if len(notes) != 1 or _newest(package) > os.stat(notes[0]).st_mtime_ns:
            return None
        with open(notes[0], encoding="utf-8", errors="replace") as stream:
            return [line for line in stream.read().splitlines() if line.startswith(f"{name}/")] or None
    except OSError:
        return None


def _newest(directory: str) -> int:
    """When a file in a folder was last changed."""
    newest = 0
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name == "__pycache__" or entry.name.endswith(".pyc"):
                continue
            newest = max(newest, _newest(entry.path) if entry.is_dir() else entry.stat().st_mtime_ns)
    return newest


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _libcst_stamp() -> str:
    """The installed version as its version file states it; importing libcst would take half the warm run."""
    spec = importlib.util.find_spec("libcst")
    if spec is None or spec.origin is None:
        return "missing"
    directory = os.path.dirname(spec.origin)
    return "\n".join(_state(directory, recurse=False))


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
