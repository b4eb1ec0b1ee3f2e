"""What a document's pieces raise is blamed on JAX only where JAX refuses them."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.documents import JAX, MACHINE, REST, VALUES, answers

PIECES = {
    "import jax, jax.experimental.checkify as checkify, jax.numpy as jnp": "",
    "jax.jit(lambda x: x if x > 0 else -x)(1.0)": JAX,
    "def check(x):\n    checkify.check(x > 0, 'negative')\n    return x": "",
    "jax.jit(check)(1.0)": JAX,  # a plain ValueError from inside JAX
    "error, _ = checkify.checkify(check)(-1.0)\nerror.throw()": VALUES,
    "jax.make_mesh((2 * jax.device_count(),), ('x',))": MACHINE,
    "shape = (3,)": "",
    "shape = (missing,)": REST,
    "jnp.zeros(4).reshape(shape)": REST,  # would be that of the piece before, which was not made
    "shape = (2, 3)": "",
    "jnp.zeros(5).reshape(shape)": JAX,
    "raise ValueError('an array of jax')": REST,
}


def test_exceptions_are_blamed_on_who_raises_them(tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text("".join(f"```python\n{text}\n```\n\n" for text in PIECES), encoding="utf-8")
    told = [json.loads(line).get("kind", "") for line in answers(document, 120)]
    assert dict(zip(PIECES, told, strict=True)) == PIECES
