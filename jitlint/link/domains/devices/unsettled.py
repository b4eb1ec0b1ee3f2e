"""Results of one device that are taken for those of all (layer: ``link``, room ``domains``).

``@partial(jax.shard_map, in_specs=(P(), P("data")), out_specs=P(), check_vma=False)``: nobody looks whether the devices agree, and the
result is that of the first one. What it does: follows what is computed of an argument that is split to what is said to be the same
everywhere, in functions without any collective. What it does not: speak where something is called that might hold one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import UnsettledResult
from jitlint.infer.objects import unwrapped
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Func, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.models.maps import shardings
from jitlint.link.tables.ir_walk import bound_names, inner_functions, last_name
from jitlint.link.values import iteration, paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_DEPTH: Final = 3
_FORM: Final = frozenset({"shape", "ndim", "dtype", "size"})


def check(m: Machine, f: Frame, given: Value | None, node: ir.Expr) -> None:
    """A function that is mapped over a mesh without checks returns something as the same on all devices. given: how its arguments are
    split."""
    split = _split_params(f.fn, given) if f.fn is not None and not f.module.is_test else {}
    source = _source(f.fn, node, split) if f.fn is not None and split else ""
    if f.fn is not None and source and _stays_here(m, f.fn, f, _DEPTH):
        m.emit(f, UnsettledResult, node.at, None, Confidence.LIKELY, split=source, share=split[source])


def _split_params(fn: FuncInfo, given: Value | None) -> dict[str, tuple[str, ...]]:
    """The parameters of which each device has its share, with the axes."""
    names = [param.name for param in fn.node.params]
    marks = iteration.known_items(given) if type(given) is Tup else [given] if given is not None else []
    out: dict[str, tuple[str, ...]] = {}
    for name, mark in zip(names, marks or []):
        axes = [axis for axis in shardings.named_in(shardings.split_of(mark) or []) if axis is not None]
        if axes:
            out[name] = tuple(axes)
    return out


def _source(fn: FuncInfo, node: ir.Expr, split: dict[str, tuple[str, ...]]) -> str:
    """The parameter, of those that are split, of which an expression is computed."""
    made = {name: name for name in split}
    for part in fn.parts:
        if type(part) is ir.Assign:
            source = next((made[name] for name in _read(part.value) if name in made), "")
            for bound in bound_names(part.targets):
                made.pop(bound.id, None)
                if source:
                    made[bound.id] = source
    return next((made[name] for name in _read(node) if name in made), "")


def _read(node: ir.Node) -> Iterator[str]:
    """The variables whose numbers an expression reads, not only their form."""
    parts = below([node])
    of_form = {id(part.obj) for part in parts if type(part) is ir.Attr and part.name in _FORM}
    yield from (part.id for part in parts if type(part) is ir.Name and id(part) not in of_form)


def _stays_here(m: Machine, fn: FuncInfo, f: Frame, depth: int) -> bool:
    """Whether a function certainly asks nothing of other devices."""
    words = lexicon().contracts
    collective = {name.rpartition(".")[2] for name in words.settling | words.spreading}
    parts = [*fn.parts, *(part for inner in inner_functions(fn.module, fn.body) for part in inner.parts)]
    if any(last_name(part) in collective for part in parts):
        return False
    calls = [part for part in parts if type(part) is ir.Call]
    return all(_is_known(m, f, call, parts, depth) for call in calls)


def _is_known(m: Machine, f: Frame, call: ir.Call, parts: Sequence[ir.Node], depth: int) -> bool:
    if paths.dotted(m, f, call.func):
        return True
    callee = unwrapped(paths.peek(m, f, call.func))
    if type(callee) is Func and depth:
        inner = Frame(callee.fn.module, callee.scope, HOST, callee.fn)
        return _stays_here(m, callee.fn, inner, depth - 1)
    func = call.func
    if type(func) is ir.Attr and callee is None:
        return type(func.obj) is not ir.Name or func.obj.id in _arrays(parts)
    return type(func) is ir.Call


def _arrays(parts: Sequence[ir.Node]) -> set[str]:
    """The variables of a function."""
    return {name.id for part in parts if type(part) is ir.Assign for name in bound_names(part.targets)}
