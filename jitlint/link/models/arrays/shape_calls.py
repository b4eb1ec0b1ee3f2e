"""Functions that ask for a shape or a dtype, as attributes do, and take numbers and names as well (layer: ``link``, room ``models``).

Where the answer is known it decides branches: who asks for `numpy.ndim(x)` has another way for what is no array of that kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jitlint.catalogue.dtypes import exact_of, told
from jitlint.infer.values import FALSE, NONE, TRUE, Arr, Func, Inst, Map, Py, Seq, Tree, Tup, Value, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays.results import dtype_named, nested_rank
from jitlint.link.values import attributes
from jitlint.link.values.pytrees import NUMBERS
from jitlint.link.values.questions import no_arrays
from jitlint.link.values.questions.kinds import mro

Asked = Callable[[Machine, Frame, int, Args], "Value | None"]


def _ndim(m: Machine, f: Frame, at: int, args: Args) -> Value | None:
    value = args.pos[0]
    rank = attributes.known_rank(value) if type(value) is Arr else nested_rank(value)
    return py(rank) if rank is not None else None


def _shape(m: Machine, f: Frame, at: int, args: Args) -> Value | None:
    value = args.pos[0]
    if type(value) is Py and value.kind in NUMBERS:
        return Tup(())
    return attributes.get(m, f, at, value, "shape") if type(value) is Arr and len(args.pos) == 1 else None


def _is_scalar(m: Machine, f: Frame, at: int, args: Args) -> Value | None:
    """For NumPy an array of JAX is none, whatever its rank: measured."""
    value = args.pos[0]
    if type(value) is Py and value.kind in (*NUMBERS, "str"):
        return TRUE
    if _is_plain_object(value):
        return FALSE
    traced = bool(value.modes) and not value.weak if isinstance(value, (Arr, Tree)) else False
    return FALSE if traced or (type(value) is Arr and not value.host) else None


def _has_no_axes(m: Machine, f: Frame, at: int, args: Args) -> Value | None:
    """For `jax.numpy` an array without axes is one, whoever made it."""
    value = args.pos[0]
    if type(value) is Arr:
        rank = attributes.known_rank(value)
        return None if rank is None or value.weak else py(rank == 0)
    if type(value) is Py and value.kind in (*NUMBERS, "str"):
        return TRUE
    return FALSE if _is_plain_object(value) else None


def _is_plain_object(value: Value) -> bool:
    """Whether a value is nothing that has to do with arrays, though it may hold some."""
    if type(value) is Inst:
        return not (no_arrays.becomes_array(value) or any(c.extern for c in mro(value.cls)))
    return value is NONE or isinstance(value, (Tup, Seq, Map, Func))


def _dtype(m: Machine, f: Frame, at: int, args: Args) -> Value | None:
    """The dtype that a name or a type stands for."""
    named = dtype_named(args.pos[0])
    return None if named is None else Py(told(named, exact_of(named)))


_ASKED: Final[dict[str, Asked]] = {
    "numpy.ndim": _ndim,
    "jax.numpy.ndim": _ndim,
    "numpy.dtype": _dtype,
    "jax.numpy.dtype": _dtype,
    "numpy.shape": _shape,
    "jax.numpy.shape": _shape,
    "numpy.isscalar": _is_scalar,
    "jax.numpy.isscalar": _has_no_axes,
}


def answered(m: Machine, f: Frame, at: int, dotted: str, args: Args) -> Value | None:
    """What is known of the answer of a library function; None leaves it to the catalogue."""
    asked = _ASKED.get(dotted) if args.pos and not args.kw else None
    return None if asked is None else asked(m, f, at, args)
