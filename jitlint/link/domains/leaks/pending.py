"""Leaks wait until their trace is left: what is put back before that has not leaked (layer: ``link``, room ``domains``).

A frame keeps, by place, the last thing that was stored into what is older than the trace: a tracer that waits, or None
for anything else. When a call returns, its caller takes over what it kept; when the caller stands outside of the
trace, what still waits is a leak. Whether somebody reads the place afterwards is decided at the end of the analysis.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Optional

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Leak
from jitlint.infer.grounds import weaken
from jitlint.infer.lattice import parts
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Inst, Map, Scope, Seq, Tree, Value
from jitlint.link.domains.leaks import resetting
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, bound_names, last_name, nodes
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir
from jitlint.syntax.children import below


@dataclass(frozen=True, slots=True)
class Pending:
    """A tracer that was stored. frame, at: where. variable: the last name of what was changed. derived: it was made of what
    was there before. box: what holds it, alive as long as its identity says which place that is."""

    frame: Frame
    at: int
    tracer: Arr | Tree
    confidence: Confidence
    target: str
    what: str
    variable: str
    derived: bool
    box: object


Where = tuple[Hashable, ...]
"""A place, see `place`."""

Kept = dict[Where, Optional[Pending]]
"""By place, what was stored there last."""

Leaked = dict[tuple[str, int, str, str], list[Pending]]
"""By statement and place, the tracers that were still there when their trace was left."""

KEPT: Final = Slot[Kept]()

_DEPTH: Final = 4
"""So deep containers hold each other."""


def place(box: Value | Scope, what: str) -> Where:
    """What a store is known by until the trace is left: an attribute by its class, a container by itself."""
    if type(box) is Inst:
        return ("attribute", box.cls.id, what)
    return ("name", id(box), what) if type(box) is Scope else ("inside", id(box))


def keep(f: Frame, key: Where, pending: Pending | None) -> bool:
    """Something is stored into an older place; None: it is no tracer of this trace. Whether it replaces one."""
    while f.outer is not None and f.outer.world.level == f.world.level > 0:
        f = f.outer  # still the same trace
    kept = KEPT.of(f)
    if kept is None:
        kept = {}
        KEPT.put(f, kept)
    before = kept.get(key)
    kept[key] = pending
    return pending is None and before is not None


def leave(leaked: Leaked, f: Frame, kept: Kept) -> None:
    """A call has returned to ``f``, or a remembered one is made again."""
    if f.world.level and surroundings.restores(f):
        return
    if f.scope.level == f.world.level:
        for key, pending in kept.items():
            keep(f, key, pending)
        return
    for pending in kept.values():
        if pending is not None and not (_is_unseen(f, pending) or _is_let_go(f, pending.box)):
            place = (pending.frame.module.name, pending.at, pending.target, pending.what)
            leaked.setdefault(place, []).append(pending)


def _is_let_go(f: Frame, box: object) -> bool:
    """Whether what a trace itself was given, or made, is a container that nobody has after the call that has filled it: the
    variables that hold it get the results, ``grads, state = jax.grad(loss, has_aux=True)(params, state)``."""
    own = isinstance(box, (Seq, Map)) and 0 < f.scope.level <= box.level
    names = bound_by(statement) if own and (statement := surroundings.statement(f)) is not None else []
    holding = {name for name, value in f.scope.vars.items() if names and _holds(value, box, _DEPTH)}
    return bool(holding) and holding <= set(names)


def _holds(value: Value, box: object, depth: int) -> bool:
    return value is box or (depth > 0 and any(_holds(part, box, depth - 1) for part in parts(value)))


def _is_unseen(f: Frame, one: Pending) -> bool:
    """Whether the function that called the traced one sets the attribute again, before it can be read there."""
    return type(one.box) is Inst and resetting.is_set_again(f, one.box.cls, one.what)


def record(m: Machine, leaked: Leaked) -> None:
    """Record the leaks, each with whether its value is read later."""
    for found in leaked.values():
        for one in found:
            if _is_asked(m, one) or _is_awaited(one):
                continue
            read = SURELY if one.derived else _is_read(m, one)
            confidence = weaken(one.confidence, 1) if read == PERHAPS else one.confidence
            if confidence is Confidence.POSSIBLE:  # too weak a chain for a use, not for the leak itself
                confidence, read = one.confidence, SURELY if read == SURELY else NEVER
            f = one.frame
            outer, f.confidence = f.confidence, confidence
            m.emit(f, Leak, one.at, one.tracer, target=one.target, what=one.what, used=read != NEVER)
            f.confidence = outer


def _is_asked(m: Machine, one: Pending) -> bool:
    """Whether the code that sees a variable of a function asks whether something is a tracer: who does so knows what has been
    kept."""
    if type(one.box) is not Scope or one.box.fn is None:
        return False
    return any(surroundings.speak_of_tracing(list(nodes(list(body)))) for body in _seeing(m, one))


def _is_awaited(one: Pending) -> bool:
    """Whether a function around is there to see what becomes of a tracer that leaks: ``pytest.raises(UnexpectedTracerError)``."""
    scope: Scope | None = one.frame.scope
    while scope is not None and scope.fn is not None:
        calls = [item.value for part in scope.fn.parts if type(part) is ir.With for item in part.items]
        if any(_awaits(call) for call in calls):
            return True
        scope = scope.parent
    return False


def _awaits(call: ir.Expr) -> bool:
    words = lexicon().errors
    named = type(call) is ir.Call and last_name(call.func) in words.expecting_words
    return named and any(last_name(part) in words.of_leaks for part in below(call))


NEVER: Final = 0
PERHAPS: Final = 1
SURELY: Final = 2
"""Whether a place is read: nowhere, only under a condition, or wherever its function runs."""


def _is_read(m: Machine, one: Pending) -> int:
    """Whether code outside of the trace reads the place; what cannot be told counts as read."""
    if type(one.box) is Inst:
        return SURELY if _is_loaded(m, one, one.box) else NEVER
    name = one.variable or one.what
    return max((_reads(body, name) for body in _seeing(m, one)), default=NEVER) if name else SURELY


def _seeing(m: Machine, one: Pending) -> Iterator[Sequence[ir.Node]]:
    """The code that may see a variable, by where it stands: that of a function only the functions inside it see."""
    if type(one.box) is Scope and one.box.fn is not None:
        yield from _inside(one, one.box.fn)
        return
    for fn in m.functions:
        if fn is not one.frame.fn and (fn.id not in m.traced or fn.hosted):
            yield fn.body
    for info in m.modules.values():
        yield info.tree.body


def _inside(one: Pending, owner: FuncInfo) -> Iterator[Sequence[ir.Node]]:
    """The code that sees a variable of a function, without what only sees what it has put there itself."""
    inside = f"{owner.qualname}.<locals>."
    seeing = [fn for fn in owner.module.functions if fn is owner or fn.qualname.startswith(inside)]
    name = one.variable or one.what
    renewed = [fn for fn in seeing if fn is one.frame.fn or _renews(fn, name)]
    own = tuple([f"{fn.qualname}.<locals>." for fn in renewed if fn is not owner])
    for fn in seeing:
        if all(fn is not other for other in renewed) and not fn.qualname.startswith(own):
            yield fn.body


def _renews(fn: FuncInfo, name: str) -> bool:
    """Whether a function puts something else into an outer variable before it reads it."""
    if name not in fn.node.nonlocal_names:
        return False
    found = below(fn.body)
    first = min((n.at for n in found if type(n) is ir.Name and n.id == name), default=0)
    for node in found:
        if type(node) is ir.Assign and any(t.id == name and t.at == first for t in bound_names(node.targets)):
            return not any(type(n) is ir.Name and n.id == name for n in below(node.value))
    return False


def _is_loaded(m: Machine, one: Pending, box: Inst) -> bool:
    """Whether code that runs outside of the trace was seen to read the attribute, of the same object perhaps.

    One that stands for those that others make is read by what reads others of that kind.
    """
    own = box.cls
    found = [
        (cls, born) for name, level, cls, born in m.loads if name == one.what and level < one.tracer.level
    ]
    return any(
        cls is None or (born == box.born and (own in mro(cls) or cls in mro(own))) for cls, born in found
    )


def _reads(body: Sequence[ir.Node], name: str) -> int:
    """Whether statements mention a variable or attribute other than to store something there, or to ask what it is."""
    found = below(body)
    others: set[int] = set()
    for node in found:
        others |= {id(target) for target in _harmless(node)}
    reads = {id(node) for node in found if last_name(node) == name} - others
    for node in found if reads else ():
        if type(node) is ir.If and not _is_main(node):
            others |= {id(part) for part in below([*node.body, *node.orelse])}
    return NEVER if not reads else SURELY if reads - others else PERHAPS


def _is_main(node: ir.If) -> bool:
    """Whether this is what a file does when it is run."""
    return any(last_name(part) == "__name__" for part in below(node.test))


def _harmless(node: ir.Node) -> list[ir.Node]:
    """The parts of a node that use nothing of what they mention: it is replaced, removed, or asked what it is."""
    if type(node) is ir.Assign or type(node) is ir.Del:
        return [_whole(target) for target in node.targets]
    if type(node) is ir.AnnAssign:
        return [_whole(node.target)]
    if type(node) is ir.Compare and set(node.ops) <= {"is", "is not"}:
        return [_whole(side) for side in (node.left, *node.rights)]
    if type(node) is ir.Call and last_name(node.func) in lexicon().python.only_asking:
        return [_whole(arg.value) for arg in node.args]
    call = node.value if type(node) is ir.ExprStmt else None
    func = call.func if type(call) is ir.Call else None
    return [func.obj] if type(func) is ir.Attr and func.name in lexicon().containers.refilling else []


def _whole(node: ir.Node) -> ir.Node:
    """What an element is one of."""
    return node.obj if type(node) is ir.Sub else node
