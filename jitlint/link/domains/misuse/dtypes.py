"""Texts that stand where a data type is wanted and name none (layer: ``link``, room ``domains``).

What it does: knows the numbers of bits that kinds of numbers have anywhere. What it does not: know all other names of types.
"""

from __future__ import annotations

import re
from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Py
from jitlint.link.domains.misuse import wide
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

_SPELLED: Final = re.compile(r"(bfloat|complex|float|int|uint)([0-9]+)")
_BITS: Final = {
    "bfloat": {"16"},
    "complex": {"32", "64", "128", "160", "192", "256", "512"},
    "float": {"16", "32", "64", "80", "96", "128", "256"},
    "int": {"1", "2", "4", "8", "16", "32", "64", "128", "256"},
    "uint": {"1", "2", "4", "8", "16", "32", "64", "128", "256"},
}
"""Those of NumPy, on any machine, and of the types that JAX adds; some are none yet."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A function is called that perhaps takes a data type. Record a text that is none."""
    if not wide.hears_of(m, library.dotted) or m.guards:
        return
    value = wide.given(m, library)
    text = value.const if type(value) is Py else None
    spelled = _SPELLED.fullmatch(text) if isinstance(text, str) else None
    if spelled is not None and spelled[2] not in _BITS[spelled[1]]:
        m.emit(
            f, ApiMisuse, library.at, api=library.dotted, problem="wrong-call", parameter=str(text),
            detail="no-dtype", exception="TypeError",
        )  # fmt: skip
