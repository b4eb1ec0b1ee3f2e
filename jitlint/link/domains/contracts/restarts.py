"""States of optimisers that begin anew in each epoch, while the parameters go on (layer: ``link``, room ``domains``).

The moments are zero again, and a schedule counts from the first step: a warm-up is never over. What it does: looks at epochs, by the
name of a loop's variable or of a function that a loop calls to go on from what it gave. What it does not: speak of
stages, tasks and rounds, where an optimiser may well begin anew.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import OddOptimiser
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.contracts.usage import GoesRound
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, bound_names, last_name, nodes
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EPOCHS: Final = frozenset({"epoch", "epochs"})


def check(m: Machine, f: Frame, at: int) -> None:
    """Record the call that makes a state with arrays, if each epoch makes it."""
    fn, call = f.fn, m.texts.table(f).calls.get(at)
    given = call.args[0].value if call is not None and len(call.args) == 1 else None
    if call is None or type(given) is not ir.Name or f.module.is_test:
        return
    loop = f.loops[-1] if f.loops else None
    if loop is None and fn is not None and _is_epoch(fn, given.id) and _is_lost(f, fn, call):
        when: tuple[GoesRound, ...] = (GoesRound(m, fn),)
    elif type(loop) is ir.For and _goes_on(loop, call, given.id):
        when = ()
    else:
        return
    m.emit(f, OddOptimiser, at, None, Confidence.LIKELY, when=when, problem="each-epoch", name=given.id)


def _is_epoch(fn: FuncInfo, name: str) -> bool:
    return naming.has_word(fn.name, _EPOCHS) and any(param.name == name for param in fn.node.params)


def _goes_on(loop: ir.For, call: ir.Call, name: str) -> bool:
    """Whether the turns of a loop over epochs hand parameters on, and nothing else begins anew in it."""
    if not any(naming.has_word(one.id, _EPOCHS) for one in bound_names([loop.target])):
        return False
    code = list(nodes(loop.body))
    renewals = [part for part in code if name in bound_by(part)]
    optimiser = last_name(call.func.obj) if type(call.func) is ir.Attr else ""
    bound = {one for part in code for one in bound_by(part)}
    follow = all(part.at > call.at and name in _read(part) for part in renewals)
    return bool(renewals) and follow and optimiser not in bound


def _read(part: ir.Node) -> set[str]:
    value = part.value if isinstance(part, (ir.Assign, ir.AugAssign)) else None
    return {one.id for one in below(value) if type(one) is ir.Name} if value is not None else set()


def _is_lost(f: Frame, fn: FuncInfo, call: ir.Call) -> bool:
    """Whether a function keeps nothing of the state that it makes, and of what becomes of it."""
    statement = surroundings.statement(f)
    if type(statement) is not ir.Assign or len(statement.targets) != 1:
        return False
    if statement.value is call:
        target: ir.Node = statement.targets[0]
    else:  # ``(params, _), losses = scan(step, (params, tx.init(params)), batches)``
        carried = statement.targets[0].elts[0] if type(statement.targets[0]) is ir.Tuple else None
        handed = any(
            type(part) is ir.Tuple and len(part.elts) == 2 and part.elts[1] is call
            for part in below(statement.value)
        )
        if not handed or type(carried) is not ir.Tuple or len(carried.elts) != 2:
            return False
        target = carried.elts[1]
    return type(target) is ir.Name and not _leaves(fn, target.id)


def _leaves(fn: FuncInfo, state: str) -> bool:
    """Whether a variable is returned, or stored in something."""
    out = (part for part in fn.parts if isinstance(part, (ir.Return, ir.Yield)) or _stores(part))
    return any(type(one) is ir.Name and one.id == state for part in out for one in below(part))


def _stores(part: ir.Node) -> bool:
    """Whether an assignment sets more than variables."""
    return type(part) is ir.Assign and any(isinstance(one, (ir.Attr, ir.Sub)) for one in below(part.targets))
