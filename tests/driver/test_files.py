"""The walk takes what belongs to the project, in a fixed order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jitlint.driver.files import find_files
from tests.conftest import Write


def _names(root: Path, *paths: str, exclude: tuple[str, ...] = ()) -> list[str]:
    found = find_files([str(root / path) for path in paths] or [str(root)], exclude, str(root))
    assert found.failures == []
    return [Path(path).relative_to(root).as_posix() for path in found.files]


def test_python_files_in_fixed_order(project: Write) -> None:
    root = project({"b.py": "", "a/z.py": "", "a.py": "", "c.pyi": "", "d.txt": "", "a/b/y.py": ""})
    assert _names(root) == ["a.py", "b.py", "a/z.py", "a/b/y.py"]


def test_directories_that_hold_no_project_code_are_skipped(project: Write) -> None:
    root = project(
        {
            "ok.py": "",
            ".git/x.py": "",
            ".venv/x.py": "",
            "node_modules/x.py": "",
            "__pycache__/x.py": "",
            "build/x.py": "",
            "mine.egg-info/x.py": "",
            "lib/site-packages/x.py": "",
            "anything/pyvenv.cfg": "",
            "anything/lib/x.py": "",
        }
    )
    assert _names(root) == ["ok.py"]


def test_what_is_named_explicitly_is_always_taken(project: Write) -> None:
    root = project(
        {
            ".gitignore": "gen*\n",
            "build/x.py": "",
            "gen.py": "",
            "script": "",
            "env/pyvenv.cfg": "",
            "env/x.py": "",
        }
    )
    assert _names(root, "build", "gen.py", "script", "env") == ["build/x.py", "gen.py", "script", "env/x.py"]


def test_gitignore_files_are_respected_at_every_level(project: Write) -> None:
    root = project(
        {
            ".git/config": "",
            ".gitignore": "*_gen.py\nout/\n/top.py\n",
            "top.py": "",
            "a_gen.py": "",
            "out/x.py": "",
            "pkg/.gitignore": "!keep_gen.py\nlocal.py\n",
            "pkg/keep_gen.py": "",
            "pkg/b_gen.py": "",
            "pkg/local.py": "",
            "pkg/top.py": "",
            "local.py": "",
        }
    )
    assert _names(root) == ["local.py", "pkg/keep_gen.py", "pkg/top.py"]
    # The patterns above the walked directory count too.
    assert _names(root, "pkg") == ["pkg/keep_gen.py", "pkg/top.py"]


def test_a_pattern_that_makes_no_sense_is_ignored(project: Write) -> None:
    root = project({".gitignore": "!\n[\n\\\nskip.py\n", "skip.py": "", "take.py": ""})
    assert _names(root) == ["take.py"]


def test_exclude_patterns_are_relative_to_the_configuration(project: Write) -> None:
    root = project({"a.py": "", "docs/conf.py": "", "pkg/docs/x.py": "", "pkg/b.py": ""})
    assert _names(root, exclude=("/docs", "b.py")) == ["a.py", "pkg/docs/x.py"]
    assert _names(root, "pkg", exclude=("pkg/docs",)) == ["pkg/b.py"]


def test_what_is_named_is_left_out_if_that_is_forced(project: Write) -> None:
    root = project({"docs/a.py": "", "docs/sub/b.py": "", "c_pb2.py": "", "docs/keep.py": "", "d.py": ""})
    exclude = ("docs/*", "!docs/keep.py", "*_pb2.py")

    def names(*paths: str) -> tuple[list[str], list[str]]:
        found = find_files([str(root / path) for path in paths], exclude, str(root), force=True)
        assert found.failures == []
        kept, left_out = (
            [os.path.relpath(path, root) for path in some] for some in (found.files, found.excluded)
        )
        return kept, left_out

    named = ["docs/a.py", "docs/sub", "docs/sub/b.py", "c_pb2.py"]
    assert names(*named) == ([], named)
    assert names("d.py", "docs") == names(".") == (["d.py", "docs/keep.py"], [])
    assert names("docs/keep.py") == (["docs/keep.py"], [])


def test_what_is_hidden_is_known(project: Write) -> None:
    root = project(
        {".gitignore": "out/\n*_gen.py\n", "out/a.py": "", "b_gen.py": "", "c_gen.txt": "", "d.py": ""}
    )
    (root / ".git").mkdir()
    found = find_files([str(root)], ("d.py",), str(root))
    assert [os.path.relpath(path, root) for path in found.hidden] == ["b_gen.py", "d.py", "out"]


def test_links_make_no_loops_and_no_doubles(project: Write) -> None:
    root = project({"pkg/a.py": ""})
    os.symlink(root / "pkg", root / "pkg" / "again")
    os.symlink(root / "pkg" / "a.py", root / "b.py")
    assert _names(root) == ["pkg/a.py"]


def test_links_that_lead_to_each_other_are_listed(project: Write) -> None:
    root = project({"a.py": ""})
    os.symlink("two.py", root / "one.py")
    os.symlink("one.py", root / "two.py")
    assert _names(root) == ["a.py", "one.py", "two.py"]


def test_overlapping_paths_list_a_file_once(project: Write) -> None:
    root = project({"pkg/a.py": "", "pkg/b.py": ""})
    assert _names(root, "pkg/b.py", "pkg", ".") == ["pkg/b.py", "pkg/a.py"]


def test_a_missing_path_is_a_failure_and_the_rest_is_walked(project: Write) -> None:
    root = project({"a.py": ""})
    found = find_files([str(root / "gone"), str(root / "a.py")])
    assert found.files == [str(root / "a.py")]
    assert found.failures == [(str(root / "gone"), "no such file or directory")]


def test_a_dangling_link_is_listed_but_an_editor_lock_is_not(project: Write) -> None:
    root = project({})
    os.symlink(root / "gone.py", root / "link.py")
    os.symlink("user@host.1234", root / ".#a.py")
    assert _names(root) == ["link.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_looks_like_a_module_is_left_alone(project: Write) -> None:
    root = project({"a.py": ""})
    os.mkfifo(root / "pipe.py")
    assert _names(root) == ["a.py"]
