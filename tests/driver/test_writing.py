"""Files are written whole or not at all, keep what they are, and what is no regular file stays what it is.

Special files are made for the test; none of the machine's own is ever written.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jitlint.base.config import ConfigError
from jitlint.driver import writing
from jitlint.driver.writing import STDOUT, descriptor_of, replace_file, save, write_file
from tests.special_files import FULL, NULL, Reader, device, is_device, pipe

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="owners, links and special files as POSIX has them"
)
root = pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root may give files away")

NOBODY = 65534


@contextmanager
def _as_nobody() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody can reach (pytest's own cannot be)."""
    folder = Path(os.path.realpath(tempfile.mkdtemp()))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def _only(folder: Path, *names: str) -> bool:
    """Nothing else was left in the folder."""
    return sorted(os.listdir(folder)) == sorted(names)


def test_a_new_file_has_the_permissions_that_new_files_have(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(str(tmp_path / "a"), b"text")
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"text"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert _only(tmp_path, "a")


def test_a_relative_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("a", b"text")
    assert (tmp_path / "a").read_bytes() == b"text"


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    name = "n" * os.pathconf(tmp_path, "PC_NAME_MAX")
    write_file(str(tmp_path / name), b"text")
    assert _only(tmp_path, name)


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a longer text")
    path.chmod(0o2751)
    write_file(str(path), b"text")
    assert path.read_bytes() == b"text"
    assert stat.S_IMODE(path.stat().st_mode) == 0o2751


@root
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    os.chown(path, 12345, 23456)
    path.chmod(0o4710)
    write_file(str(path), b"text")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o4710)


@root
def test_a_file_of_somebody_else_stays_theirs(shared: Path) -> None:
    path = shared / "a"
    path.write_bytes(b"a longer text")
    path.chmod(0o666)
    shared.chmod(0o777)
    with _as_nobody():
        write_file(str(path), b"text")
    assert path.read_bytes() == b"text"
    assert path.stat().st_uid == 0
    assert _only(shared, "a")


@root
def test_a_write_protected_file_is_not_replaced(shared: Path) -> None:
    path = shared / "a"
    path.write_bytes(b"before")
    os.chown(path, NOBODY, NOBODY)
    path.chmod(0o444)
    shared.chmod(0o777)
    with _as_nobody(), pytest.raises(ConfigError, match=r"a: cannot be written: Permission denied$"):
        save(str(path), b"text")
    assert path.read_bytes() == b"before"
    assert _only(shared, "a")


@root
@pytest.mark.parametrize("name", ["a", "new"])
def test_a_read_only_folder(name: str, shared: Path) -> None:
    path = shared / "a"
    path.write_bytes(b"before")
    path.chmod(0o666)
    with _as_nobody(), pytest.raises(ConfigError, match=rf"{name}: cannot be written: Permission denied$"):
        save(str(shared / name), b"text")
    assert path.read_bytes() == b"before"
    assert _only(shared, "a")


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"before")
    os.symlink("sub", tmp_path / "folder")
    os.symlink("folder/a", tmp_path / "link")
    write_file(str(tmp_path / "link"), b"text")
    assert os.readlink(tmp_path / "link") == "folder/a"
    assert (tmp_path / "sub" / "a").read_bytes() == b"text"
    assert _only(tmp_path, "sub", "folder", "link") and _only(tmp_path / "sub", "a")


def test_a_link_to_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    os.symlink("a", tmp_path / "link")
    write_file(str(tmp_path / "link"), b"text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "a").read_bytes() == b"text"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("one", "Too many levels of symbolic links"),
        ("folder", "Is a directory"),
        ("new/", "Is a directory"),
        ("missing/a", "No such file or directory"),
        ("file/a", "Not a directory"),
        ("n" * 5000, "File name too long"),
    ],
)
def test_places_where_nothing_can_be_written(name: str, why: str, tmp_path: Path) -> None:
    os.symlink("two", tmp_path / "one")
    os.symlink("one", tmp_path / "two")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"
    with pytest.raises(ConfigError) as error:
        save(path, b"text")
    assert str(error.value) == f"{path}: cannot be written: {why}"
    assert _only(tmp_path, "one", "two", "folder", "file")


@pytest.mark.parametrize("name", ["a", "new"])
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_what_fails_half_way_leaves_nothing(
    name: str, call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"before")

    def full(*arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writing.os, call, full)
    with pytest.raises(ConfigError, match=rf"{name}: cannot be written: No space left on device"):
        save(str(tmp_path / name), b"text")
    monkeypatch.undo()
    assert (tmp_path / "a").read_bytes() == b"before"
    assert _only(tmp_path, "a")


