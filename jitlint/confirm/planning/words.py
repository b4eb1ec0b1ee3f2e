"""Texts of a project that an argument of a function may be (layer: ``confirm``). Reads source; runs nothing."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from jitlint.confirm.planning.drivers import Function, Module

# So many are tried, the longest ones that stand near to the name of the function or the parameter first.
_MOST = 12


def words_for(function: Function, modules: Sequence[Module]) -> list[str]:
    """The texts that stand in the functions of these modules which speak of a parameter that is a text."""
    arguments = function.node.args
    names = {
        argument.arg
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        if isinstance(argument.annotation, ast.Name) and argument.annotation.id == "str"
    }
    if not names:
        return []
    own = function.qualname.rpartition(".")[2]
    found: dict[str, int] = {}
    for module in modules:
        for node in module.tree.body:
            texts, spoken = _texts(node), {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            for text in texts:
                found[text] = max(found.get(text, 0), 2 * (own in spoken) + bool(names & spoken))
    order = sorted(found, key=lambda text: (-found[text], -len(text)))
    return order[:_MOST]


def _texts(node: ast.AST) -> list[str]:
    """The texts in code that say something, and are no documentation."""
    said = {
        id(part.value)
        for part in ast.walk(node)
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
    }
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and part.value
        and id(part) not in said
    ]
