"""What a decorator that is not understood may do to what a function takes and gives (layer: ``link``, room ``core``)."""

from __future__ import annotations

from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Arr, Value, alternatives
from jitlint.link.values import pytrees


def taken(fn: FuncInfo, bound: dict[str, Value]) -> dict[str, Value]:
    """What the parameters get when such a decorator may have had its hands on it."""
    if fn.veiled:
        bound = {name: pytrees.with_rank(value, None) for name, value in bound.items()}
    if fn.disguised:
        bound = {
            name: UNKNOWN if _is_plain_array(value) else pytrees.with_rank(value, None)
            for name, value in bound.items()
        }
    return bound


def given(fn: FuncInfo, result: Value) -> Value:
    """What a call gives: what the decorator makes of the result may be of another rank."""
    return pytrees.with_rank(result, None) if fn.veiled or fn.disguised else result


def _is_plain_array(value: Value) -> bool:
    return any(type(a) is Arr and not a.modes for a in alternatives(value))
