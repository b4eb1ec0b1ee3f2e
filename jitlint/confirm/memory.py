"""Remembers answers by the content of the files that took part (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import sys

import msgspec

import jitlint
from jitlint.confirm.pool import Answer
from jitlint.confirm.protocol import Seen, Task
from jitlint.driver.memory.cache import cache_directory
from jitlint.driver.memory.fingerprint import tool_fingerprint
from jitlint.driver.writing import replace_file

_NAME = "confirm"
# Answers that were not asked for in so many runs are forgotten.
_KEPT = 4


class _Entry(msgspec.Struct):
    files: dict[str, str]
    calls: dict[int, Seen]
    unused: int = 0


class _Store(msgspec.Struct):
    tool: str
    entries: dict[str, _Entry]


class Memory:
    """The answers of earlier runs; empty and forgetful with ``use`` False. Never an error."""

    def __init__(self, root: str, use: bool) -> None:
        self._path = os.path.join(cache_directory(root), _NAME)
        self._use = use
        self._tool = _tool()
        self._entries: dict[str, _Entry] = {}
        self._digests: dict[str, str] = {}
        if use:
            with contextlib.suppress(OSError, msgspec.DecodeError), open(self._path, "rb") as stream:
                store = msgspec.msgpack.decode(stream.read(), type=_Store)
                if store.tool == self._tool:
                    self._entries = store.entries
        for entry in self._entries.values():
            entry.unused += 1

    def find(self, task: Task) -> Answer | None:
        """The answer to the same task, if none of the files that took part has changed."""
        entry = self._entries.get(_key(task))
        if entry is None or any(self._digest(path) != digest for path, digest in entry.files.items()):
            return None
        entry.unused = 0
        return Answer(task, dict(entry.calls), dict(entry.files))

    def keep(self, answer: Answer) -> None:
        """Remember an answer that came to its end."""
        if self._use and answer.files and answer.is_whole:
            self._entries[_key(answer.task)] = _Entry(answer.files, answer.calls)

    def save(self) -> None:
        """Write everything for the next run."""
        if not self._use:
            return
        kept = {key: entry for key, entry in self._entries.items() if entry.unused <= _KEPT}
        with contextlib.suppress(OSError):
            # The folder is the cache's: it made and marked it when the check began.
            replace_file(self._path, msgspec.msgpack.encode(_Store(self._tool, kept)))

    def _digest(self, path: str) -> str:
        known = self._digests.get(path)
        if known is None:
            try:
                with open(path, "rb") as stream:
                    known = hashlib.blake2b(stream.read(), digest_size=16).hexdigest()
            except OSError:
                known = ""
            self._digests[path] = known
        return known


def installed_jax() -> str:
    """The version of the JAX that answers, "" if there is none."""
    try:
        return importlib.metadata.version("jax")
    except importlib.metadata.PackageNotFoundError:
        return ""


def _tool() -> str:
    """What an answer depends on beside the files."""
    return f"{jitlint.__version__} {tool_fingerprint([])} {installed_jax()} {sys.version}"


def _key(task: Task) -> str:
    return hashlib.blake2b(msgspec.msgpack.encode(task), digest_size=16).hexdigest()
