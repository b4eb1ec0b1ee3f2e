"""A first look at a file's bytes: could it concern JAX, and what does it import? (layer: ``driver``)

Regular expressions over bytes, no parsing: the answer may name imports that are not there (in strings), but
misses none that is written as an import statement. It decides which files are worth parsing at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:"  # also after `if TYPE_CHECKING:` or another statement on the line
    rb"from[ \t]*(\.*[ \t]*[\w.]*)[ \t\\\r\n]*import\b[ \t\\\r\n]*"
    rb"(\((?:[^)#]|#[^\r\n]*)*\)|(?:[^\r\n\\#;]|\\\r?\n)*)"
    rb"|import[ \t]+((?:[^\r\n\\#;]|\\\r?\n)*))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Scan:
    """mentions: a library built on JAX, or a jitlint comment, occurs in the text. imports: dotted names as
    written, relative ones with their dots; ``from a import b`` gives ``a.b``, which may be a name in ``a``.
    lines: how many."""

    mentions: bool
    imports: tuple[str, ...]
    lines: int


def mention_pattern(libraries: Iterable[str]) -> re.Pattern[bytes]:
    """A pattern that finds any of the library names as a word, or ``jitlint``."""
    names = "|".join(sorted(re.escape(name) for name in {*libraries, "jitlint"}))
    return re.compile(rf"\b(?:{names})\b".encode())


def scan(data: bytes, mention: re.Pattern[bytes]) -> Scan:
    """Look at one file."""
    return Scan(
        mentions=mention.search(data) is not None,
        imports=imports_of(data),
        lines=data.count(b"\n") + (not data.endswith(b"\n") and bool(data)),
    )


def imports_of(data: bytes) -> tuple[str, ...]:
    """What a file imports; see `Scan`."""
    imports: dict[str, None] = {}
    if b"import" in data:
        for source, names, modules in _IMPORT.findall(data):
            if modules:
                found = _names(modules)
            else:
                base = source.replace(b" ", b"").replace(b"\t", b"").decode("utf-8", "replace")
                joint = "" if base.endswith(".") else "."
                found = [base if name == "*" else f"{base}{joint}{name}" for name in _names(names)]
            imports.update(dict.fromkeys(found))
    return tuple(imports)


def _names(text: bytes) -> list[str]:
    """``(a, b as c)`` gives a and b."""
    clean = _COMMENT.sub(b"", text).strip(b"() \t\r\n").replace(b"\\", b" ").decode("utf-8", "replace")
    return [item.split()[0] for item in clean.split(",") if item.strip()]