def test_data_that_is_taken_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(writing.os, "write", lambda descriptor, data: write(descriptor, data[:3]))
    write_file(str(tmp_path / "a"), b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


# ------------------------------------------------------------ what is no regular file


def test_a_pipe(tmp_path: Path) -> None:
    path = pipe(tmp_path / "pipe")
    os.symlink("pipe", tmp_path / "link")
    for name in ("pipe", "link"):
        reader = Reader(path)
        write_file(str(tmp_path / name), b"text" * 50_000)
        assert reader.text() == b"text" * 50_000
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert _only(tmp_path, "pipe", "link")


def test_a_pipe_whose_reader_goes(tmp_path: Path) -> None:
    path = pipe(tmp_path / "pipe")
    reader = threading.Thread(target=lambda: os.close(os.open(path, os.O_RDONLY)))
    reader.start()
    with pytest.raises(ConfigError, match="cannot be written: Broken pipe"):
        save(str(path), b"text" * 500_000)
    reader.join()
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_that_forgets(tmp_path: Path) -> None:
    path = device(tmp_path / "null", NULL)
    before = path.stat()
    os.symlink("null", tmp_path / "link")
    write_file(str(path), b"text")
    write_file(str(tmp_path / "link"), b"text")
    after = path.stat()
    assert is_device(path, NULL)
    assert (after.st_ino, after.st_mode, after.st_uid) == (before.st_ino, before.st_mode, before.st_uid)
    assert _only(tmp_path, "null", "link")


def test_a_device_that_is_full(tmp_path: Path) -> None:
    path = device(tmp_path / "full", FULL)
    with pytest.raises(ConfigError, match="full: cannot be written: No space left on device"):
        save(str(path), b"text")
    assert is_device(path, FULL)
    assert _only(tmp_path, "full")


def test_a_terminal() -> None:
    main, other = os.openpty()
    try:
        name = os.ttyname(other)
        write_file(name, b"text")
        assert os.read(main, 100) == b"text"
        assert stat.S_ISCHR(os.stat(name).st_mode)
    finally:
        os.close(main)
        os.close(other)


def test_a_socket(shared: Path) -> None:
    path = shared / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        with pytest.raises(ConfigError, match="socket: cannot be written: it is a socket"):
            save(str(path), b"text")
    assert stat.S_ISSOCK(path.stat().st_mode)
    assert _only(shared, "socket")


# ------------------------------------------------------------ streams of this process

STREAMS = pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="this system gives streams no names")


@STREAMS
@pytest.mark.parametrize("folder", ["/dev/fd", "/proc/self/fd"])
def test_a_stream_goes_on_where_it_is(folder: str, tmp_path: Path) -> None:
    if not os.path.isdir(folder):
        pytest.skip("this system gives streams no such names")
    path = tmp_path / "a"
    path.write_bytes(b"before, ")
    with open(path, "ab") as stream:
        os.symlink(f"{folder}/{stream.fileno()}", tmp_path / "link")
        write_file(f"{folder}/{stream.fileno()}", b"one, ")
        write_file(str(tmp_path / "link"), b"two, ")
        stream.write(b"after")
    assert path.read_bytes() == b"before, one, two, after"


@STREAMS
def test_a_stream_that_is_a_socket(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write_file(f"/dev/fd/{ours.fileno()}", b"text")
        assert theirs.recv(100) == b"text"


@STREAMS
def test_names_of_streams(tmp_path: Path) -> None:
    assert descriptor_of("/dev/stdout") == descriptor_of("/dev/fd/1") == STDOUT
    os.symlink("/dev/stdout", tmp_path / "link")
    assert descriptor_of(str(tmp_path / "link")) == STDOUT
    (tmp_path / "1").touch()
    os.symlink("loop", tmp_path / "loop")
    for name in (str(tmp_path / "1"), str(tmp_path / "loop"), str(tmp_path / "missing"), "/dev/fd", "a\0"):
        assert descriptor_of(name) is None


@STREAMS
def test_a_stream_that_is_closed(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(ConfigError, match="cannot be written: Bad file descriptor"):
        save(f"/dev/fd/{descriptor}", b"text")


# ------------------------------------------------------------ files of our own


def test_a_file_of_our_own_replaces_a_link_and_nothing_behind_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")
    os.symlink("a", tmp_path / "link")
    replace_file(str(tmp_path / "link"), b"text")
    assert (tmp_path / "a").read_bytes() == b"before"
    assert not (tmp_path / "link").is_symlink() and (tmp_path / "link").read_bytes() == b"text"


def test_a_file_of_our_own_replaces_nothing_special(tmp_path: Path) -> None:
    path = pipe(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        replace_file(str(path), b"text")
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert _only(tmp_path, "pipe")
