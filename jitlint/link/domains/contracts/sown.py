"""Collections of Flax that modules sow into, and that no call makes mutable (layer: ``link``, room ``domains``).

``self.sow("losses", "activity", penalty)`` keeps nothing unless ``mutable`` names ``losses``. What it does: compares what is sown, and asked
for later, with what all calls of the program make mutable. What it does not: speak where a call names collections in another way than by
their texts, or where nobody asks for what is sown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import const_of
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import code_of, last_name
from jitlint.syntax import ir

SOW: Final = "flax.linen.Module.sow"
_MUTABLE: Final = "mutable"
_GET: Final = "get"


class Sown:
    """Of a session: where something is sown, with the collection."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[tuple[str, int], tuple[ModuleInfo, str, str]] = {}

    def heard(self, f: Frame, library: Library) -> None:
        """A module sows something."""
        collection = const_of(library.args.pos[0]) if library.args.pos else None
        if isinstance(collection, str) and not f.module.is_test:
            self._places[f.module.name, library.at] = f.module, f.qualname, collection

    def check(self, m: Machine) -> None:
        """Record what is sown for nobody."""
        code = (
            [code_of(module, fn) for module in m.modules.values() for fn in (None, *module.functions)]
            if self._places
            else []
        )
        kept = {text for parts in code for text in _kept(parts)}
        if not kept or "" in kept:
            return
        asked = {text for parts in code for text in _asked(parts)}
        for (_, at), (module, qualname, name) in self._places.items():
            if name in asked - kept:
                m.emit(
                    Frame(module, module.scope, HOST, ground="jit"), DroppedUpdate, at, None, Confidence.LIKELY,
                    (module.name, qualname), what=SOW, kept=name,
                )  # fmt: skip


def _kept(parts: Iterable[ir.Node]) -> Iterator[str]:
    """The collections that calls make mutable; "" for one that is not written out."""
    for part in parts:
        for arg in part.args if type(part) is ir.Call else ():
            if arg.name == _MUTABLE:
                yield from map(
                    _text, arg.value.elts if isinstance(arg.value, (ir.List, ir.Tuple)) else [arg.value]
                )


def _text(node: ir.Node) -> str:
    return node.value if type(node) is ir.Const and type(node.value) is str else ""


def _asked(parts: Iterable[ir.Node]) -> Iterator[str]:
    """The texts by which something is looked up."""
    for part in parts:
        if type(part) is ir.Sub:
            yield _text(part.index)
        elif type(part) is ir.Call and last_name(part.func) == _GET and part.args:
            yield _text(part.args[0].value)
