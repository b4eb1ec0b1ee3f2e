"""Paths to the leaves of a tree, whose entries are no texts (layer: ``link``, room ``values``).

``jax.tree.map_with_path`` and its kin give a tuple of entries, ``DictKey('bias')`` and the like, and none of them is equal to the name
that it holds. What it does: says what such paths are, and finds comparisons of their entries with texts. What it does not: speak of
what is read from an entry, or of the text that is made of a path.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import PathText
from jitlint.infer.values import STATIC, ExtInst, Py, Seq, Tup, Value, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

_ENTRY: Final = ExtInst("jax.tree_util.KeyEntry", dict.fromkeys(("key", "name", "idx"), STATIC))
KEY_PATH: Final = Seq("tuple", None, _ENTRY)
FIXED: Final[dict[str, Value]] = {"static": STATIC, "path": KEY_PATH}
"""What functions get that are no arguments of the call which runs them, as the catalogue names it."""


def check(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> None:
    """Record ``"bias" in path`` and ``path[-1] == "bias"``, which are always False."""
    if op in ("in", "not in"):
        found = _is_path(right) and _is_text(left)
        found = found or (_is_entry(left) and _are_texts(right))
    else:
        found = (_is_entry(left) and _is_text(right)) or (_is_entry(right) and _is_text(left))
    if found:
        const = next((side.const for side in (left, right) if type(side) is Py), None)
        text = const if isinstance(const, str) else ""
        m.emit(f, PathText, at, None, Confidence.LIKELY, operator=op, text=text)


def _is_entry(value: Value) -> bool:
    return type(value) is ExtInst and value.dotted == _ENTRY.dotted


def _is_path(value: Value) -> bool:
    return type(value) is Seq and value.rest is not None and _is_entry(value.rest) and not value.items


def _is_text(value: Value) -> bool:
    return all(type(one) is Py and one.kind == "str" for one in alternatives(value))


def _are_texts(value: Value) -> bool:
    return isinstance(value, Tup) and bool(value.items) and all(map(_is_text, value.items))
