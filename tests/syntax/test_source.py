"""Bytes to text: encodings, marks, line ends, and files that are no text at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from jitlint.syntax import Source, SyntaxProblem, compute_spans, decode, ir, lower, read_source
from tests.syntax.helpers import module, plain


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x = 1\n", "x = 1\n"),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/sh\n# vim: set fileencoding=cp1252 :\n'\x80'\n", "#!/bin/sh\n# vim: set fileencoding=cp1252 :\n'€'\n"),
        (b"a\r\nb\rc\n", "a\r\nb\rc\n"),
    ],
)  # fmt: skip
def test_decode(data: bytes, text: str) -> None:
    assert decode(data) == text


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"x = 1\ny = '\xe9'\n", (2, 6)),
        (b"\xff\xfex\x00", (1, 1)),
        (b"# coding: no-such-encoding\n", (1, 1)),
        (b"\xef\xbb\xbf# coding: latin-1\n", (1, 1)),
        (b"# coding: hex\nx\n", (1, 1)),
        (b"# coding: ascii\nx = 1\n'\xc3\xa9'\n", (3, 2)),
    ],
)
def test_undecodable(data: bytes, place: tuple[int, int]) -> None:
    found = decode(data)
    assert isinstance(found, SyntaxProblem)
    assert (found.code, found.line, found.column) == ("JIT002", *place)


def test_read_source(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"\xef\xbb\xbfx = 1\r\n")
    assert read_source(path) == Source(str(path), "x = 1\r\n", "utf-8-sig")


def test_a_second_byte_order_mark_is_no_python() -> None:
    text = decode(b"\xef\xbb\xbf\xef\xbb\xbfx = 1\n")
    assert isinstance(text, str)
    found = lower(text)
    assert isinstance(found, SyntaxProblem)
    assert (found.code, found.line, found.column) == ("JIT001", 1, 1)


@pytest.mark.parametrize("name", ["missing.py", ".", "a\0b.py"])
def test_unreadable(tmp_path: Path, name: str) -> None:
    found = read_source(f"{tmp_path}/{name}")
    assert isinstance(found, SyntaxProblem)
    assert found.code == "JIT002"
    assert str(tmp_path) not in found.message


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_make_no_difference(end: str) -> None:
    lines = ["def f(x):", "    y = '''a", "b'''", "    return (x +", "        y)", "z = f(1)", ""]
    text = end.join(lines)
    lowered = lower(text)
    reference = module("\n".join(lines))
    assert lowered == reference
    wanted = range(reference.origins)
    assert compute_spans(text, wanted) == compute_spans("\n".join(lines), wanted)


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "\f\n", "   \n\t\n", "\r"])
def test_empty_modules(text: str) -> None:
    lowered = lower(text)
    assert isinstance(lowered, ir.Module)
    assert lowered.body == []
    assert compute_spans(text, [0]) == {}


def test_no_line_end_at_the_end() -> None:
    assert plain(module("if a:\n  b").body) == [
        ("If", ("Name", "a"), [("ExprStmt", ("Name", "b"))], [], False)
    ]
