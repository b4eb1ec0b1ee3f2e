"""Which fields of the IR's classes hold nodes, and walks along them (layer: ``syntax``)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from jitlint.syntax import ir

_PLAIN = frozenset(
    {
        "str",
        "int",
        "bool",
        "bytes",
        "list[str]",
        "Union[str, None]",
        "Union[bool, int, float, str, None]",
    }
)


Getter = Callable[[Any], tuple[Any, ...]]


class _Parts(dict[type, Getter | None]):
    """What reads the fields of a class that can hold nodes, or lists of them, None without any; found out once per class."""

    def __missing__(self, kind: type) -> Getter | None:
        plain = {
            name
            for base in kind.__mro__
            for name, text in vars(base).get("__annotations__", {}).items()
            if text in _PLAIN
        }
        fields: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
        self[kind] = _reading([name for name in fields if name not in plain])
        return self[kind]


def _reading(names: list[str]) -> Getter | None:
    """What reads these fields of a node."""
    if len(names) == 1:
        get = operator.attrgetter(names[0])
        return lambda node: (get(node),)
    return operator.attrgetter(*names) if names else None


PARTS = _Parts()


def below(root: object) -> list[ir.Node]:
    """Every node below a node or a list of nodes, itself included, in no particular order.

    Bodies of inner functions are not entered: they are encoded.
    """
    found: list[ir.Node] = []
    stack: list[object] = [root]
    while stack:
        node = stack.pop()
        if node.__class__ is list:
            stack.extend(node)
        elif node is not None:
            found.append(node)  # type: ignore[arg-type]
            read = PARTS[node.__class__]
            if read is not None:
                stack.extend(read(node))
    return found
