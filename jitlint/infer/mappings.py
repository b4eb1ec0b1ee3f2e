"""Evidence of pytrees of unknown structure that are dicts (layer: ``infer``)."""

from __future__ import annotations

from typing import Final

COLLECTIONS: Final = "collections"
"""The variables of a module of `flax.linen`: a dict of collections, the parameters being one of them."""
PARAMETERS: Final = "parameters"
"""The collection of the parameters alone."""
MAPPINGS: Final = frozenset({"map", COLLECTIONS, PARAMETERS})
"""All dicts."""
