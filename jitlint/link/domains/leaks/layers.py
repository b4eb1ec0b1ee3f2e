"""Variables of Linen modules that get a tracer of a trace that began inside the module (layer: ``link``, room ``domains``).

Flax keeps the variables of a module for whoever applies it, who is outside of every trace that a method of the module
begins; its own transforms hand them in and out, those of JAX do not. What it does: follows such a write from the place where it is
made to the method around the transform; so it does with the parameters of a layer that is first called there. What it does not: speak of
methods that ask whether they initialise, or of ``sow``, which may be told to do nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Leak
from jitlint.infer.grounds import weaken
from jitlint.infer.values import TRUE, Arr, ExtInst, Inst, S, Tree, Value
from jitlint.link.engine.domain import Library, Store, Transformed
from jitlint.link.engine.events import confidence_of
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions.ownership import deepest_tracer
from jitlint.syntax import ir

FLAX: Final = "flax."
MODULE: Final = "flax.linen.Module."
_VARIABLE: Final = "flax.linen.Variable"
_RUNNING: Final = frozenset({f"{MODULE}apply", f"{MODULE}init", f"{MODULE}init_with_output"})
_BEGUN: Final = "$called"
"""Where a layer remembers that it was called, so that it has its parameters."""
_INITIALISING: Final = frozenset({"is_initializing", "is_mutable_collection", "has_variable"})
_MOST: Final = 16


@dataclass(frozen=True, slots=True)
class Write:
    """A tracer that a variable got. out: it has left its trace. The frame says where. what: the layer whose parameters are made."""

    frame: Frame
    at: int
    tracer: Arr | Tree
    confidence: Confidence
    out: bool = False
    what: str = ""


Writes = tuple[Write, ...]
WRITES: Final = Slot[Writes]()
_OWN: Final = Slot[bool]()
"""In the frame of a transform of Flax, which hands the variables on."""
_APPLIED: Final = Slot[set[int]]()
"""Where a module is applied, with variables of its own."""


def stored(f: Frame, store: Store) -> None:
    """``variable.value = value``."""
    if type(store.owner) is ExtInst and store.owner.dotted == _VARIABLE and store.value is not None:
        _written(f, store.at, store.value)


def heard(f: Frame, library: Library) -> None:
    """A module puts a variable, or is applied."""
    if library.dotted in _RUNNING:
        _APPLIED.put(_whole(f), {*(_APPLIED.of(_whole(f)) or ()), library.at})
    elif library.dotted == f"{MODULE}put_variable" and type(library.owner) is Inst:
        value = library.args.get(2, "value")
        if value is not None:
            _written(f, library.at, value)
    elif type(library.owner) is ExtInst and library.dotted == f"{library.owner.dotted}.__call__":
        _runs(f, library.at, library.owner)


def _runs(f: Frame, at: int, layer: ExtInst) -> None:
    """A layer is called, and makes its parameters if it never was before."""
    if layer.dotted not in lexicon().contracts.makes_parameters or _BEGUN in layer.attrs:
        return
    layer.attrs[_BEGUN] = TRUE
    if f.world.base and not f.world.excused and not f.world.looks:
        made = Arr(S, "float", None, "the parameters", f.world.base)
        _keep(f, (Write(f, at, made, weaken(f.confidence, 1), what=layer.dotted),))


def transformed(t: Transformed) -> None:
    """Flax transforms a function."""
    if t.x.spec.name.startswith(FLAX):
        _OWN.put(t.inner, True)


def _written(f: Frame, at: int, value: Value) -> None:
    tracer = deepest_tracer(value)
    if tracer is None or not f.world.level or f.world.excused or f.world.looks:
        return
    found = confidence_of(value)
    level = weaken(f.confidence, 0 if found is None else 2 - found.rank)
    _keep(f, (Write(f, at, tracer, level),))


def _whole(f: Frame) -> Frame:
    """The activation itself, not as a transform in it sees it."""
    while f.outer is not None:
        f = f.outer
    return f


def _keep(f: Frame, writes: Writes) -> None:
    f = _whole(f)
    WRITES.put(f, (*(WRITES.of(f) or ()), *writes)[:_MOST])


def passed_on(m: Machine, f: Frame, at: int, writes: Writes) -> None:
    """What a called function has written: out of its trace if the caller began that; then it has leaked if the caller,
    or who calls it, is a method of a module that was not applied in between."""
    if not writes or _OWN.of(f) or at in (_APPLIED.of(_whole(f)) or ()):
        return
    level = f.scope.level
    moved = [replace(one, out=True) if one.tracer.level > level else one for one in writes]
    method = type(f.recv) is Inst and f.recv.cls.role == "linen"
    told = [one for one in moved if method and one.out]
    for one in told:
        _tell(m, f, one)
    rest = tuple([one for one in moved if one not in told])
    if rest:
        _keep(f, rest)


def _tell(m: Machine, f: Frame, write: Write) -> None:
    """Record what has leaked out of a method, if that does not make its parameters otherwise, or has failed before."""
    if write.what and (_asks(f) or m.broken == (f.module.name, f.at)):
        return
    inner = write.frame
    before, inner.confidence = inner.confidence, write.confidence
    target = "parameters" if write.what else "variable"
    m.emit(inner, Leak, write.at, write.tracer, target=target, what=write.what, used=True)
    inner.confidence = before


def _asks(f: Frame) -> bool:
    """Whether a method asks whether the module is being initialised, and then does something else."""
    parts = f.fn.parts if f.fn is not None else []
    return any(type(part) is ir.Attr and part.name in _INITIALISING for part in parts)
