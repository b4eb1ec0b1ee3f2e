"""Modules of Flax NNX that have a second name, as if they were two (layer: ``link``, room ``domains``).

``target = online``: modules are changed in place, so the target goes where the other one is trained to. What it does: looks, where host
code hands a module to a compiled function or trains it, for another variable with that object whose name says that it stays behind.
What it does not: speak where nothing trains modules, or where the assignment is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import SharedModule
from jitlint.infer.objects import itself
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import ExtInst, Inst, Value, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import code_of, path_text
from jitlint.syntax import ir

_ROLE: Final = "nnx"
_LAYERS: Final = "flax.nnx."
_BEHIND: Final = frozenset({"backup", "best", "ema", "frozen", "old", "snapshot", "target", "teacher"})


class Shared:
    """Of a session. trains: whether anything changes the variables of a module. pairs: names of one object, with the code that
    binds them."""

    __slots__ = ("_pairs", "trains")

    def __init__(self) -> None:
        self.trains = False
        self._pairs: dict[tuple[str, str, str], tuple[ModuleInfo, FuncInfo | None]] = {}

    def given(self, f: Frame, values: Iterable[Value]) -> None:
        """Host code hands something to a compiled function, or trains it."""
        given = [module for value in values if (module := _module(value)) is not None]
        if not given or f.world.level or f.module.is_test:
            return
        names = [
            name
            for name, value in f.scope.vars.items()
            if any(_module(alt) is one for alt in alternatives(value) for one in given)
        ]
        for behind in names if len(names) > 1 else ():
            for other in names:
                if naming.has_word(behind, _BEHIND) and not naming.has_word(other, _BEHIND):
                    self._pairs[f.module.name, behind, other] = f.module, f.fn

    def check(self, m: Machine) -> None:
        """Record the assignments that give a module a second name, if modules are trained."""
        for (_, behind, other), (module, fn) in self._pairs.items() if self.trains else ():
            for at in _bound(code_of(module, fn), behind, other):
                m.emit(
                    Frame(module, module.scope, HOST), SharedModule, at, None, Confidence.LIKELY,
                    (module.name, fn.qualname if fn is not None else "<module>"), behind=behind, other=other,
                )  # fmt: skip


def trains(dotted: str) -> bool:
    """Whether a function changes the variables of the module that it is given."""
    return dotted in lexicon().captures.training


def _module(value: Value) -> Value | None:
    """The object that a module or a layer is, whatever is known of it here; None for anything else."""
    if type(value) is Inst:
        return itself(value) if value.cls.role == _ROLE else None
    return value if type(value) is ExtInst and value.dotted.startswith(_LAYERS) else None


def _bound(code: Iterable[ir.Node], behind: str, other: str) -> Iterator[int]:
    for node in code:
        targets = node.targets if type(node) is ir.Assign and path_text(node.value) == other else ()
        if any(path_text(target) == behind for target in targets):
            yield node.at
