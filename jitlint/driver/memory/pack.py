"""The intermediate form of files on disk: what each content was lowered to (layer: ``driver``).

Two files: the *pack* holds encoded outcomes one after the other, the *table* says where each is and what it must hash to.
New outcomes are appended, so that one changed file costs one file; when half of a pack is of no use, it is written anew.
Processes add to it one at a time, where files can be locked. Every outcome is checked against its hash when it is read: whatever
became of the pack meanwhile, damage and the appending of another process included, costs a second lowering and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager

import msgspec

from jitlint.driver.writing import append_file, replace_file

LOWERED, PROBLEM = b"=", b"!"
"""How outcomes begin: the intermediate form follows, or why there is none."""
_MARK = b"jitpack1"
_HASH = 20
_GARBAGE = 1 << 20
"""So many bytes of no use are left alone, however small the rest is."""
_SPARE = 64
"""So many outcomes more than are of use are kept in memory."""


def digest(data: bytes) -> bytes:
    """The hash by which contents are told apart."""
    return hashlib.blake2b(data, digest_size=_HASH).digest()


def stamp(outcome: bytes) -> bytes:
    """The hash of an outcome; longer for a text that is no program."""
    return digest(outcome) if outcome[:1] == LOWERED else outcome[:1] + digest(outcome)


def is_lowered(stamped: bytes) -> bool:
    """Whether a hash is that of an intermediate form."""
    return len(stamped) == _HASH


class _Table(msgspec.Struct, array_like=True):
    """items: by content what it was lowered to: place, length and hash of the outcome."""

    fingerprint: str
    items: dict[bytes, tuple[int, int, bytes]]


class Pack:
    """The outcomes of lowering, by the hash of the text.

    directory: None for one in memory alone. read, write: the sealed small files of the cache. alone: while
    no other process adds to it. read_only: what is new
    stays in memory.
    """

    def __init__(
        self,
        directory: str | None,
        fingerprint: str,
        read: Callable[[str], bytes | None],
        write: Callable[[str, bytes], None],
        alone: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._path = os.path.join(directory, "pack") if directory is not None else ""
        self._fingerprint = fingerprint
        self._read = read
        self._write = write
        self._alone = alone
        self._table: _Table | None = None
        self._fresh: dict[bytes, bytes] = {}
        self._digests: dict[bytes, bytes] = {}
        self.read_only = False

    def digests(self, contents: Iterable[bytes]) -> dict[bytes, bytes]:
        """The hashes of the outcomes of those contents that are known."""
        items = self._items()
        found: dict[bytes, bytes] = {}
        for key in contents:
            known = self._digests.get(key)
            if known is None and key in items:
                known = items[key][2]
            if known is not None:
                found[key] = known
        return found

    def outcome(self, content: bytes) -> bytes | None:
        """What a content was lowered to; None if that is not known (any more)."""
        fresh = self._fresh.get(content)
        if fresh is not None:
            return fresh
        place = self._items().get(content)
        if place is None:
            return None
        offset, length, expected = place
        if not os.path.isfile(self._path):  # a pipe would keep us waiting
            return None
        try:
            with open(self._path, "rb") as stream:
                stream.seek(offset)
                data = stream.read(length)
        except OSError:
            return None
        return data if stamp(data) == expected else None

    def forget(self, content: bytes) -> None:
        """An outcome turned out to be damaged."""
        self._items().pop(content, None)
        self._fresh.pop(content, None)
        self._digests.pop(content, None)

    def keep(self, new: Mapping[bytes, bytes], wanted: set[bytes]) -> None:
        """Add outcomes. wanted: the contents of all files that are remembered: others may be dropped from the disk."""
        if not new:
            return
        self._fresh.update(new)
        self._digests.update((key, stamp(data)) for key, data in new.items())
        if not self._path or self.read_only:
            self._thin_out(wanted | set(new))
            return
        with self._alone():
            self._table = None  # others may have added something
            self._add(new, wanted)

    def _add(self, new: Mapping[bytes, bytes], wanted: set[bytes]) -> None:
        items = self._items()
        size = self.size
        used = sum(length for key, (_, length, _) in items.items() if key in wanted)
        with contextlib.suppress(OSError):
            if size < len(_MARK) or size - used > max(used, _GARBAGE):
                self._rewrite(wanted)
            else:
                self._append(new, size)
            self._write("table", msgspec.msgpack.encode(self._table))

    def _thin_out(self, wanted: set[bytes]) -> None:
        """Nothing is written: what was typed and is gone must not fill the memory."""
        gone = [key for key in self._fresh if key not in wanted]
        for key in gone[:-_SPARE]:  # the oldest first: somebody may take back what was typed
            del self._fresh[key], self._digests[key]

    def _append(self, new: Mapping[bytes, bytes], offset: int) -> None:
        items = self._items()
        append_file(self._path, b"".join(new.values()))
        for key, data in new.items():
            items[key] = (offset, len(data), self._digests[key])
            offset += len(data)

    def _rewrite(self, wanted: set[bytes]) -> None:
        """A pack of what is of use."""
        kept = dict.fromkeys([*(key for key in self._items() if key in wanted), *self._fresh])
        outcomes = {key: data for key in kept if (data := self.outcome(key)) is not None}
        items: dict[bytes, tuple[int, int, bytes]] = {}
        offset = len(_MARK)
        for key, data in outcomes.items():
            items[key] = (offset, len(data), stamp(data))
            offset += len(data)
        if not os.path.isdir(os.path.dirname(self._path)):
            self._write("table", b"")  # makes the folder
        replace_file(self._path, _MARK + b"".join(outcomes.values()))
        self._table = _Table(self._fingerprint, items)

    @property
    def size(self) -> int:
        """The length of the pack; 0 if there is none that can be added to."""
        if os.path.islink(self._path) or not os.path.isfile(self._path):
            return 0
        try:
            with open(self._path, "rb") as stream:
                return os.fstat(stream.fileno()).st_size if stream.read(len(_MARK)) == _MARK else 0
        except OSError:
            return 0

    def _items(self) -> dict[bytes, tuple[int, int, bytes]]:
        if self._table is None:
            self._table = _Table(self._fingerprint, {})
            data = self._read("table") if self._path else None
            if data:
                with contextlib.suppress(msgspec.DecodeError):
                    table = msgspec.msgpack.decode(data, type=_Table)
                    if table.fingerprint == self._fingerprint:
                        self._table = table
        return self._table.items
