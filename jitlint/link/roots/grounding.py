"""Values that are traced on some ground, and on none better (layer: ``link``, room ``roots``)."""

from __future__ import annotations

from jitlint.infer.grounds import RULED, SEEN, Ground
from jitlint.infer.lattice import parts
from jitlint.infer.sizes import DEPTH, is_large
from jitlint.infer.values import UNKNOWN, Arr, Inst, Map, Seq, Tree, Tup, Union, Value
from jitlint.link.values import flattening, pytrees

_COMPOUND = (Tup, Seq, Map, Union)


def on_ground(value: Value, ground: Ground, depth: int = DEPTH) -> Value:
    """Every traced leaf with a ground for being traced that is no better than this one."""
    if type(value) is Arr:
        kind = ground if ground in (SEEN, RULED) else max(value.kind, ground)
        traced = max(value.traced, ground)
        return Arr(
            value.modes, value.dtype, value.rank, value.why, value.level, traced, value.host, value.key, kind
        )
    if type(value) is Tree:
        traced = max(value.traced, ground)
        kind = ground if value.evidence == "array" and ground in (SEEN, RULED) else value.kind
        return Tree(value.modes, value.why, value.level, traced, value.evidence, kind)
    if depth == 0 or (depth == DEPTH and is_large(value)):
        return UNKNOWN
    if type(value) in _COMPOUND or (type(value) is Inst and flattening.is_pytree(value.cls)):
        return pytrees.with_parts(value, [on_ground(part, ground, depth - 1) for part in parts(value)])
    return value
