"""Optimisers that are made of others, one for each label of a parameter (layer: ``link``, room ``domains``).

What it does: compares the labels that are written down, or that a function gives for the parameters at hand, with those that
have an optimiser; a missing one is refused when the state is made. What it does not: speak of labels that only some paths give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import ExtInst, Func, Map, Py, Value, py
from jitlint.link.engine import evaluator
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_MISSING: Final = "$no optimiser for"
"""The attribute in which such an optimiser remembers the label."""
_LABELS: Final = "$labels"
_OPTIMISERS: Final = "$optimisers"
_DEPTH: Final = 6


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Such an optimiser is made, or makes its state."""
    made, owner = library.result, library.owner
    if owner is None:
        if library.dotted in lexicon().contracts.labelled and type(made) is ExtInst:
            transforms, labels = library.args.get(0, "transforms"), library.args.get(1, "param_labels")
            label = _missing(transforms, labels)
            made.attrs |= {_MISSING: py(label)} if label else {}
            if type(labels) is Func and type(transforms) is Map:
                made.attrs |= {_LABELS: labels, _OPTIMISERS: transforms}
    elif type(owner) is ExtInst and library.dotted.endswith(".init"):
        missing = owner.attrs.get(_MISSING) or _found_missing(m, f, library.at, owner, library.args)
        if type(missing) is Py:
            m.emit(
                f, ApiMisuse, library.at, api=owner.dotted, problem="wrong-call", detail="label",
                parameter=str(missing.const), exception="ValueError",
            )  # fmt: skip


def _found_missing(m: Machine, f: Frame, at: int, owner: ExtInst, args: Args) -> Value | None:
    """A label that a function gives for these parameters, and no optimiser has."""
    labels, params = owner.attrs.get(_LABELS), args.get(0, "params")
    if labels is None or params is None:
        return None
    label = _missing(owner.attrs.get(_OPTIMISERS), evaluator.call(m, f, at, labels, Args([params])))
    return py(label) if label else None


def _missing(transforms: Value | None, labels: Value | None) -> str:
    """A label that no optimiser has; "" if each has one, or not all are known."""
    if type(transforms) is not Map or transforms.rest is not None or labels is None:
        return ""
    return next((label for label in _labels(labels, _DEPTH) if label not in transforms.entries), "")


def _labels(tree: Value, depth: int) -> Iterator[str]:
    """The labels in a tree that are known."""
    if type(tree) is Py:
        if isinstance(tree.const, str):
            yield tree.const
        return
    for child in (pytrees.children(tree) or ()) if depth else ():
        yield from _labels(child, depth - 1)
