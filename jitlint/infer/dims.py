"""Sizes of arrays (layer: ``infer``)."""

from typing import Optional

Dims = tuple[Optional[int], ...]
"""Sizes of the axes of an array, None for those that are not known."""


def shape_text(dims: Dims) -> str:
    """Sizes as people write a shape."""
    words = ["?" if size is None else str(size) for size in dims]
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"
