"""What a kernel gets for a pytree of arrays (layer: ``link``, room ``models``)."""

from __future__ import annotations

from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.values import NONE, UNKNOWN, Arr, Inst, Py, Tree, Tup, Value
from jitlint.link.values.pytrees import children, with_children


def references(value: Value, modes: int, level: int, why: str) -> Value:
    """What a kernel gets for a pytree of arrays: mutable references, whose elements are traced."""
    if type(value) is Tup:
        return value.of([references(v, modes, level, why) for v in value.items])
    parts = children(value)
    if parts:
        return with_children(value, [references(part, modes, level, why) for part in parts])
    if value is NONE or type(value) is Inst:
        return NONE if value is NONE else UNKNOWN
    # where nobody says what is referred to, it may be a container of references
    known = type(value) in (Arr, Py) or (
        type(value) is Tree and value.evidence == "ref" and value.kind is SEEN
    )
    return Tree(modes, why, level, SEEN, "ref", SEEN if known else GUESSED)
