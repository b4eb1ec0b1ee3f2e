"""States of optimisers that begin anew in each epoch, while the parameters go on (layer: ``link``, room ``domains``).

The moments are zero again, and a schedule counts from the first step: a warm-up is never over. What it does: looks at epochs, by the
name of a loop's variable or bound, or of a function that a loop calls to go on from what it gave. What it does not: speak of
stages, tasks and rounds, where an optimiser may well begin anew, or of parameters that move some other way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OddOptimiser
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.contracts import epochs
from jitlint.link.domains.contracts.unkept import GoesRound
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, last_name, nodes, path_text
from jitlint.link.tables.storing import places, targets_of
from jitlint.syntax import ir
from jitlint.syntax.children import below


def check(m: Machine, f: Frame, at: int) -> None:
    """Record the call that makes a state with arrays, if each epoch makes it."""
    fn, call = f.fn, m.texts.table(f).calls.get(at)
    name = _params(call)
    if call is None or not name or f.module.is_test or _begins_anew(f.qualname.split(".")):
        return
    loop = f.loops[-1] if f.loops else None
    if loop is None and fn is not None and _is_epoch(fn, name) and _is_lost(f, fn, call):
        when: tuple[GoesRound, ...] = (GoesRound(m, fn),)
    elif type(loop) is ir.For and epochs.is_over(loop) and _goes_on(f, loop, call, name):
        when = ()
    else:
        return
    m.emit(f, OddOptimiser, at, None, Confidence.LIKELY, when=when, problem="each-epoch", name=name)


def _params(call: ir.Call | None) -> str:
    """The variable with what a state is made for: ``tx.init(params)``, ``tx.init(eqx.filter(model, eqx.is_array))``."""
    given = call.args[0].value if call is not None and len(call.args) == 1 else None
    if type(given) is ir.Call and given.args and last_name(given.func) == "filter":
        given = given.args[0].value
    return given.id if type(given) is ir.Name else ""


def _begins_anew(names: Iterable[str]) -> bool:
    """Whether names speak of tasks, rounds or trials."""
    return any(naming.has_word(name, lexicon().contracts.begins_anew) for name in names)


def _is_epoch(fn: FuncInfo, name: str) -> bool:
    return epochs.says_so(fn.name) and any(param.name == name for param in fn.node.params)


def _goes_on(f: Frame, loop: ir.For, call: ir.Call, name: str) -> bool:
    """Whether the turns of a loop over epochs hand parameters on that move with the state, and nothing else begins anew in it."""
    start, code = surroundings.statement(f), list(nodes(loop.body))
    around = {last_name(part) for part in below([loop.target, loop.iter])}
    plain = any(part is start for part in loop.body) and name not in around and not _begins_anew(around)
    if type(start) is not ir.Assign or not plain or _makes_optimiser(call, code):
        return False
    renewals = [part for part in code if name in bound_by(part)]
    if start.value is not call:  # ``params, state = epoch(params, tx.init(params))``
        return renewals == [start] and name in _read(start)
    state = last_name(start.targets[0])
    moves = (part.at > call.at and _moves(part, name, state, code) for part in renewals)
    return bool(renewals) and all(moves)


def _makes_optimiser(call: ir.Call, code: Sequence[ir.Node]) -> bool:
    """Whether the optimiser that makes a state is made by the code around, or in the call."""
    path = path_text(call.func.obj) if type(call.func) is ir.Attr else ""
    bound = {path_text(place) for part in code for target in targets_of(part) for place in places(target)}
    return not path or path in bound or path.partition(".")[0] in bound


def _moves(renewal: ir.Node, name: str, state: str, code: Sequence[ir.Node]) -> bool:
    """Whether a statement moves parameters by what is given with the next state, or gives both."""
    read = _read(renewal)
    if state in bound_by(renewal) or name not in read:
        return name in read
    steps = [part for part in code if state in bound_by(part) and state in _read(part)]
    return any(given in read for part in steps for given in set(bound_by(part)) - _read(part))


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
