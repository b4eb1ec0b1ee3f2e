"""Attributes that arrays of JAX lack, and those that only concrete ones have (layer: ``link``, room ``values``)."""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse, ArrayStore
from jitlint.infer.grounds import SAID, SEEN
from jitlint.infer.values import Arr
from jitlint.link.engine.events import ANY_TRACER, STAGED_OR_BATCHED, hurt
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


def check(m: Machine, f: Frame, at: int, obj: Arr, name: str, kind: str) -> None:
    """An attribute that every JAX array lacks, or that only a concrete one has."""
    label, _, exception = kind.partition(":")
    if name in ("item", "tolist") or name.startswith("__"):
        return
    if label == "missing" and obj.kind is SAID and not obj.modes:
        return  # it is said to be an array of JAX, and used as one of NumPy
    if name in lexicon().evidence.sequence_attributes and obj.kind is not SEEN:
        return  # or used as a list
    if label in ("missing", "foreign"):
        if name in lexicon().arrays.in_place_methods and not obj.weak:
            m.emit(f, ArrayStore, at, obj, op="method", what=name)
        elif not obj.weak and m.catalogue.view.removed(f"jax.Array.{name}") is None:
            m.emit(f, ApiMisuse, at, obj, problem="missing-member", parameter=name, exception=exception)
    elif hurt(obj, ANY_TRACER) is not None and (obj.modes & STAGED_OR_BATCHED):
        m.emit(
            f,
            ApiMisuse,
            at,
            obj,
            api=f"jax.Array.{name}",
            problem="concrete-only",
            parameter=name,
            exception=exception,
            cure="",
        )
