"""Layers that drop numbers and have no keys to draw from, in a model that is in the mode for training (layer: ``link``, room
``domains``).

What it does: follows such a layer from where a derivative runs it to the code that holds its model, and asks in which mode that
was. What it does not: speak of a model that was turned to evaluation, or that somebody else has made where a program does so at all.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import ApiMisuse
from jitlint.infer.objects import DRY
from jitlint.infer.values import Class, ExtInst
from jitlint.link.domains.modes.captured import Captured, NeverEvaluated, is_home
from jitlint.link.domains.modes.marks import DRAWS, EVALUATE, Mark, modes_set, note, outermost, own_path
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import paths
from jitlint.syntax import ir


def heard(m: Machine, f: Frame, library: Library, node: ir.Node | None) -> None:
    """A layer runs under a derivative. node: what was called."""
    dry = type(library.owner) is ExtInst and DRY in library.owner.attrs
    path = own_path(f, node)
    if dry and path is not None and "rngs" not in library.args.kw and not m.guards:
        site = (f.module.name, library.at, f.qualname)
        note(f, (Mark(DRAWS, path, library.at, site, library.dotted.removesuffix(".__call__")),))


def passed_on(m: Machine, f: Frame, mark: Mark, known: Captured) -> None:
    """It ran in a function that is over. The path of the mark is that of the caller, who may know the mode of the model."""
    host = outermost(f)
    modes = modes_set(host, mark)
    if modes and modes[-1].kind == EVALUATE:
        return
    if not modes and not is_home(host, mark.path[0]):
        note(f, (mark,))
        return
    module, at, function = mark.site
    certain = bool(modes) or _is_made_here(m, host, mark.path[0])
    m.emit(
        f, ApiMisuse, at, None, Confidence.LIKELY, when=() if certain else (NeverEvaluated(known),),
        where=(module, function), api=mark.name, problem="missing-argument", parameter="rngs",
    )  # fmt: skip


def _is_made_here(m: Machine, host: Frame, name: str) -> bool:
    """Whether a variable is set once, to a new object of a class of modules: those begin in the mode for training."""
    values = m.texts.table(host).bound.get(name, ())
    made = values[0] if len(values) == 1 else None
    cls = paths.peek(m, host, made.func) if type(made) is ir.Call else None
    return type(cls) is Class and cls.info.role == "nnx"
