"""Mistakes that one statement shows by itself: a thrown away update, a misleading import (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate, ImportIdiom
from jitlint.infer.values import UNKNOWN, Arr, ExtInst, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import paths
from jitlint.syntax import ir


def thrown_away(m: Machine, f: Frame, node: ir.Node | None, value: Value) -> None:
    """Record ``x.at[i].set(v)`` that stands alone as a statement."""
    if type(node) is not ir.Call or type(node.func) is not ir.Attr or not _updates(m, node.func.name):
        return
    place = node.func.obj
    if type(place) is not ir.Sub or type(place.obj) is not ir.Attr or place.obj.name != "at":
        return
    base = paths.peek(m, f, place.obj.obj)
    if type(base) is Arr and type(value) is Arr:
        m.emit(f, DroppedUpdate, node.at, value, Confidence.CERTAIN, method=node.func.name)
    elif type(base) is not ExtInst and (type(value) is Arr or value is UNKNOWN) and _has_no_references(f):
        m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, method=node.func.name)


def _updates(m: Machine, method: str) -> bool:
    return method != "get" and m.catalogue.update_method(method) is not None


def _has_no_references(f: Frame) -> bool:
    """Whether what has ``.at`` here is an array: kernels have mutable references too, which are updated in place."""
    mentions = " ".join(f.module.tree.mentions)
    return "jax" in mentions and "pallas" not in mentions


def imported(m: Machine, f: Frame, at: int, module: str, name: str) -> None:
    """Record `jax.numpy` under the name by which everybody knows NumPy."""
    if module == "jax.numpy" and name in lexicon().evidence.numpy_names:
        m.emit(f, ImportIdiom, at, None, name=name, what=module)
