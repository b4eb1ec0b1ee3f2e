"""What earlier runs found out, on disk (layer: ``driver``).

Three kinds of files in ``.jitlint_cache``: one *index* (path to size, time, content hash and first look, so
that unchanged files are not read again), one *pack* (content hash to encoded IR) and a few *runs* (the
results of whole runs, by everything that they depend on). All are replaced by renaming, so that concurrent
runs see either the old or the new file; what one of them then misses is only computed again. A cache that
cannot be read or written, or that holds nonsense, counts as empty and is never an error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec

from jitlint.base.config import ConfigError
from jitlint.driver.scan import Scan
from jitlint.driver.writing import replace_file

FOLDER = ".jitlint_cache"
_RUNS_KEPT = 24
_MAGIC = b"jitlint1"
# A file changed within this time before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000

T = TypeVar("T")


class FileEntry(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a file as long as its status stays the same. seen: when it was looked at."""

    size: int
    mtime: int
    inode: int
    seen: int
    digest: bytes
    scan: Scan

    def holds_for(self, status: os.stat_result) -> bool:
        """Whether the file is surely the one that was seen: unchanged, and not written at the very time of looking."""
        return (
            self.size == status.st_size
            and self.mtime == status.st_mtime_ns
            and self.inode == status.st_ino
            and self.seen - self.mtime > _RACY_NS
        )


class _Index(msgspec.Struct, array_like=True):
    fingerprint: str
    files: dict[str, FileEntry]


class _PackHeader(msgspec.Struct, array_like=True):
    fingerprint: str
    items: dict[bytes, tuple[int, int]]


def digest(data: bytes) -> bytes:
    """The hash by which contents are told apart."""
    return hashlib.blake2b(data, digest_size=20).digest()


def entry_for(data: bytes, status: os.stat_result | None, scan: Scan) -> FileEntry:
    """What to remember of a file just read; without a status it is text that no file holds."""
    if status is None:
        return FileEntry(len(data), 0, 0, 0, digest(data), scan)
    return FileEntry(status.st_size, status.st_mtime_ns, status.st_ino, time.time_ns(), digest(data), scan)


def cache_directory(root: str) -> str:
    """Where the cache of the project at ``root`` lives."""
    chosen = os.environ.get("JITLINT_CACHE_DIR")
    if chosen:
        return os.path.join(os.path.abspath(chosen), digest(os.fsencode(root)).hex()[:16])
    return os.path.join(root, FOLDER)


def remove_cache(root: str) -> str:
    """Delete the cache of the project at ``root``; where it was, or "" if there was none.

    Only a folder that a cache has marked as its own is deleted. Raises ConfigError if that fails.
    """
    directory = cache_directory(root)
    if not os.path.isfile(os.path.join(directory, "CACHEDIR.TAG")):
        return ""
    try:
        shutil.rmtree(directory)
    except OSError as error:
        raise ConfigError(f"{directory}: cannot be removed: {error.strerror or error}") from None
    return directory


