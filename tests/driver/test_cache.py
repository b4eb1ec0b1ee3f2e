"""The cache remembers, forgets what is stale, and never gets in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jitlint.driver.memory import cache as cache_module
from jitlint.driver.memory import pack as pack_module
from jitlint.driver.memory.cache import Cache, cache_directory, entry_for
from jitlint.driver.memory.pack import digest
from jitlint.driver.scan import Scan

SCAN = Scan(True, ("a", ".b"), 3)


def _cache(root: Path, tool: str = "t", parser: str = "p") -> Cache:
    return Cache(str(root / "cache"), str(root), tool, parser)


def _old_file(root: Path, name: str = "a.py", text: str = "x") -> str:
    """A file that was last changed long enough ago to be trusted."""
    path = root / name
    path.write_text(text)
    os.utime(path, ns=(10**18, 10**18))
    return str(path)


def _remember(cache: Cache, path: str) -> None:
    data = Path(path).read_bytes()
    cache.remember(path, entry_for(data, os.stat(path), SCAN))


def test_an_unchanged_file_is_known_in_the_next_run(tmp_path: Path) -> None:
    path = _old_file(tmp_path)
    first = _cache(tmp_path)
    assert first.file(path, os.stat(path)) is None
    _remember(first, path)
    first.save_index()
    entry = _cache(tmp_path).file(path, os.stat(path))
    assert entry is not None
    assert (entry.digest, entry.scan) == (digest(b"x"), SCAN)


def test_a_changed_file_is_not_known(tmp_path: Path) -> None:
    path = _old_file(tmp_path)
    cache = _cache(tmp_path)
    _remember(cache, path)
    Path(path).write_text("y")
    assert cache.file(path, os.stat(path)) is None


def test_a_file_changed_a_moment_ago_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x")
    cache = _cache(tmp_path)
    _remember(cache, str(path))
    assert cache.file(str(path), os.stat(path)) is None


def test_another_version_of_the_tool_starts_afresh(tmp_path: Path) -> None:
    path = _old_file(tmp_path)
    cache = _cache(tmp_path)
    _remember(cache, path)
    cache.keep_lowered({digest(b"x"): b"=ir"})
    cache.save_index()
    assert _cache(tmp_path, tool="t2").file(path, os.stat(path)) is None
    assert _lowered(_cache(tmp_path, tool="t2"), "x") == {"x": b"=ir"}
    assert _lowered(_cache(tmp_path, parser="p2"), "x") == {}


def _lowered(cache: Cache, texts: str) -> dict[str, bytes]:
    """Which of the one-letter texts have been lowered, and to what."""
    found = {text: cache.pack.outcome(digest(text.encode())) for text in texts}
    known = cache.pack.digests([digest(text.encode()) for text in texts])
    assert len(known) >= sum(outcome is not None for outcome in found.values())
    return {text: outcome for text, outcome in found.items() if outcome is not None}


def test_the_pack_keeps_what_files_refer_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pack_module, "_GARBAGE", 0)
    paths = [_old_file(tmp_path, f"{name}.py", name) for name in "abc"]
    cache = _cache(tmp_path)
    for path in paths:
        _remember(cache, path)
    keys = {name: digest(name.encode()) for name in "abcd"}
    cache.keep_lowered({keys["a"]: b"=aaa", keys["b"]: b"=bbbbbbbbbbbbb"})
    cache.save_index()
    os.unlink(paths[0])
    later = _cache(tmp_path)
    _remember(later, paths[2])
    later.save_index()
    later.keep_lowered({keys["c"]: b"=c"})
    later.save_index()
    assert _lowered(_cache(tmp_path), "abcd") == {"a": b"=aaa", "b": b"=bbbbbbbbbbbbb", "c": b"=c"}
    os.unlink(paths[1])
    (tmp_path / "d.py").write_text("d")
    last = _cache(tmp_path)
    _remember(last, str(tmp_path / "d.py"))
    last.save_index()
    last.keep_lowered({keys["d"]: b"!d"})
    assert _lowered(_cache(tmp_path), "abcd") == {"c": b"=c", "d": b"!d"}
    assert (tmp_path / "cache" / "pack").stat().st_size == len(b"jitpack1=c!d")


def test_what_two_processes_append_is_found_or_made_again(tmp_path: Path) -> None:
    one, two = _cache(tmp_path), _cache(tmp_path)
    for name in "ab":
        _remember(one, _old_file(tmp_path, f"{name}.py", name))
    one.keep_lowered({digest(b"a"): b"=a"})
    three = _cache(tmp_path)
    one.keep_lowered({digest(b"b"): b"=bbb"})
    two.keep_lowered({digest(b"c"): b"=c"})  # has not seen any table
    three.keep_lowered({digest(b"d"): b"=dd"})
    for cache in (one, two, three, _cache(tmp_path)):
        for text, outcome in _lowered(cache, "abcd").items():
            assert outcome == {"a": b"=a", "b": b"=bbb", "c": b"=c", "d": b"=dd"}[text]


@pytest.mark.parametrize("name", ["index", "pack", "table", "run-k", "link-k", "notes"])
@pytest.mark.parametrize("damage", ["empty", "short", "flipped", "directory"])
def test_a_damaged_cache_counts_as_empty(tmp_path: Path, name: str, damage: str) -> None:
    path = _old_file(tmp_path)
    cache = _cache(tmp_path)
    _remember(cache, path)
    cache.keep_lowered({digest(b"x"): b"=intermediate"})
    cache.keep_run("k", ["result"])
    cache.keep_link("k", ["result"])
    cache.keep_notes(["result"])
    cache.save_index()
    victim = tmp_path / "cache" / name
    data = victim.read_bytes()
    victim.unlink()
    if damage == "directory":
        victim.mkdir()
    elif damage == "flipped":
        victim.write_bytes(data[:-2] + bytes([data[-2] ^ 0xFF]) + data[-1:])
    else:
        victim.write_bytes(b"" if damage == "empty" else data[: len(data) // 2])
    again = _cache(tmp_path)
    known = {
        "index": again.file(path, os.stat(path)),
        "pack": again.pack.outcome(digest(b"x")),
        "table": again.pack.outcome(digest(b"x")),
        "run-k": again.run("k", list[str]),
        "link-k": again.link("k", list),
        "notes": again.notes(list[str]),
    }
    assert known[name] is None
    assert [key for key, value in known.items() if value is None] in ([name], ["pack", "table"])
    _remember(again, path)
    again.keep_lowered({digest(b"y"): b"=more"})
    assert again.pack.outcome(digest(b"y")) == b"=more"
    again.keep_run("k", ["result"])
    again.keep_link("k", ["result"])
    again.save_index()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    cache = _cache(tmp_path)
    _remember(cache, _old_file(tmp_path))
    cache.keep_lowered({b"k": b"=v"})
    cache.keep_run("k", ["result"])
    cache.save_index()
    assert _cache(tmp_path).run("k", list[str]) is None


def test_no_cache_at_all(tmp_path: Path) -> None:
    cache = Cache(None, str(tmp_path), "t", "p")
    cache.keep_run("k", ["result"])
    cache.save_index()
    assert cache.run("k", list[str]) is None
    assert os.listdir(tmp_path) == []


def test_only_the_newest_runs_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_RUNS_KEPT", 2)
    cache = _cache(tmp_path)
    for number, key in enumerate("abc"):
        cache.keep_run(key, [key])
        os.utime(tmp_path / "cache" / f"run-{key}", ns=(number, number))
    cache.keep_run("d", ["d"])
    assert sorted(path.name for path in (tmp_path / "cache").glob("run-*")) == ["run-c", "run-d"]


def test_the_folder_hides_itself_and_can_live_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JITLINT_CACHE_DIR", raising=False)
    assert cache_directory(str(tmp_path)) == str(tmp_path / ".jitlint_cache")
    _cache(tmp_path).keep_run("k", ["result"])
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
    assert not list((tmp_path / "cache").glob("*.tmp"))
    monkeypatch.setenv("JITLINT_CACHE_DIR", str(tmp_path / "shared"))
    assert Path(cache_directory("/one")).parent == tmp_path / "shared"
    assert cache_directory("/one") != cache_directory("/two")


def test_a_session_forgets_what_no_answer_has_needed_for_a_while(tmp_path: Path) -> None:
    cache = _cache(tmp_path)
    cache.freeze()
    for number in range(40):
        cache.keep_link(f"typed{number}", ["found"])
        assert cache.link("used", list) == (["kept"] if number else None)
        cache.keep_link("used", ["kept"])
        cache.keep_lowered({digest(b"%d" % number): b"x" * 100})
        cache.freeze()
    assert cache.link("used", list) == ["kept"]
    assert cache.link("typed39", list) == ["found"]
    assert cache.link("typed0", list) is None


def test_what_was_typed_and_is_gone_does_not_fill_the_memory(tmp_path: Path) -> None:
    cache = _cache(tmp_path)
    cache.freeze()
    keys = [digest(b"%d" % number) for number in range(300)]
    for key in keys:
        cache.keep_lowered({key: b"lowered"})
    kept = [key for key in keys if cache.pack.outcome(key) is not None]
    assert keys[-1] in kept and len(kept) < 100
