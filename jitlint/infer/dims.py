"""Sizes of arrays (layer: ``infer``)."""

from typing import Optional

Dims = tuple[Optional[int], ...]
"""Sizes of the axes of an array, None for those that are not known."""
