"""What callbacks are told of the results of their functions (layer: ``link``, room ``models``).

What it does: says where numbers stand for the description of a result, as those of a shape do. What it does not: compare
results of code on the host with what is said of them.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.transforms import HigherOrder
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Py, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_DESCRIBED: Final = "result_shape_dtypes"


def check(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> None:
    """Record a description with a number in it: of each leaf, JAX asks the shape and the dtype (measured)."""
    told = named.get(_DESCRIBED) if _DESCRIBED in spec.params else None
    items = told.items if type(told) is Tup and told.cls is None else (told,)
    if any(type(item) is Py and item.kind in pytrees.NUMBERS for item in items) and not m.guards:
        m.emit(
            f, ApiMisuse, at, api=spec.name, problem="wrong-call", parameter=_DESCRIBED, detail="shape",
            exception="AttributeError",
        )  # fmt: skip
