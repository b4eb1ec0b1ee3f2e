"""Runs imports: names of the project become modules, everything else names of a library (layer: ``link``, room ``engine``)."""

from __future__ import annotations

import sys

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import STR, UNKNOWN, Ext, Mod, Value
from jitlint.link.engine import modules
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine


def absolute(module: ModuleInfo, name: str, level: int) -> str:
    """The absolute dotted name of a relative import."""
    if not level:
        return name
    parts = module.name.split(".")
    if not module.is_package:
        parts = parts[:-1]
    if level > 1:
        parts = parts[: len(parts) - (level - 1)]
    return ".".join([*parts, name] if name else parts)


def module(m: Machine, f: Frame, at: int, dotted: str) -> Value:
    """What ``import dotted as x`` binds."""
    info = find(m, f.module, dotted)
    if info is not None:
        modules.run(m, info)
        return Mod(info)
    return _library(m, f, at, dotted)


def _library(m: Machine, f: Frame, at: int, dotted: str) -> Ext:
    note(m, f, at, dotted)
    return Ext(m.catalogue.canonical(dotted))


def note(m: Machine, f: Frame, at: int, dotted: str) -> None:
    """A name is used: if this version lacks it, and the code did not ask, that is to be said."""
    view = m.catalogue.view
    if not m.guards and (view.removed(dotted) is not None or view.is_nowhere(dotted)):
        m.removed_seen.setdefault((f.module.name, at), dotted)


def find(m: Machine, near: ModuleInfo, dotted: str) -> ModuleInfo | None:
    """The project's module of this name: absolute, or beside the importing file as scripts import it."""
    info = m.modules.get(dotted)
    if info is not None:
        return info
    top = dotted.partition(".")[0]
    if top in sys.stdlib_module_names or top in m.catalogue.libraries or top in lexicon().python.apart:
        return None
    package = near.name.rpartition(".")[0]
    if package:
        return m.modules.get(f"{package}.{dotted}")
    return None


def described(m: Machine, dotted: str) -> Value | None:
    """A name that the catalogue describes although its source belongs to the project, as in JAX itself.

    What a primitive does cannot be read from Python source, so JAX's public names keep their described meaning.
    """
    if not dotted.startswith("jax."):
        return None
    name = m.catalogue.canonical(dotted)
    tables = m.transforms
    known = (
        name in tables.wraps
        or name in tables.calls
        or name in tables.decorators
        or name in tables.arrays
        or m.catalogue.function(name) is not None
        or m.catalogue.constant(name) is not None
        or name in lexicon().compilation.at_compile_time
    )
    return Ext(name) if known else None


def member(m: Machine, f: Frame, at: int, base: str, name: str) -> Value:
    """What ``from base import name`` binds."""
    info = find(m, f.module, base)
    if info is not None:
        modules.run(m, info)
        return attribute(m, f, info, name)
    sub = find(m, f.module, f"{base}.{name}") if base else None
    if sub is not None:
        modules.run(m, sub)
        return Mod(sub)
    return _library(m, f, at, f"{base}.{name}")


def own_libraries(m: Machine) -> frozenset[str]:
    """Packages of the project (JAX aside) that define transforms which the catalogue describes."""
    described = {name.partition(".")[0] for name in m.transforms.wraps} - {"jax"}
    return frozenset(described.intersection(name.partition(".")[0] for name in m.modules))


def _own_transform(m: Machine, f: Frame, dotted: str) -> Value | None:
    """A transform that the catalogue describes, and that the project defines, for code outside of its package.

    What such a transform is made of (its function split up and put together again inside of `jax.jit`) is more than
    can be followed; the package itself is read as it stands.
    """
    top = dotted.partition(".")[0]
    if top not in m.own_libraries or f.module.name.partition(".")[0] == top:
        return None
    return Ext(dotted) if dotted in m.transforms.wraps else None


def attribute(m: Machine, f: Frame, info: ModuleInfo, name: str) -> Value:
    """``module.name``: a global of the module or a submodule. What the catalogue describes is not read from
    JAX's own source when that is the project."""
    if m.own_libraries:
        own = _own_transform(m, f, f"{info.name}.{name}")
        if own is not None:
            return own
    if info.name.partition(".")[0] == "jax":
        dotted = m.catalogue.canonical(f"{info.name}.{name}")
        if is_described(m, dotted):
            return Ext(dotted)
    known = described(m, f"{info.name}.{name}")
    if known is not None:
        return known
    value = info.scope.vars.get(name)
    if value is not None:
        return value
    sub = m.modules.get(f"{info.name}.{name}")
    if sub is not None:
        modules.run(m, sub)
        return Mod(sub)
    if name in ("__name__", "__file__", "__doc__", "__version__"):
        return STR
    return UNKNOWN


def is_described(m: Machine, dotted: str) -> bool:
    """Whether the catalogue says what a JAX name does."""
    tables = m.transforms
    if (
        dotted in tables.wraps
        or dotted in tables.calls
        or dotted in tables.arrays
        or dotted in tables.decorators
    ):
        return True
    return dotted.startswith("jax.") and m.catalogue.function(dotted) is not None


def star(m: Machine, f: Frame, base: str) -> None:
    """``from base import *``."""
    info = find(m, f.module, base)
    if info is None:
        return
    modules.run(m, info)
    for name, value in list(info.scope.vars.items()):
        if not name.startswith(("_", "$")):
            f.scope.vars[name] = value
