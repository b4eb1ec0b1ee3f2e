"""Marks of values that are followed through one function, and what is computed from them, as bits beside their modes (layer: ``infer``)."""

from __future__ import annotations

from typing import Final

REACH: Final = 1 << 18
"""What a function is differentiated by, or the cotangent that a rule gets."""
BOOT: Final = 1 << 19
"""A target that was made with the model's own values."""
ERROR: Final = 1 << 20
"""The difference between such a target and what the model says."""
KEPT: Final = 1 << 21
"""What a forward rule keeps for the backward one."""
FOLLOWED: Final = REACH | BOOT | ERROR | KEPT
