"""Averages over batches that a Flax module updates, and that nobody keeps (layer: ``link``, room ``domains``).

``logits, _ = model.apply(variables, x, train=True, mutable=["batch_stats"])`` in a loss throws away what `BatchNorm` has seen: the averages
for evaluation stay as they began. What it does: looks at all calls of a program that let the collection change. What it does not: speak
where one of them keeps it, as a second pass over the same batch need not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values.questions.collecting import STATISTICS
from jitlint.syntax import ir
from jitlint.syntax.children import below

_MUTABLE: Final = "mutable"
_LEARNS: Final = frozenset({"loss", "train", "update", "learn"})
"""Words by which functions are called that are there to learn."""


def check(m: Machine) -> None:
    """Record the calls that throw the averages away, if all calls of the program do."""
    functions = [fn for module in m.modules.values() if not module.is_test for fn in module.functions]
    changing = [(fn, calls) for fn in functions if (calls := list(filter(_lets_change, fn.parts)))]
    if not changing or any(_keeps_one(fn, calls) for fn, calls in changing):
        return
    evaluated = any(_is_evaluation(part) for fn in functions for part in fn.parts)
    for fn, calls in changing if evaluated else ():
        for call in calls if _learns(fn) else ():
            frame = Frame(fn.module, fn.module.scope, HOST, ground="jit")
            m.emit(
                frame, DroppedUpdate, call.at, None, Confidence.LIKELY, where=(fn.module.name, fn.qualname),
                averages=STATISTICS,
            )  # fmt: skip


def _keeps_one(fn: FuncInfo, calls: Sequence[ir.Node]) -> bool:
    dropped = {call.at for call in (*_dropped(fn), *_dropped_beside_the_loss(fn))}
    return any(call.at not in dropped for call in calls)


def _lets_change(node: ir.Node) -> bool:
    told = [arg.value for arg in node.args if arg.name == _MUTABLE] if type(node) is ir.Call else []
    return any(type(part) is ir.Const and part.value == STATISTICS for part in below(told))


def _is_evaluation(node: ir.Node) -> bool:
    """Whether a module is called in the mode in which it takes the averages: ``train=False``, other than to begin with."""
    if type(node) is not ir.Call or last_name(node.func) in lexicon().keys.initialising:
        return False
    told = [arg.value for arg in node.args if arg.name in lexicon().keys.enabling]
    return any(type(value) is ir.Const and value.value is False for value in told)


def _dropped(fn: FuncInfo) -> Iterator[ir.Call]:
    """The calls of which the second result gets a name that nothing reads."""
    for node in fn.parts:
        target = node.targets[0] if type(node) is ir.Assign and len(node.targets) == 1 else None
        if type(node) is ir.Assign and isinstance(target, (ir.Tuple, ir.List)) and len(target.elts) == 2:
            second = target.elts[1]
            if type(node.value) is ir.Call and type(second) is ir.Name and second.id.startswith("_"):
                yield node.value


def _dropped_beside_the_loss(fn: FuncInfo) -> Iterator[ir.Call]:
    """The calls of which the second result is given beside the loss, ``has_aux=True``, to a function around that does not keep it."""
    around = next(
        (one for one in fn.module.functions if fn.qualname == f"{one.qualname}.<locals>.{fn.name}"), None
    )
    taken = [part for part in around.parts if _derives(around, part, fn.name)] if around is not None else []
    if around is None or not taken or not all(_drops(around, part) for part in taken):
        return
    beside = _beside(fn)
    for node in fn.parts:
        second = _second(node)
        if type(node) is ir.Assign and type(node.value) is ir.Call and second in beside:
            yield node.value


def _beside(fn: FuncInfo) -> set[str]:
    """The variables in what a function gives beside its first result."""
    result = only_returned(fn.parts)
    parts = below(result.elts[1]) if type(result) is ir.Tuple and len(result.elts) == 2 else []
    return {part.id for part in parts if type(part) is ir.Name}


def _second(node: ir.Node) -> str:
    """The second of two variables that an assignment binds, or ""."""
    target = node.targets[0] if type(node) is ir.Assign and len(node.targets) == 1 else None
    second = target.elts[1] if type(target) is ir.Tuple and len(target.elts) == 2 else None
    return second.id if type(second) is ir.Name else ""


def _derives(around: FuncInfo, node: ir.Node, name: str) -> bool:
    """Whether an assignment binds what the derivative of a function gives."""
    made = (
        bound_once.written(around, node.value.func)
        if type(node) is ir.Assign and type(node.value) is ir.Call
        else None
    )
    first = made.args[0].value if type(made) is ir.Call and made.args else None
    return (
        type(made) is ir.Call
        and "grad" in last_name(made.func)
        and type(first) is ir.Name
        and first.id == name
    )


def _drops(around: FuncInfo, node: ir.Node) -> bool:
    """Whether what is given beside the loss gets a name that nothing reads: ``(loss, _), grads`` or ``grads, _``."""
    target = node.targets[0] if type(node) is ir.Assign else None
    parts = target.elts if type(target) is ir.Tuple and len(target.elts) == 2 else []
    inner = next((part.elts for part in parts[:1] if type(part) is ir.Tuple), parts)
    beside = inner[1] if len(inner) == 2 else None
    return type(beside) is ir.Name and (
        beside.id.startswith("_") or not bound_once.is_read(around, beside.id)
    )


def _learns(fn: FuncInfo) -> bool:
    """Whether the names around say that a function learns, and what it calls that it takes a derivative."""
    derives = any(
        type(part) is ir.Call and "grad" in last_name(part.func)
        for other in fn.module.functions
        for part in other.parts
    )
    return derives and any(naming.has_word(name, _LEARNS) for name in fn.qualname.split("."))
