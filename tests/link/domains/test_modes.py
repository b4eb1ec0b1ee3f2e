"""Loops that set the mode of a model, or do not."""

from __future__ import annotations

import pytest

from jitlint.infer.events import WrongMode
from tests.link.domains.telling import told

HEAD = """
import optax
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(3, 3, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
    def __call__(self, x):
        return self.drop(self.dense(x)).mean()

def learn(model, optimizer, x):
    grads = nnx.grad(lambda net: net(x))(model)
    optimizer.update(model, grads)

def evaluate(x, *, model):
    return model(x)

model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
x = jnp.ones((2, 3))
"""

CASES: dict[str, tuple[str, list[str]]] = {
    "never back": (
        "for _ in range(3):\n    learn(model, optimizer, x)\n    model.eval()\n    evaluate(x, model=model)",
        ["WrongMode model=model in <module>: likely eager"],
    ),
    "never off": (
        "for _ in range(3):\n    learn(model, optimizer, x)\n    evaluate(x, model=model)",
        ["WrongMode model=model how=evaluated in <module>: likely eager"],
    ),
    "both": (
        "for _ in range(3):\n    model.train()\n    learn(model, optimizer, x)\n    model.eval()\n    evaluate(x, model=model)",
        [],
    ),
    "evaluated before it learns": (
        "for _ in range(3):\n    evaluate(x, model=model)\n    learn(model, optimizer, x)",
        [],
    ),
    "learns after it was set for evaluation": (
        "for _ in range(3):\n    model.eval()\n    learn(model, optimizer, x)",
        [],
    ),
    "arguments that nobody can follow": (
        "given = (model, optimizer, x)\nfor _ in range(3):\n    learn(*given)\n    model.eval()",
        [],
    ),
    "another model": (
        "other = Net(nnx.Rngs(1))\nfor _ in range(3):\n    learn(model, optimizer, x)\n    other.eval()\n    evaluate(x, model=other)",
        [],
    ),
    "no loop": ("learn(model, optimizer, x)\nmodel.eval()\nevaluate(x, model=model)", []),
}


@pytest.mark.parametrize("name", CASES)
def test_modes(name: str) -> None:
    source, expected = CASES[name]
    assert told(HEAD + source, WrongMode) == expected
