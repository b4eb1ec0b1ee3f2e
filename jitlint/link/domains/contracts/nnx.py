"""What `flax.nnx` asks for since some release of flax (layer: ``link``, room ``domains``).

What it does: compares how an optimiser is made, and updates, with what newer releases want, and looks for modules in plain
containers that fields get. What it does not: speak where the project asks for an older one, of containers that are not written
beside the field, or filled later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Ext, ExtInst, Inst, Map, Seq, Tup, Value, alternatives
from jitlint.link.domains.contracts import gradients
from jitlint.link.engine.domain import Library, Store
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

OPTIMISER: Final = "flax.nnx.Optimizer"
_UPDATE: Final = f"{OPTIMISER}.update"
SPLIT: Final = "flax.nnx.split"
_DEPTH: Final = 3


def heard(m: Machine, f: Frame, library: Library) -> None:
    """An optimiser is made, or updates."""
    dotted, args = library.dotted, library.args
    if args.more is not None or args.kw_more is not None or m.guards:
        return
    if library.owner is None:
        if dotted == OPTIMISER and "wrt" not in args.kw:
            _report(m, f, library.at, dotted, "wrt")
    elif dotted == _UPDATE:
        gradients.updated_model(m, f, library)
        if _lacks_model(args):
            _report(m, f, library.at, dotted, "model")


def split(m: Machine, f: Frame, library: Library) -> None:
    """A model is split by filters, which have to leave nothing over."""
    args = library.args
    model, filters = args.get(0, "node"), args.pos[1:]
    if not filters or args.more is not None or m.guards:
        return
    names = {one.dotted for one in filters if type(one) is Ext}
    if len(names) < len(filters) or names & lexicon().contracts.takes_statistics:
        return
    layer = _keeps_statistics(model, _DEPTH) if model is not None else ""
    if layer:
        m.emit(
            f, ApiMisuse, library.at, api=SPLIT, problem="wrong-call", detail="remainder", parameter=layer,
        )  # fmt: skip


def _keeps_statistics(value: Value, depth: int) -> str:
    """The layer of a module that certainly holds variables that are no parameters, or ""."""
    if type(value) is ExtInst:
        return value.dotted if value.dotted in lexicon().contracts.keeps_statistics else ""
    parts: Iterable[Value] = ()
    if type(value) is Inst and value.cls.role == "nnx":
        parts = value.attrs.values()
    elif type(value) is Seq and value.items is not None:
        parts = value.items
    found = (_keeps_statistics(part, depth - 1) for part in parts) if depth else ()
    return next((layer for layer in found if layer), "")


def _lacks_model(args: Args) -> bool:
    """Whether an update gets the gradients alone: by their name, or in the place of the model."""
    by_name = "grads" in args.kw
    return "model" not in args.kw and len(args.pos) == (0 if by_name else 1)


def _report(m: Machine, f: Frame, at: int, api: str, parameter: str) -> None:
    since, asked = _since(m, api)
    if since:
        m.emit(
            f, ApiMisuse, at, api=api, problem="missing-argument", parameter=parameter, since=since, detail=asked
        )  # fmt: skip


def _since(m: Machine, api: str) -> tuple[str, str]:
    """As of which release more is asked for, "" if the project has none of these, and whether it certainly has one."""
    release, least = lexicon().contracts.asks_since[api]
    known = m.catalogue.view.has_flax(release, least)
    return ("" if known is False else release.rpartition(".")[0]), "asked" if known else ""


def stored(m: Machine, f: Frame, store: Store) -> None:
    """A field is assigned for the first time, and may be taken for a constant: of a module, it refuses others in a plain container."""
    owner, kind = store.owner, _KINDS.get(type(store.value))
    if kind is None or store.form or m.guards or owner.cls.role != "nnx" or store.old is not None:
        return
    base = _strict_base(owner.cls, store.key)
    held = _holds_modules(m, store.value, _DEPTH) if base else None
    if held is None or not _is_written(m, f, store.at):
        return
    since, asked = _since(m, base)
    if since:
        m.emit(
            f, ApiMisuse, store.at, None, held, api=owner.cls.name, problem="plain-container",
            parameter=str(store.key), cure=kind, since=since, detail=asked,
        )  # fmt: skip


_KINDS: Final = {Seq: "list", Tup: "tuple", Map: "dict"}


def _strict_base(cls: ClassInfo, name: str) -> str:
    """The base for which a class takes no such container in a field; "" if it is not understood, or says what the field is."""
    chain = mro(cls)
    odd = any("__setattr__" in c.namespace or name in c.fields or name in c.namespace for c in chain)
    asking = lexicon().contracts.asks_since
    bases = [base.dotted for c in chain for base in c.bases if type(base) is Ext and base.dotted in asking]
    return bases[0] if bases and not odd and not cls.extern else ""


def _holds_modules(m: Machine, value: Value | None, depth: int) -> Confidence | None:
    """How sure it is that modules or variables are in a container; None if nothing says so. It may be empty, if its length is
    not known."""
    if type(value) is Tup or (type(value) is Seq and value.items is not None):
        found = [_holds(m, item, depth) for item in value.items or ()]
    elif type(value) is Map:
        found = [_holds(m, item, depth) for item in value.entries.values()]
    elif type(value) is Seq and value.kind == "list" and value.rest is not None:
        return Confidence.LIKELY if _holds(m, value.rest, depth) else None
    else:
        found = []
    return max((level for level in found if level), key=lambda level: level.rank, default=None)


def _holds(m: Machine, value: Value, depth: int) -> Confidence | None:
    alts = alternatives(value)
    if all(_is_held(m, alt) for alt in alts):
        return Confidence.CERTAIN
    return _holds_modules(m, value, depth - 1) if depth else None


def _is_held(m: Machine, value: Value) -> bool:
    contracts = lexicon().contracts
    if type(value) is Inst:
        return value.cls.role == "nnx"
    named = value.dotted if type(value) is ExtInst else ""
    layer = contracts.makes_with.get(named) == "rngs" or named in contracts.holds_arrays
    return layer or (named in m.transforms.variables)


def _is_written(m: Machine, f: Frame, at: int) -> bool:
    """Whether what a target gets is written as a display, or is a local name that nothing else is bound to: what a function gives
    may be a container that is understood."""
    body = f.fn.body if f.fn is not None else f.module.tree.body
    assigned = [node for node in ir_walk.nodes(list(body)) if type(node) is ir.Assign]
    value = next((node.value for node in assigned for target in node.targets if target.at == at), None)
    if type(value) is ir.Name and f.fn is not None and value.id in f.scope.vars:
        bound = m.texts.table(f).bound.get(value.id, [])
        return bool(bound) and all(_is_display(node) for node in bound)
    return _is_display(value)


def _is_display(node: ir.Node | None) -> bool:
    plain = isinstance(node, (ir.List, ir.Tuple, ir.Dict))
    return plain or (type(node) is ir.Comp and node.kind in ("list", "dict"))
