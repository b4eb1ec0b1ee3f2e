"""What the names of functions and files say of them (layer: ``link``, room ``tables``)."""

from __future__ import annotations

import functools
import re
from collections.abc import Set
from typing import Final

from jitlint.catalogue.lexicon import lexicon

_INSIDE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a word of a name in camel case begins."""


def begins_with(name: str, words: Set[str]) -> bool:
    """Whether a name is one of these words or begins with one, in snake or camel case and perhaps private."""
    return _begins_with(name, frozenset(words))


@functools.cache
def _begins_with(name: str, words: frozenset[str]) -> bool:
    return _pattern(words).match(name) is not None


def has_word(name: str, words: Set[str]) -> bool:
    """Whether one of these words is a part of a name in snake or camel case."""
    return not words.isdisjoint(_words(name))


@functools.cache
def _words(name: str) -> tuple[str, ...]:
    return tuple(_INSIDE.sub("_", name).lower().split("_"))


@functools.cache
def is_benchmark(path: str) -> bool:
    """Whether a file measures: what compiles again there, or makes a large program, is what is to be measured."""
    *folders, name = path.replace(chr(92), "/").split("/")
    words = name.removesuffix(".py").lower().split("_")
    return not lexicon().tests.benchmarks.isdisjoint([*folders, *words])


@functools.cache
def _pattern(words: frozenset[str]) -> re.Pattern[str]:
    return re.compile(rf"_*({'|'.join(sorted(words))})(?=_|[A-Z]|\d|$)")
