"""Names of the methods by which objects of Python and NumPy change themselves (layer: ``link``, room ``tables``)."""

from __future__ import annotations

from typing import Final

CHANGERS: Final = frozenset(
    "append appendleft add clear discard extend extendleft insert pop popitem popleft remove reverse rotate sort update "
    "difference_update intersection_update symmetric_difference_update move_to_end __setitem__".split()
)
"""Methods of containers that change them. ``setdefault`` fills what is missing and changes nothing that was read."""

ARRAY_CHANGERS: Final = frozenset(
    {"fill", "sort", "put", "itemset", "resize", "partition", "setfield", "byteswap"}
)
"""Methods of NumPy arrays that change them."""
