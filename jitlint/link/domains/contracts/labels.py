"""Optimisers that are made of others, one for each label of a parameter (layer: ``link``, room ``domains``).

What it does: compares the labels that are written down, or that a function gives for the parameters at hand, with those that
have an optimiser; a missing one is refused when the state is made. What it does not: speak of labels that only some paths give.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import ExtInst, Func, Map, Py, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees

_LABELS: Final = "$labels"
_OPTIMISERS: Final = "$optimisers"
"""The attributes in which such an optimiser remembers what it was made of."""
_DEPTH: Final = 6


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Such an optimiser is made, or makes its state."""
    made, owner, args = library.result, library.owner, library.args
    if owner is None:
        transforms, labels = args.get(0, "transforms"), args.get(1, "param_labels")
        labelled = library.dotted in lexicon().contracts.labelled and type(made) is ExtInst
        if labelled and transforms is not None and labels is not None and type(made) is ExtInst:
            made.attrs |= {_OPTIMISERS: transforms, _LABELS: labels}
    elif type(owner) is ExtInst and library.dotted.endswith(".init"):
        label = _missing(owner.attrs.get(_OPTIMISERS), _labels_for(m, f, library, owner))
        if label:
            m.emit(
                f, ApiMisuse, library.at, api=owner.dotted, problem="wrong-call", detail="label",
                parameter=label, exception="ValueError",
            )  # fmt: skip


def _labels_for(m: Machine, f: Frame, library: Library, owner: ExtInst) -> Value | None:
    """The labels, which a function may give for the parameters at hand."""
    labels, params = owner.attrs.get(_LABELS), library.args.get(0, "params")
    if type(labels) is not Func:
        return labels
    return None if params is None else evaluator.call(m, f, library.at, labels, Args([params]))


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
