"""Keys for the streams of a module of ``flax.linen`` (layer: ``link``, room ``domains``).

``init`` and ``apply`` want one PRNG key, or one for each stream. What it does: speaks of what certainly is none, such as the keys that
``split`` gives. What it does not: follow what is made of a key afterwards.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Map
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import operands

_APPLY: Final = "apply"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A module is applied, or initialised."""
    args = library.args
    given = args.kw.get("rngs") if library.dotted.endswith(_APPLY) else args.get(0, "rngs")
    if given is None or f.dispatched:
        return
    streams = given.entries.values() if type(given) is Map and not given.open else [given]
    for key in streams:
        what = operands.no_key(key) if type(key) is not Map else ""
        if what:
            m.emit(
                f, ApiMisuse, library.at, key, api=library.dotted, problem="no-key", parameter="rngs", detail=what
            )  # fmt: skip
            return
