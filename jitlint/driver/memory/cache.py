"""What earlier runs found out, on disk (layer: ``driver``).

In ``.jitlint_cache`` lie one *index* (path to size, times, inode, content hash and first look, so that unchanged files are not
read again), one *pack* with its table (content hash to encoded IR: `jitlint.driver.memory.pack`), one file of *notes* (content
hash to positions and words), the *links* (what the analysis found in each unit, without positions) and a few *runs* (the
results of whole runs), the last two by everything that they depend on. All but the pack are replaced by renaming, so that
concurrent runs see either the old or the new file; what one of them then misses is only computed again. A cache that
cannot be read or written, or that holds nonsense, counts as empty and is never an error.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from jitlint.base.config import ConfigError
from jitlint.driver.memory.pack import Pack, digest
from jitlint.driver.scan import Scan
from jitlint.driver.writing import alone, replace_file

FOLDER = ".jitlint_cache"
_RUNS_KEPT = 24
_LINKS_KEPT = 48 << 20
"""So many bytes of what was found in units are kept, the newest first."""
_LINKS_PER_PACK = 2
"""In a large project so many times the bytes of its intermediate form."""
_IN_MEMORY = 256
"""So many results are kept in memory, by a session."""
_UNDONE = 16
"""For so many answers a session remembers what they do not need: somebody may take back what was typed."""
_MAGIC = b"jitlint1"
# A file changed within this time before it was looked at may change again without a new time stamp.
_RACY_NS = 2_000_000_000

T = TypeVar("T")


class FileEntry(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a file as long as its status stays the same. seen: when it was looked at.

    changed: the time of the last change of the file or its status; other than ``mtime``, nobody can set it back.
    """

    size: int
    mtime: int
    changed: int
    inode: int
    seen: int
    digest: bytes
    scan: Scan

    def holds_for(self, status: os.stat_result) -> bool:
        """Whether the file is surely the one that was seen: unchanged, and not written at the very time of looking."""
        return (
            self.size == status.st_size
            and self.mtime == status.st_mtime_ns
            and self.changed == status.st_ctime_ns
            and self.inode == status.st_ino
            and self.seen - self.mtime > _RACY_NS
        )


class _Index(msgspec.Struct, array_like=True):
    """libraries: the names that make a file worth a look, so that the catalogue need not be read for them."""

    fingerprint: str
    files: dict[str, FileEntry]
    libraries: tuple[str, ...] = ()


