"""What a call of ``apply`` of a module of `flax.linen` collects (layer: ``link``, room ``values``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import Py, Seq, Tup
from jitlint.link.engine.frame import Args
from jitlint.link.values import iteration

STATISTICS: Final = "batch_stats"
"""The collection of what layers have measured of batches."""


def of_batches(args: Args) -> bool:
    """Whether a call collects the statistics of batches, alone or with others."""
    mutable = args.kw.get("mutable")
    items = iteration.known_items(mutable) if isinstance(mutable, (Tup, Seq)) else [mutable]
    return any(type(item) is Py and item.const == STATISTICS for item in items or ())
