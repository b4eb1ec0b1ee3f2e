"""Write ``jitlint/catalogue/data/names.toml``: all names that the public modules of the installed JAX have.

    JAX_PLATFORMS=cpu python tools/probe_known.py

What other releases have besides is in ``history.toml``. Names that a module hands out with a warning count, those that it refuses with an
explanation do not.
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import jax

OUT = Path(__file__).parents[1] / "jitlint/catalogue/data/names.toml"
MODULES = (
    "jax",
    "jax.debug",
    "jax.dtypes",
    "jax.image",
    "jax.lax",
    "jax.lax.linalg",
    "jax.nn",
    "jax.nn.initializers",
    "jax.numpy",
    "jax.numpy.fft",
    "jax.numpy.linalg",
    "jax.ops",
    "jax.random",
    "jax.scipy.linalg",
    "jax.scipy.signal",
    "jax.scipy.special",
    "jax.sharding",
    "jax.tree",
    "jax.tree_util",
)
HEAD = """\
# Every name without an underscore that modules have in JAX {version}; what other releases have besides is in
# history.toml. Written by tools/probe_known.py: do not edit.

[names]
"""


def names(module_name: str) -> list[str]:
    """What a module has, modules below it that need not be imported yet, and what it still hands out with a warning."""
    module = importlib.import_module(module_name)
    found = set(dir(module))
    if hasattr(module, "__path__"):
        found |= {info.name for info in pkgutil.iter_modules(module.__path__)}
    told = getattr(module, "_deprecations", {})
    found |= {name for name, (_, value) in told.items() if value is not None}
    return sorted(name for name in found if not name.startswith("_"))


def main() -> None:
    """Write the file."""
    lines = [HEAD.format(version=jax.__version__)]
    for module in MODULES:
        text, line = [], ""
        for name in names(module):
            if len(line) + len(name) > 110:
                text.append(line.rstrip())
                line = ""
            line += f"{name} "
        text.append(line.rstrip())
        lines.append(f'"{module}" = """\n' + "\n".join(text) + '\n"""\n')
    OUT.write_text("".join(lines), encoding="utf-8")
    print(f"{len(MODULES)} modules")


if __name__ == "__main__":
    main()
