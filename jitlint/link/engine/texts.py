"""Tables of the functions of a program, each made when it is first asked for (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.tables.sizes import Sizes, collect

if TYPE_CHECKING:
    from jitlint.infer.program import FuncInfo, ModuleInfo
    from jitlint.link.engine.frame import Frame


class Texts:
    """What the text of the function or module that runs in a frame says."""

    __slots__ = ("_sizes", "_tables")

    def __init__(self) -> None:
        self._sizes: dict[int, Sizes] = {}
        self._tables: dict[int, CodeTable] = {}

    def table(self, f: Frame) -> CodeTable:
        """Names, calls and loops."""
        key = _key(f.module, f.fn)
        found = self._tables.get(key)
        if found is None:
            body = f.fn.body if f.fn is not None else f.module.tree.body
            found = self._tables[key] = CodeTable(f.module, body)
        return found

    def sizes(self, f: Frame) -> Sizes:
        """Names and loops that stand for the size of an array."""
        return self.sizes_in(f.module, f.fn)

    def sizes_in(self, module: ModuleInfo, fn: FuncInfo | None) -> Sizes:
        """The same of a function, or of the body of a module."""
        key = _key(module, fn)
        found = self._sizes.get(key)
        if found is None:
            found = self._sizes[key] = collect(fn, fn.body if fn is not None else module.tree.body)
        return found


def _key(module: ModuleInfo, fn: FuncInfo | None) -> int:
    return fn.id if fn is not None else -1 - id(module)