class Cache:
    """The cache of one project, or (with ``directory`` None) none at all: nothing is found, nothing is kept."""

    def __init__(self, directory: str | None, root: str, tool: str, parser: str) -> None:
        self._directory = directory
        self._root = root
        self.tool = tool
        self._parser = parser
        self._changed = False
        self._pack: bytes | None = None
        self._items: dict[bytes, tuple[int, int]] = {}
        index = self._load("index", _Index)
        self._index = index if index and index.fingerprint == tool else _Index(tool, {})

    # ------------------------------------------------------------ files

    def file(self, path: str, status: os.stat_result) -> FileEntry | None:
        """What is known of the file, if it has not changed since."""
        entry = self._index.files.get(self._relative(path))
        return entry if entry is not None and entry.holds_for(status) else None

    def remember(self, path: str, entry: FileEntry) -> None:
        """Keep the entry for the next run; a file whose name is not text is looked at each time."""
        try:
            path.encode()
        except UnicodeEncodeError:
            return
        self._index.files[self._relative(path)] = entry
        self._changed = True

    # ------------------------------------------------------------ IR

    def lowered(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        """The encoded IR of those contents that are known."""
        self._open_pack()
        pack = self._pack or b""
        return {
            key: pack[place[0] : place[0] + place[1]]
            for key in digests
            if (place := self._items.get(key)) is not None
        }

    def keep_lowered(self, new: Mapping[bytes, bytes]) -> None:
        """Add encoded IR to the pack; drop what no remembered file refers to any more."""
        if self._directory is None or not new:
            return
        self._open_pack()
        for name in [
            name for name in self._index.files if not os.path.exists(os.path.join(self._root, name))
        ]:
            del self._index.files[name]
        wanted = {entry.digest for entry in self._index.files.values()}
        blobs = {**self.lowered(wanted), **new}
        items: dict[bytes, tuple[int, int]] = {}
        offset = 0
        for key, blob in blobs.items():
            items[key] = (offset, len(blob))
            offset += len(blob)
        body = b"".join(blobs.values())
        header = msgspec.msgpack.encode(_PackHeader(self._parser, items))
        self._write("pack", len(header).to_bytes(8, "little") + header + body)
        self._pack, self._items = body, items

    def _open_pack(self) -> None:
        if self._pack is not None:
            return
        self._pack = b""
        data = self._read("pack")
        if data is None:
            return
        end = 8 + int.from_bytes(data[:8], "little")
        try:
            header = msgspec.msgpack.decode(data[8:end], type=_PackHeader)
        except msgspec.DecodeError:
            return
        if header.fingerprint == self._parser:
            self._pack, self._items = data[end:], header.items

    # ------------------------------------------------------------ runs

    def run(self, key: str, kind: type[T]) -> T | None:
        """The result of an earlier run with the same key."""
        return self._load(f"run-{key}", kind)

    def keep_run(self, key: str, result: object) -> None:
        """Keep a whole result, unless a name in it is not text."""
        if self._directory is None:
            return
        try:
            data = msgspec.msgpack.encode(result)
        except UnicodeEncodeError:
            return
        self._write(f"run-{key}", data)
        with contextlib.suppress(OSError):
            runs = [entry for entry in os.scandir(self._directory) if entry.name.startswith("run-")]
            runs.sort(key=lambda entry: entry.stat().st_mtime_ns)
            for entry in runs[:-_RUNS_KEPT]:
                os.unlink(entry.path)

    # ------------------------------------------------------------ disk

    def save_index(self) -> None:
        """Write the index if this run learnt something about a file."""
        if self._changed:
            self._write("index", msgspec.msgpack.encode(self._index))
            self._changed = False

    def _relative(self, path: str) -> str:
        prefix = self._root.rstrip(os.sep) + os.sep
        return path[len(prefix) :] if path.startswith(prefix) else path

    def _load(self, name: str, kind: type[T]) -> T | None:
        data = self._read(name)
        if data is None:
            return None
        try:
            return msgspec.msgpack.decode(data, type=kind)
        except (msgspec.DecodeError, ValueError):
            return None

    def _read(self, name: str) -> bytes | None:
        """The content that `_write` was given; None if it is not there whole."""
        if self._directory is None:
            return None
        path = os.path.join(self._directory, name)
        if not os.path.isfile(path):  # a pipe would keep us waiting
            return None
        try:
            with open(path, "rb") as stream:
                head, data = stream.read(len(_MAGIC) + 4), stream.read()
        except OSError:
            return None
        return data if head == _seal(data) else None

    def _write(self, name: str, data: bytes) -> None:
        if self._directory is None:
            return
        with contextlib.suppress(OSError):
            if not os.path.isdir(self._directory):
                self._create()
            replace_file(os.path.join(self._directory, name), _seal(data) + data)

    def _create(self) -> None:
        """Make the folder, invisible to git and to backup tools."""
        assert self._directory is not None
        os.makedirs(self._directory, exist_ok=True)
        replace_file(os.path.join(self._directory, ".gitignore"), b"*\n")
        replace_file(
            os.path.join(self._directory, "CACHEDIR.TAG"), b"Signature: 8a477f597d28d172789f06886806bc55\n"
        )


def _seal(data: bytes) -> bytes:
    return _MAGIC + zlib.crc32(data).to_bytes(4, "little")
