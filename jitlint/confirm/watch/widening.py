"""Sees where a number of NumPy makes an array of 16-bit floats wider (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import jax
import numpy as np
from jax._src import dtypes

from jitlint.confirm.watch.narrowing import asked_from

_NARROW: Final = ("bfloat16", "float16")


class Widened(NamedTuple):
    """An array was promoted. place: file and line. narrow, wide: its dtype and that of the result. number: the class of the number."""

    place: tuple[str, int]
    narrow: str
    wide: str
    number: str


@contextlib.contextmanager
def watching() -> Iterator[list[Widened]]:
    """The list fills while the block runs, with the operators and functions of JAX that promote what they get."""
    found: list[Widened] = []
    inside: Any = dtypes
    original = inside.lattice_result_type

    def noting(*args: Any) -> Any:
        answer = original(*args)
        narrow = next(
            (str(arg.dtype) for arg in args if isinstance(arg, jax.Array) and str(arg.dtype) in _NARROW), ""
        )
        number = next(
            (arg for arg in args if isinstance(arg, (np.generic, np.ndarray)) and not arg.ndim), None
        )
        wide = np.dtype(answer[0])
        if narrow and number is not None and wide.itemsize > 2:
            found.append(Widened(asked_from(), narrow, wide.name, f"numpy.{number.dtype.name}"))
        return answer

    inside.lattice_result_type = noting
    try:
        yield found
    finally:
        inside.lattice_result_type = original
