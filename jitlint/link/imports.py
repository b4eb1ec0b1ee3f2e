"""Runs imports: names of the project become modules, everything else names of a library (layer: ``link``)."""

from __future__ import annotations

from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import STR, UNKNOWN, Ext, Mod, Value
from jitlint.link import modules
from jitlint.link.machine import Frame, Machine


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


def module(m: Machine, f: Frame, dotted: str) -> Value:
    """What ``import dotted as x`` binds."""
    info = find(m, f.module, dotted)
    if info is not None:
        modules.run(m, info)
        return Mod(info)
    return Ext(m.catalogue.canonical(dotted))


def find(m: Machine, near: ModuleInfo, dotted: str) -> ModuleInfo | None:
    """The project's module of this name: absolute, or beside the importing file as scripts import it."""
    info = m.modules.get(dotted)
    if info is not None:
        return info
    package = near.name.rpartition(".")[0]
    if package:
        return m.modules.get(f"{package}.{dotted}")
    return None


def member(m: Machine, f: Frame, base: str, name: str) -> Value:
    """What ``from base import name`` binds."""
    info = find(m, f.module, base)
    if info is not None:
        modules.run(m, info)
        return attribute(m, f, info, name)
    sub = find(m, f.module, f"{base}.{name}") if base else None
    if sub is not None:
        modules.run(m, sub)
        return Mod(sub)
    dotted = f"{base}.{name}"
    if not m.guards and m.catalogue.removed(dotted) is not None:
        m.removed_seen.setdefault((f.module.name, f.at), dotted)
    return Ext(m.catalogue.canonical(dotted))


def attribute(m: Machine, f: Frame, info: ModuleInfo, name: str) -> Value:
    """``module.name``: a global of the module or a submodule."""
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


def star(m: Machine, f: Frame, base: str) -> None:
    """``from base import *``."""
    info = find(m, f.module, base)
    if info is None:
        return
    modules.run(m, info)
    for name, value in list(info.scope.vars.items()):
        if not name.startswith(("_", "$")):
            f.scope.vars[name] = value
