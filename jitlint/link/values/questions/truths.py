"""What Python's truth of a value is, where that is certain (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from jitlint.catalogue import dtypes
from jitlint.infer.values import (
    NO_CONST,
    UNKNOWN,
    Arr,
    Ext,
    ExtInst,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine.events import emit_truth
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import callbacks, fitting
from jitlint.link.values.questions.kinds import mro


def truth(m: Machine, f: Frame, at: int, value: Value, form: str) -> bool | None:
    """Python's truth of a value where it is certain, else None; a tracer, and an array of several elements, is recorded as an event."""
    if type(value) is Py:  # nearly all
        return _truth_without_number(value) if value.const is NO_CONST else bool(value.const)
    if emit_truth(m, f, at, value, form) or fitting.check_truth(m, f, at, form, value):
        return None
    callbacks.run_implied(m, f, at, value, ("__bool__", "__len__"))
    answers = {True if _is_function(m, a) else static_truth(a) for a in alternatives(value)}
    return answers.pop() if len(answers) == 1 else None


def _is_function(m: Machine, value: Value) -> bool:
    """Whether a name of JAX is a function, as far as is known: what was asked for by ``getattr`` is there."""
    return type(value) is Ext and m.catalogue.function(m.catalogue.canonical(value.dotted)) is not None


def static_truth(value: Value) -> bool | None:
    """Truth of a single alternative that is no tracer."""
    if type(value) is Py:
        const = value.const
        return _truth_without_number(value) if const is NO_CONST else bool(const)
    decide = _TRUTHS.get(type(value))
    return True if decide is None else decide(value)


def _truth_without_number(value: Py) -> bool | None:
    """Data types are true, whichever they are; of other kinds nothing is known."""
    return True if dtypes.plain_kind(value.kind) == dtypes.OBJECT else None


def _truth_of_sequence(value: Seq) -> bool | None:
    return bool(value.items) if value.items is not None and value.kind != "iter" else None


def _truth_of_dict(value: Map) -> bool | None:
    if value.entries:
        return True
    return None if value.rest is not None else False


def _truth_of_instance(value: Inst) -> bool | None:
    has_own = any(name in cls.namespace for cls in mro(value.cls) for name in ("__bool__", "__len__"))
    return None if has_own or value.cls.extern else True


def _undecided(value: Value) -> bool | None:
    return None


_TRUTHS: Final[dict[type, Callable[[Any], bool | None]]] = {
    Tup: lambda value: bool(value.items),
    Seq: _truth_of_sequence,
    Map: _truth_of_dict,
    Inst: _truth_of_instance,
    **dict.fromkeys((Arr, Tree, Unknown, Ext, ExtInst), _undecided),
}


def _decided(value: Value, outcome: bool) -> Value:
    return py(outcome) if type(value) is Py and value.kind == "bool" else value


def filter_truth(value: Value, outcome: bool) -> Value | None:
    """The part of a value whose truth may be ``outcome``; None when nothing is left."""
    if value is UNKNOWN:
        return value
    kept = [_decided(a, outcome) for a in alternatives(value) if static_truth(a) is not (not outcome)]
    if not kept:
        return None
    return kept[0] if len(kept) == 1 else Union(tuple(kept))
