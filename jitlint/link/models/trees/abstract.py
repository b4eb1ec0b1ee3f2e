"""Arrays that are only described, as `jax.eval_shape` gives them (layer: ``link``, room ``models``).

What it does: puts a description in the place of each array of which something is known. What it does not: describe what may be no array.
"""

from __future__ import annotations

from jitlint.infer.sizes import DEPTH
from jitlint.infer.values import INT, UNKNOWN, Arr, ExtInst, Tup, Value, py
from jitlint.link.values import fitting, operators, pytrees


def described(value: Value, depth: int = DEPTH) -> Value:
    """A tree of arrays as one of descriptions."""
    if type(value) is Arr:
        return _description(value) if fitting.is_sure(value) and value.dtype != "key" else UNKNOWN
    parts = pytrees.children(value) if depth else None
    if parts is None:
        return UNKNOWN
    return pytrees.with_children(value, [described(part, depth - 1) for part in parts])


def _description(array: Arr) -> Value:
    if array.dims is None and array.rank is None:
        return UNKNOWN
    dims = fitting.shape_of(array) or ()
    sizes = [INT if size is None else py(size) for size in dims]
    attrs: dict[str, Value] = {
        "shape": Tup(tuple(sizes)), "dtype": operators.dtype_value(array), "ndim": py(len(sizes)), "size": INT,
    }  # fmt: skip
    return ExtInst(pytrees.ABSTRACT_ARRAY, attrs)
