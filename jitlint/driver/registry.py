"""Discovers the rules (layer: ``driver``).

Every module ``jitNxx.jitNNN_...`` below `jitlint.rules` holds one ``RULE``; there is no list to edit. Other packages bring
more by the entry point ``jitlint.rules``. Whether the set is consistent is checked here, once per process.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Mapping
from types import MappingProxyType

import jitlint.rules
from jitlint.base.plugins import installed_rules
from jitlint.base.rule import Rule

_MODULE = re.compile(r"jit\d{3}_\w+")


class RegistryError(Exception):
    """The rules contradict each other: a mistake in jitlint itself."""


def modules() -> list[str]:
    """The names of the modules that hold jitlint's own rules, in the order of their codes."""
    found = pkgutil.walk_packages(jitlint.rules.__path__, "jitlint.rules.")
    return sorted(info.name for info in found if _MODULE.fullmatch(info.name.rpartition(".")[2]))


@functools.cache
def rules() -> Mapping[str, Rule]:
    """All rules by code, in the order of their codes. Raises RegistryError for a broken set, ConfigError for a bad rule of
    another package."""
    found: dict[str, Rule] = {}
    names: set[str] = set()
    for module in modules():
        rule = getattr(importlib.import_module(module), "RULE", None)
        if not isinstance(rule, Rule):
            raise RegistryError(f"{module} has no RULE")
        if rule.code in found or rule.name in names:
            raise RegistryError(f"{rule.code} {rule.name} (in {module}) is defined twice")
        found[rule.code] = rule
        names.add(rule.name)
    for origin, rule in installed_rules():
        if rule.code in found or rule.name in names:
            raise origin.complain(f"there is a rule {rule.code} or {rule.name} already")
        found[rule.code] = rule
        names.add(rule.name)
    return MappingProxyType(dict(sorted(found.items())))


def find_rule(code_or_name: str) -> Rule | None:
    """A rule by its code or name, whatever the case."""
    wanted = code_or_name.strip()
    rule = rules().get(wanted.upper())
    if rule is not None:
        return rule
    return next((rule for rule in rules().values() if rule.name == wanted.lower()), None)
