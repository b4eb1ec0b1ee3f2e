"""Windows of arrays, that are read or written as a whole: those that reach beyond the end (layer: ``link``, room ``models``).

JAX moves a window until it is inside. What it does: compares constant starts with known sizes. What it does not: speak of a
window that is larger than its array, which JAX refuses, or of starts that are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from jitlint.catalogue.schema import ApiFunction
from jitlint.infer.events import OutOfBounds
from jitlint.infer.values import Py, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import making, results
from jitlint.link.values import fitting

_FIRST: Final = Py("int", 0)


def check(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> None:
    """Record a window that JAX moves."""
    given = {param.name: value for param, value in bound}
    array = given.get("operand")
    dims = fitting.dims_of(array) if array is not None and fitting.is_sure(array) else None
    if array is None or dims is None or "allow_negative_indices" in given:
        return
    for axis, start, length in _windows(given):
        size = dims[axis] if -len(dims) <= axis < len(dims) else None
        if size is None or start is None or length is None or length > size:
            continue
        first = start + size if start < 0 else start
        if not 0 <= first <= size - length:
            m.emit(
                f, OutOfBounds, at, array, index=str(start), size=str(size), length=str(length), window=fn.name
            )  # fmt: skip
            return


def _windows(given: Mapping[str, Value]) -> Iterator[tuple[int, int | None, int | None]]:
    """Axis, start and number of elements of a window, along each axis that is spoken of."""
    update = given.get("update")
    written = fitting.dims_of(update) if update is not None else None
    if "start_indices" in given:
        starts = making.shape_of(given["start_indices"]) or ()
        lengths = making.shape_of(given.get("slice_sizes")) if update is None else written
        yield from ((axis, *pair) for axis, pair in enumerate(zip(starts, lengths or ())))
        return
    axis = fitting.int_of(given.get("axis", _FIRST))
    if axis is None:
        return
    if "index" in given:
        yield axis, fitting.int_of(given["index"]), 1
    elif update is None:
        yield axis, fitting.int_of(given.get("start_index")), fitting.int_of(given.get("slice_size"))
    elif written is not None and -len(written) <= axis < len(written):
        yield axis, fitting.int_of(given.get("start_index")), written[axis]
