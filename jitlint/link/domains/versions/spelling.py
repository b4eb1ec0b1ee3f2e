"""How a module itself spells the name of a library (layer: ``link``, room ``domains``).

Other libraries hand out what JAX has under names of their own, and JAX has private modules that are taken for public ones: what is
not there under the one name may be under the other. What it does: reads the imports of a module. What it does not: follow values.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.infer.program import ModuleInfo
from jitlint.link.tables.ir_walk import path_text
from jitlint.syntax import ir


def is_spelled(module: ModuleInfo, at: int, dotted: str) -> bool:
    """Whether the code at an origin says this name, by what the module imports."""
    parts = [part for code in module.code() for part in code]
    meant = dict(pair for part in parts for pair in _imported(part))
    return any(dotted in _said(part, at, meant) for part in parts)


def _said(node: ir.Node, at: int, meant: dict[str, str]) -> list[str]:
    """The names that a node says at an origin. meant: what the variables of imports are."""
    if type(node) is ir.Attr and node.at == at:
        root, _, rest = path_text(node).partition(".")
        return [f"{meant.get(root, '')}.{rest}"]
    if type(node) is not ir.ImportFrom or node.level:
        return []
    return [f"{node.module}.{one.name}" for one in node.names if at in (one.at, node.at)]


def _imported(node: ir.Node) -> Iterator[tuple[str, str]]:
    """The variables that an import sets, with the names of what they are then."""
    if type(node) is ir.Import:
        for one in node.names:
            yield (one.asname, one.name) if one.asname else (one.name.partition(".")[0],) * 2
    elif type(node) is ir.ImportFrom and not node.level:
        for one in node.names:
            yield one.asname or one.name, f"{node.module}.{one.name}"
