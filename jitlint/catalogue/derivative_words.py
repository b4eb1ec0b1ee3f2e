"""Sets of names that questions about derivatives ask for, as data (layer: ``catalogue``).

A part of `jitlint.catalogue.lexicon`: written in ``data/lexicon.toml``, where each is explained.
"""

from __future__ import annotations

import msgspec


class Gradients(msgspec.Struct, frozen=True):
    """Where derivatives are not finite, are zero, or are meant for something."""

    reducing: frozenset[str]
    mapping: frozenset[str]
    choosing: frozenset[str]
    logarithms: frozenset[str]
    own_rules: frozenset[str]
    choosing_ways: frozenset[str]
    keeping_small: frozenset[str]
    bounding: frozenset[str]
    singular: frozenset[str]
    roots: frozenset[str]
    flat: frozenset[str]
    stepping: frozenset[str]
    holding: frozenset[str]
    discounts: frozenset[str]
    rewards: frozenset[str]
    next_states: frozenset[str]
    advantages: frozenset[str]
    probabilities: frozenset[str]
    squaring: frozenset[str]
    growing: frozenset[str]
    of_rows: frozenset[str]
    keeping_zero: frozenset[str]
    losses: frozenset[str]
    rates: frozenset[str]
    trained: frozenset[str]
    momenta: frozenset[str]
    outputs: frozenset[str]
    condensing: frozenset[str]
    dividing: frozenset[str]
    keeping: frozenset[str]
    products: frozenset[str]
    edges: dict[str, str]
