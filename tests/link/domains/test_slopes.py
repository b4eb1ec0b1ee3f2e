"""Parameters that no gradient reaches, and targets that gradients flow into."""

from __future__ import annotations

import pytest

from jitlint.infer.events import MovingTarget, ZeroGradient
from tests.link.domains.telling import steps, told

PARAMS = "p = {'w': jnp.ones(3), 'v': {'u': jnp.ones(3)}, 'b': jnp.ones(())}\n"
GRAD = "jax.grad(loss)(p)\n"


def said(parameter: str, operation: str, where: str = "loss") -> list[str]:
    return [f"ZeroGradient parameter={parameter} operation={operation} loss={where} in {where}: likely"]


ZERO: dict[str, tuple[str, list[str]]] = {
    "one leaf": (
        "def loss(p):\n    return jnp.sum(jnp.round(p['w']) * p['b'])\n",
        said("p['w']", "round"),
    ),
    "a leaf of a leaf": (
        "def loss(p):\n    return jnp.sum(jnp.sign(p['v']['u']) * p['b'])\n",
        said("p['v']", "sign"),
    ),
    "a comparison that becomes a number": (
        "def loss(p):\n    return jnp.sum((p['w'] > 0).astype(float) * p['b'])\n",
        said("p['w']", "astype"),
    ),
    "another way leads on": ("def loss(p):\n    return jnp.sum(jnp.round(p['w']) * p['w'])\n", []),
    "not wanted": (
        "def loss(p):\n    return jnp.sum(jax.lax.stop_gradient(jnp.round(p['w'])) * p['b'])\n",
        [],
    ),
    "nothing rounds": ("def loss(p):\n    return jnp.sum(p['w'] * 0) + p['b']\n", []),
    "through something unknown": (
        "def loss(p):\n    return jnp.sum(unknown(p['w']) + jnp.round(p['w'])) * p['b']\n",
        [],
    ),
    "kept in an object that is not known": (
        "def loss(p):\n    o = unknown()\n    o.w = p['w']\n    return jnp.sum(jnp.round(p['w'])) * p['b'] + o.run()\n",
        [],
    ),
    "all of it, on the spot": ("loss = lambda p: jnp.sum(jnp.round(p['w']))\n", []),
    "in what is given beside the loss": (
        "def both(p):\n    return jnp.sum(p['w']), jnp.round(p['w'])\n\njax.grad(both, has_aux=True)(p)\n"
        "def loss(p):\n    return p['b']\n",
        [],
    ),
}

TARGET = "def loss(w, s, t, reward, gamma):\n"
CALL = "jax.grad(loss)(jnp.ones(3), jnp.ones((2, 3)), jnp.ones((2, 3)), jnp.ones(2), 0.9)\n"
MOVES = ["MovingTarget target=target discount=gamma loss=loss in loss: likely"]

MOVING: dict[str, tuple[str, list[str]]] = {
    "a square": (
        f"{TARGET}    target = reward + gamma * (t @ w)\n    return jnp.sum((target - s @ w) ** 2)\n",
        MOVES,
    ),
    "a function of both": (
        f"{TARGET}    target = gamma * (t @ w) + reward\n    return jnp.sum(jnp.square(s @ w - target))\n",
        MOVES,
    ),
    "held": (
        f"{TARGET}    target = jax.lax.stop_gradient(reward + gamma * (t @ w))\n    return jnp.sum((target - s @ w) ** 2)\n",
        [],
    ),
    "no square": (f"{TARGET}    target = reward + gamma * (t @ w)\n    return jnp.sum(target - s @ w)\n", []),
    "no prediction": (
        f"{TARGET}    target = reward + gamma * (t @ w)\n    return jnp.sum((target - 1.0) ** 2)\n",
        [],
    ),
    "other names": (
        f"{TARGET}    target = s[0] + gamma * (t @ w)\n    return jnp.sum((target - s @ w) ** 2)\n",
        [],
    ),
}


@pytest.mark.parametrize("name", ZERO)
def test_zero_gradients(name: str) -> None:
    source, expected = ZERO[name]
    assert told(f"{PARAMS}{source}{GRAD}", ZeroGradient) == expected


@pytest.mark.parametrize("name", MOVING)
def test_moving_targets(name: str) -> None:
    source, expected = MOVING[name]
    assert told(f"{source}{CALL}", MovingTarget) == expected


def test_where_the_derivative_is_taken() -> None:
    source, _ = ZERO["one leaf"]
    assert steps(f"{PARAMS}{source}{GRAD}", ZeroGradient) == [
        "`loss` is traced by `jax.grad` here",
        "and called here",
    ]


def test_what_runs_apart_says_nothing() -> None:
    program = "def loss(p):\n    float(jnp.sum(p['w']))\n    return jnp.sum(jnp.round(p['w']) * p['b'])\n"
    assert len(told(f"{PARAMS}{program}{GRAD}")) == 2
