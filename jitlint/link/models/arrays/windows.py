"""Windows of arrays, that are read or written as a whole: those that reach beyond the end (layer: ``link``, room ``models``).

JAX moves a window until it is inside. What it does: compares constant starts, and those that a loop counts, with known sizes, and
starts that are drawn below a size with that size; and says which windows JAX refuses, as they are larger than the array, or name
other numbers of axes. What it does not: speak of starts that are computed otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.schema import ApiFunction
from jitlint.infer.counted import Counted
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import OutOfBounds
from jitlint.infer.values import Arr, Py, Seq, Tup, Value
from jitlint.link.engine.counts import Plain
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Condition
from jitlint.link.models.arrays import making, results
from jitlint.link.values import fitting, iteration
from jitlint.link.values.questions import counting, derivatives, drawing

_FIRST: Final = Py("int", 0)


def check(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Record a window that JAX moves, or refuses; whether it is refused."""
    given = {param.name: value for param, value in bound}
    array = given.get("operand")
    if array is None or not fitting.is_array(array):
        return False
    if _refused(m, f, at, fn.name, array, given):
        return True
    if fitting.is_sure(array):
        _check_drawn(m, f, at, fn.name, array, given)
        _check_moved(m, f, at, fn.name, array, given)
    return False


def _check_moved(m: Machine, f: Frame, at: int, name: str, array: Value, given: Mapping[str, Value]) -> None:
    dims = fitting.dims_of(array)
    if dims is None or "allow_negative_indices" in given:
        return
    for axis, start, length in _windows(given):
        size = dims[axis] if -len(dims) <= axis < len(dims) else None
        if size is not None and length is not None and length <= size:
            window = _Window(m, f, at, array, name, size, length)
            if window.is_moved(start):
                return


def _refused(m: Machine, f: Frame, at: int, api: str, array: Value, given: Mapping[str, Value]) -> bool:
    """Whether a window has another number of axes than its array, or is larger."""
    dims = fitting.dims_of(array)
    if not dims:
        return False
    for name in ("start_indices", "slice_sizes"):
        count = _count(given[name]) if name in given else None
        if count is not None and count != len(dims):
            return fitting.report(m, f, at, api, "window-axes", f"{count} of {len(dims)} for {name}", array)
    window, place = _extent(given, dims)
    if all(length is None or size is None or length <= size for length, size in zip(window, place)):
        return False
    return fitting.report(m, f, at, api, "window", f"{shape_text(window)} of {shape_text(place)}", array)


def _count(numbers: Value) -> int | None:
    """For how many axes there is a number."""
    if type(numbers) is Arr:
        dims = fitting.dims_of(numbers) if fitting.is_array(numbers) else None
        return dims[0] if dims is not None and len(dims) == 1 else None
    items = iteration.known_items(numbers) if isinstance(numbers, (Tup, Seq)) else None
    return None if items is None else len(items)


def _extent(given: Mapping[str, Value], dims: Dims) -> tuple[Dims, Dims]:
    """The sizes of a window, and those of its array that they must not exceed."""
    update = given.get("update")
    if update is not None:
        written = fitting.dims_of(update) if fitting.is_array(update) else None
        return (written, dims) if written is not None and len(written) == len(dims) else ((), ())
    axis = fitting.int_of(given.get("axis", _FIRST))
    if "slice_size" in given and axis is not None and -len(dims) <= axis < len(dims):
        return (fitting.int_of(given["slice_size"]),), (dims[axis],)
    return making.shape_of(given.get("slice_sizes")) or (), dims


def _check_drawn(m: Machine, f: Frame, at: int, name: str, array: Value, given: Mapping[str, Value]) -> None:
    """Record a window that begins where a draw below the size of its axis may put it, too near to the end."""
    node = derivatives.argument(m.texts.table(f).calls.get(at), 0, "operand")
    for axis, start, length in _windows(given):
        counted = counting.of(start)
        over = drawing.beyond(m, f, node, axis, counted, length) if length is not None else 0
        if over and counted is not None:
            m.emit(
                f, OutOfBounds, at, array, Confidence.LIKELY, when=(Plain(m.counts, counted),),
                index=drawing.text(counted), length=str(length), window=name, grows=True, beyond=over,
            )  # fmt: skip
            return


class _Window(NamedTuple):
    """A window along an axis of an array. size: of the axis, length: of the window."""

    m: Machine
    f: Frame
    at: int
    array: Value
    name: str
    size: int
    length: int

    def is_moved(self, start: Value | None) -> bool:
        """Whether the window certainly reaches beyond the end, which is recorded; it may do so in the last turn of a loop."""
        number, counted = fitting.int_of(start), counting.of(start)
        if counted is not None:
            self.m.counts.tell(counted, self.at, lambda most: self._check_last(counted, most))
        if number is None:
            return False
        first = number + self.size if number < 0 else number
        moved = not 0 <= first <= self.size - self.length
        if moved:
            self._record(number)
        return moved

    def _check_last(self, counted: Counted, most: int) -> None:
        if most > self.size - self.length:
            self._record(most, (Plain(self.m.counts, counted),), True)

    def _record(self, number: int, when: tuple[Condition, ...] = (), grows: bool = False) -> None:
        self.m.emit(
            self.f, OutOfBounds, self.at, self.array, Confidence.LIKELY if grows else None, when=when,
            index=str(number), size=str(self.size), length=str(self.length), window=self.name, grows=grows,
        )  # fmt: skip


def _windows(given: Mapping[str, Value]) -> Iterator[tuple[int, Value | None, int | None]]:
    """Axis, start and number of elements of a window, along each axis that is spoken of."""
    update = given.get("update")
    written = fitting.dims_of(update) if update is not None else None
    if "start_indices" in given:
        starts = iteration.known_items(given["start_indices"]) or ()
        lengths = making.shape_of(given.get("slice_sizes")) if update is None else written
        yield from ((axis, *pair) for axis, pair in enumerate(zip(starts, lengths or ())))
        return
    axis = fitting.int_of(given.get("axis", _FIRST))
    if axis is None:
        return
    if "index" in given:
        yield axis, given["index"], 1
    elif update is None:
        yield axis, given.get("start_index"), fitting.int_of(given.get("slice_size"))
    elif written is not None and -len(written) <= axis < len(written):
        yield axis, given.get("start_index"), written[axis]
