"""What the catalogue says about the results of optax's losses, against the installed optax."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.load import catalogue, results
from jitlint.catalogue.ranks import Argument

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")

OWNER = "optax."
LOSSES = sorted(name.removeprefix(OWNER) for name in results().ranks if name.startswith(OWNER))
SHAPES = ((), (5,), (3,), (3, 5), (3, 1), (2, 3), (2, 3, 5))


def shape_of(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of what a loss gives; None when it refuses these arguments."""
    given = [jax.ShapeDtypeStruct(shape, np.float32) for shape in shapes]
    if name.endswith("integer_labels") and len(given) > 1:
        given[1] = jax.ShapeDtypeStruct(shapes[1], np.int32)
    try:
        return tuple(jax.eval_shape(getattr(optax, name), *given).shape)
    except (AssertionError, IndexError, TypeError, ValueError):
        return None


@pytest.mark.parametrize("name", LOSSES)
def test_axes_are_those_of_the_library(name: str) -> None:
    function = catalogue().function(OWNER + name)
    rank = catalogue().rank(OWNER + name)
    assert function is not None and rank is not None
    told = 0
    for count in (1, 2):
        params = [param.name for param in function.parameters[:count]]
        for shapes in itertools.product(SHAPES, repeat=count):
            found = shape_of(name, *shapes) if len(params) == count else None
            if found is None:
                continue
            said = rank.of({p: Argument(rank=len(shape)) for p, shape in zip(params, shapes)})
            assert said in (None, len(found)), shapes
            told += said is not None
    assert told > 3


@pytest.mark.parametrize(
    "name", sorted(name for name, form in lexicon().arrays.sizes.items() if form == "labelled")
)
def test_losses_of_labels_have_one_number_for_each(name: str) -> None:
    told = 0
    for logits, labels in itertools.product(SHAPES, SHAPES):
        found = shape_of(name.removeprefix(OWNER), (*logits, 5), labels)
        if found is not None:
            told += 1
            assert len(found) == len(labels)
            assert all(size in (1, other) for size, other in zip(labels, found)), (logits, labels)
    assert told > 3


def made(name: str) -> object:
    """What a function of optax gives for the plainest arguments that it takes; None if it takes none of these."""
    inner = optax.sgd(0.1)
    for given in ((), (0.1,), (inner,), (inner, 2), ({"a": inner}, {"w": "a"}), (lambda g, p: g,)):
        try:
            return getattr(optax, name)(*given)
        except (AttributeError, TypeError, ValueError):
            continue
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dotted", sorted(lexicon().contracts.pairs_functions))
def test_transformations_are_tuples_of_functions(dotted: str) -> None:
    name = dotted.removeprefix(OWNER)
    if not hasattr(optax, name):
        pytest.skip("this optax has no such function")
    found = made(name)
    assert isinstance(found, tuple) and all(map(callable, found))
