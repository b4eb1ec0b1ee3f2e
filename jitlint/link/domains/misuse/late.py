"""Environment variables that are set when JAX has read them already (layer: ``link``, room ``domains``).

JAX reads its options from the environment while it is imported. What it does: looks for code that sets one in a module that has
imported JAX before. What it does not: speak of modules that start other processes, which inherit the variable, or that name the
option otherwise as well.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import LateVariable
from jitlint.infer.values import Py
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.syntax import ir

SETTERS: Final = frozenset({"os.environ.__setitem__", "os.environ.setdefault", "os.putenv"})
_JAX: Final = "jax"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A variable of the environment is set."""
    key = library.args.get(0, "key")
    name = key.const if type(key) is Py and isinstance(key.const, str) else ""
    if name not in lexicon().compilation.variables or f.module.is_test:
        return
    body = f.module.tree.body
    imported = [part for part in body if type(part) in (ir.Import, ir.ImportFrom)]
    before = [part for part in imported if _of(part, {_JAX}) and (f.fn is not None or part.at < library.at)]
    starts = any(_of(part, lexicon().compilation.starting) for part in imported)
    if before and not starts and not _is_named_otherwise(f, name):
        m.emit(f, LateVariable, library.at, None, Confidence.LIKELY, name=name)


def _of(part: ir.Node, packages: set[str] | frozenset[str]) -> bool:
    """Whether a statement imports one of these packages, or something in it."""
    if type(part) is ir.ImportFrom:
        return not part.level and part.module.partition(".")[0] in packages
    return type(part) is ir.Import and any(one.name.partition(".")[0] in packages for one in part.names)


def _is_named_otherwise(f: Frame, name: str) -> bool:
    """Whether the module speaks of the option by the name that `jax.config` has for it."""
    option = name.lower()
    texts = (part for nodes in f.module.code() for part in nodes if type(part) in (ir.Const, ir.Attr))
    return any(option in (getattr(part, "value", None), getattr(part, "name", None)) for part in texts)