def entry_for(data: bytes, status: os.stat_result | None, scan: Scan) -> FileEntry:
    """What to remember of a file just read; without a status it is text that no file holds."""
    if status is None:
        return FileEntry(len(data), 0, 0, 0, 0, digest(data), scan)
    times = (status.st_mtime_ns, status.st_ctime_ns)
    return FileEntry(status.st_size, *times, status.st_ino, time.time_ns(), digest(data), scan)


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
    """The cache of one project; with ``directory`` None nothing is found on the disk and nothing is written.

    root: the project's top. tool: what results depend on besides the project.
    """

    def __init__(self, directory: str | None, root: str, tool: str, parser: str) -> None:
        self._directory = directory
        self.root = root
        self.tool = tool
        self._parser = parser
        self._changed = False
        self._wrote_link = False
        self._objects: dict[str, object] = {}
        self._used: dict[str, int] = {}
        self._answers = 0
        self.pack = Pack(directory, parser, self._read, self._write, self.alone)
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

    def forget(self, path: str) -> None:
        """Read the file anew in the next run: what is known of it is not what it says."""
        if self._index.files.pop(self._relative(path), None) is not None:
            self._changed = True

    # ------------------------------------------------------------ IR

    def keep_lowered(self, new: Mapping[bytes, bytes]) -> None:
        """Add what was lowered to the pack; what no remembered file refers to any more may go."""
        self.pack.keep(new, self.contents)

    @property
    def contents(self) -> set[bytes]:
        """The hashes of the contents of all remembered files."""
        return {entry.digest for entry in self._index.files.values()}

    @property
    def libraries(self) -> tuple[str, ...]:
        """The names that make a file worth a look, as `keep_libraries` was told; () if nobody has said so."""
        return self._index.libraries

    def keep_libraries(self, names: Iterable[str]) -> None:
        """Remember these names for as long as the tool stays the same."""
        self._index.libraries = tuple(sorted(names))
        self._changed = True

    # ------------------------------------------------------------ units and notes

    def link(self, key: str, kind: type[T]) -> T | None:
        """What was found in a unit with the same key."""
        name = f"link-{key}"
        known = self._objects.get(name)
        if isinstance(known, kind):
            self._used[name] = self._answers
            return known
        found = self._load(name, kind)
        if found is not None:
            self._hold(name, found)
            if self._keeps and self._directory is not None:
                with contextlib.suppress(OSError):  # what is of use is not old
                    os.utime(os.path.join(self._directory, name))
        return found

    def keep_link(self, key: str, result: object) -> None:
        """Keep what was found in a unit; see `drop_old_links`."""
        name = f"link-{key}"
        self._hold(name, result)
        if self._write_encoded(name, result):
            self._wrote_link = True

    def drop_old_links(self) -> None:
        """Keep the newest of what was found in units, if there is something new: as much as a project of this size may need."""
        if self._wrote_link and self._keeps:
            self._drop_old("link-", max(_LINKS_KEPT, _LINKS_PER_PACK * self.pack.size))
        self._wrote_link = False

    def notes(self, kind: type[T]) -> T | None:
        """What was noted about contents."""
        return self._load("notes", kind)

    def keep_notes(self, notes: object) -> None:
        """Keep what was noted about contents."""
        self._write_encoded("notes", notes)

    def _hold(self, name: str, found: object) -> None:
        self._objects.pop(name, None)
        self._objects[name] = found
        self._used[name] = self._answers
        while len(self._objects) > _IN_MEMORY:
            self._drop(next(iter(self._objects)))

    def _drop(self, name: str) -> None:
        del self._objects[name], self._used[name]

    # ------------------------------------------------------------ runs

    def run(self, key: str, kind: type[T]) -> T | None:
        """The result of an earlier run with the same key."""
        return self._load(f"run-{key}", kind)

    def keep_run(self, key: str, result: object) -> None:
        """Keep a whole result, unless a name in it is not text."""
        if self._keeps and self._write_encoded(f"run-{key}", result):
            self._drop_old("run-", None)

    def _drop_old(self, prefix: str, room: int | None) -> None:
        """Delete the oldest of a kind of files: all but a few, or (room) what takes more room than that."""
        assert self._directory is not None
        with contextlib.suppress(OSError):
            found = [
                (entry.stat().st_mtime_ns, entry.stat().st_size, entry.path)
                for entry in os.scandir(self._directory)
                if entry.name.startswith(prefix)
            ]
            used = 0
            for number, (_, size, path) in enumerate(sorted(found, reverse=True)):
                used += size
                if number >= _RUNS_KEPT if room is None else used > room and number:
                    os.unlink(path)

    # ------------------------------------------------------------ disk

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While no other process is between these lines for the same cache."""
        if self._directory is None or not self._keeps:
            yield
            return
        with contextlib.suppress(OSError):
            if not os.path.isdir(self._directory):
                self._create()
        with alone(os.path.join(self._directory, "lock")):
            yield

    def save_index(self) -> None:
        """Write the index if this run learnt something about a file."""
        if self._changed and self._keeps:
            for name in [n for n in self._index.files if not os.path.exists(os.path.join(self.root, n))]:
                del self._index.files[name]
            self._write("index", msgspec.msgpack.encode(self._index))
            self._changed = False

    def freeze(self) -> None:
        """An answer is given. Write nothing from now on: what a session learns about unsaved text concerns nobody else.

        What no answer has needed for a while is forgotten: most of what is typed does not come back.
        """
        self.pack.read_only = True
        self._answers += 1
        for name in [name for name, at in self._used.items() if at < self._answers - _UNDONE]:
            self._drop(name)

    @property
    def _keeps(self) -> bool:
        return self._directory is not None and not self.pack.read_only

    def _relative(self, path: str) -> str:
        prefix = self.root.rstrip(os.sep) + os.sep
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

    def _write_encoded(self, name: str, result: object) -> bool:
        """Whether it was written: a name that is not text cannot be."""
        if not self._keeps:
            return False
        try:
            data = msgspec.msgpack.encode(result)
        except UnicodeEncodeError:
            return False
        self._write(name, data)
        return True

    def _write(self, name: str, data: bytes) -> None:
        if self._directory is None or self.pack.read_only:
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
