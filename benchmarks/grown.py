"""Makes trees of any size out of packages that look like programs with JAX, or out of copies of a tree that is there.

A made-up package has layers, models, training, data and tests in some twenty files, which import each other as such files do:
most functions call others of their own file or of files below. What is in it follows from its number alone. With ``joined``
all packages use one common package, so that imports connect everything.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

_LEVELS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("utils", ("trees", "randoms", "metrics", "shapes")),
    ("layers", ("dense", "norms", "attention", "convolution", "recurrent")),
    ("models", ("mlp", "transformer", "mixer")),
    ("data", ("loading", "augmenting")),
    ("training", ("losses", "schedules", "stepping", "looping", "evaluating")),
    ("tests", ("test_layers", "test_training")),
)
"""Folders from the bottom up, with their files."""
FUNCTIONS = 18
"""In each file."""
CALLING = 0.5
"""So many of the functions call another one of the project: then a body is gone through about twice, as in public programs."""

Known = list[tuple[str, str]]
"""Modules below, and a function of each."""


def package(folder: Path, number: int, joined: bool) -> None:
    """Write one package."""
    rng = random.Random(number)
    name = folder.name
    folder.mkdir(parents=True)
    below: Known = [("common.arrays", f"scaled_{rng.randrange(FUNCTIONS)}")] if joined else []
    (folder / "__init__.py").write_text(
        f'"""Package {number}."""\n\nfrom {name}.models import mlp\n', "utf-8"
    )
    for directory, files in _LEVELS:
        (folder / directory).mkdir()
        (folder / directory / "__init__.py").write_text(f'"""The {directory}."""\n', "utf-8")
        here: Known = []
        for file in files:
            text, last = _module(f"{name}.{directory}.{file}", rng, below, directory == "tests")
            (folder / directory / f"{file}.py").write_text(text, "utf-8")
            here.append((f"{name}.{directory}.{file}", last))
        below = [*below, *here] if directory != "data" else below


def common(folder: Path) -> None:
    """Write the package that all others may use."""
    folder.mkdir()
    (folder / "__init__.py").write_text('"""What all packages use."""\n', "utf-8")
    head = '"""Arrays."""\n\nimport jax.numpy as jnp\n'
    body = "".join(
        f"\n\ndef scaled_{i}(x, by=1.0):\n    total = jnp.sum(x) * by\n    return x / total\n"
        for i in range(FUNCTIONS)
    )
    (folder / "arrays.py").write_text(head + body, "utf-8")


def tree(folder: Path, lines: int, joined: bool = False, source: Path | None = None) -> int:
    """Write packages until there are so many lines; how many there are then. source: copies of this instead."""
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\nname = 'grown'\nversion = '0'\n", "utf-8")
    if joined:
        common(folder / "common")
    done = number = 0
    while done < lines:
        number += 1
        if source is None:
            target = folder / f"pkg_{number:05}"
            package(target, number, joined)
        else:
            target = folder / f"copy_{number:05}"
            shutil.copytree(
                source, target, ignore=shutil.ignore_patterns(".git", ".jitlint_cache"), symlinks=True
            )
            (target / "pyproject.toml").touch()
        done += sum(path.read_bytes().count(b"\n") for path in target.rglob("*.py"))
    return done


def _module(dotted: str, rng: random.Random, below: Known, is_test: bool) -> tuple[str, str]:
    """The text of a module, and the name of its last function."""
    used = rng.sample(below, min(len(below), 4))
    imports = [f"from {module} import {name}" for module, name in used]
    head = [f'"""What {dotted} does."""', "", "import functools", "", "import jax", "import jax.numpy as jnp"]
    head += ["import numpy as np", "", *sorted(set(imports))]
    known = [name for _, name in used]
    stem = dotted.rpartition(".")[2]
    bodies: list[str] = []
    for number in range(FUNCTIONS):
        name = f"test_{stem}_{number}" if is_test else f"{stem}_{number}"
        make = _test if is_test else rng.choice(_KINDS)
        bodies.append(make(name, rng, known))
        known = [*known[-6:], name] if not is_test else known
    return "\n".join(head) + "\n\n\n" + "\n\n".join(bodies), f"{stem}_{FUNCTIONS - 1}"


def _call(rng: random.Random, known: list[str], argument: str) -> str:
    if known and rng.random() < CALLING:
        return f"{rng.choice(known)}({argument})"
    return f"jnp.tanh({argument})"


def _layer(name: str, rng: random.Random, known: list[str]) -> str:
    return f'''\
def {name}(x, scale={rng.randrange(1, 9)}.0, training=False):
    """Apply one layer of kind {name}."""
    width = x.shape[-1] if x.ndim else 1
    weights = jnp.full((width, width), scale / max(width, 1))
    hidden = jnp.dot(jnp.reshape(x, (-1, width)), weights)
    if training:
        hidden = hidden * {rng.random():.3f}
    mean = jnp.mean(hidden, axis=-1, keepdims=True)
    variance = jnp.var(hidden, axis=-1, keepdims=True)
    normal = (hidden - mean) / jnp.sqrt(variance + 1e-{rng.randrange(3, 7)})
    out = {_call(rng, known, "normal")}
    return jnp.reshape(out, x.shape)
'''


def _jitted(name: str, rng: random.Random, known: list[str]) -> str:
    mistake = "    if jnp.sum(out) > 0:\n        out = -out\n" if rng.random() < 0.02 else ""
    return f'''\
@functools.partial(jax.jit, static_argnames=("steps",))
def {name}(x, steps={rng.randrange(2, 6)}):
    """A compiled loop of {name}."""

    def body(carry, _):
        carry = {_call(rng, known, "carry")}
        return carry, jnp.sum(carry)

    out, sums = jax.lax.scan(body, x, None, length=steps)
    for step in range(steps):
        out = out + step * {rng.random():.3f}
{mistake}    return jnp.where(jnp.isfinite(sums[-1]), out, x)
'''


def _loss(name: str, rng: random.Random, known: list[str]) -> str:
    return f'''\
def {name}(x):
    """A loss and its gradient at one point."""

    def loss(params, batch):
        predicted = {_call(rng, known, "params * batch")}
        error = predicted - jnp.roll(batch, {rng.randrange(1, 4)})
        return jnp.mean(error**2) + {rng.random():.3f} * jnp.sum(params**2)

    value, gradient = jax.value_and_grad(loss)(jnp.ones_like(x), x)
    updates = jax.tree_util.tree_map(lambda g: -0.01 * g, gradient)
    return updates + value
'''


def _random(name: str, rng: random.Random, known: list[str]) -> str:
    return f'''\
def {name}(x, seed={rng.randrange(100)}):
    """Noise of a fixed seed."""
    key = jax.random.PRNGKey(seed)
    first, second = jax.random.split(key)
    noise = jax.random.normal(first, x.shape)
    mask = jax.random.bernoulli(second, {rng.random():.2f}, x.shape)
    noisy = jnp.where(mask, x + noise, x)
    return {_call(rng, known, "noisy")}
'''


def _host(name: str, rng: random.Random, known: list[str]) -> str:
    return f'''\
def {name}(x):
    """Plain work around the arrays."""
    names = ["a", "b", "c"]
    table = {{word: index + {rng.randrange(9)} for index, word in enumerate(names)}}
    rows = np.arange({rng.randrange(4, 12)}).reshape(-1, 1) * np.ones((1, 3))
    total = 0
    for row in rows:
        for value in row:
            if value > table["a"]:
                total += int(value)
            else:
                total -= 1
    return {_call(rng, known, "x")}
'''


def _model(name: str, rng: random.Random, known: list[str]) -> str:
    title = "".join(part.title() for part in name.split("_"))
    return f'''\
class {title}:
    """A model with two layers."""

    def __init__(self, width={rng.randrange(8, 64)}, depth={rng.randrange(1, 4)}):
        self.width = width
        self.depth = depth

    def init(self, key):
        keys = jax.random.split(key, self.depth)
        return [jax.random.normal(each, (self.width, self.width)) for each in keys]

    def apply(self, params, x):
        for weights in params:
            x = jax.nn.relu(x @ weights)
        return {_call(rng, known, "x")}


def {name}(x):
    """The model on one array."""
    model = {title}()
    params = model.init(jax.random.PRNGKey(0))
    return jax.vmap(lambda row: model.apply(params, row))(x)
'''


def _test(name: str, rng: random.Random, known: list[str]) -> str:
    return f'''\
def {name}():
    """It gives numbers."""
    x = jnp.ones(({rng.randrange(2, 5)}, {rng.randrange(2, 9)}))
    out = jax.jit(lambda value: {_call(rng, known, "value")})(x)
    assert out is not None
    assert bool(jnp.all(jnp.isfinite(out)))
'''


_KINDS: tuple[Callable[[str, random.Random, list[str]], str], ...] = (
    _layer,
    _layer,
    _jitted,
    _loss,
    _random,
    _host,
    _model,
)
