"""Which fields of the IR's classes hold nodes, and walks along them (layer: ``syntax``)."""

from __future__ import annotations

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


class _Parts(dict[type, tuple[str, ...]]):
    """The names of a class's fields that can hold nodes, or lists of them; found out once per class."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        plain = {
            name
            for base in kind.__mro__
            for name, text in vars(base).get("__annotations__", {}).items()
            if text in _PLAIN
        }
        fields: tuple[str, ...] = getattr(kind, "__struct_fields__", ())
        found = self[kind] = tuple(name for name in fields if name not in plain)
        return found


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
            names = PARTS[node.__class__]
            if names:
                stack.extend([getattr(node, name) for name in names])
    return found
