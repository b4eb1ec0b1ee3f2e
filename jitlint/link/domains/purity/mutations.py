"""Traced code that changes an object older than its trace: the change happens once per trace (layer: ``link``, room ``domains``).

What is made inside the trace may be changed freely. A tracer that is stored is the business of `leaks`.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Mutation
from jitlint.infer.grounds import at_most
from jitlint.infer.lattice import parts
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    NO_CONST,
    SETS,
    ExtInst,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Value,
    alternatives,
    const_of,
)
from jitlint.link.domains.purity.copies import Change, Copies
from jitlint.link.engine import scopes, surroundings
from jitlint.link.engine.domain import Library, Store
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.tables.ir_walk import last_name, whole
from jitlint.link.values.questions.kinds import is_thread_local
from jitlint.link.values.questions.ownership import deepest_tracer, is_guess
from jitlint.syntax import ir
from jitlint.syntax.children import below

_MEANT: Final = ("trac", "compil", "jit", "cache", "cell", "memo", "regist", "build")
"""Words in the name of what is changed that say it is meant to happen once per trace."""

_FORMS: Final = frozenset({"shape", "dtype", "ndim", "size", "aval", "weak_type"})
"""What is the same for all calls that one trace serves."""


def entered(copies: Copies, fn: FuncInfo, bound: dict[str, Value], objects: bool) -> None:
    """A traced function starts: the dicts among its arguments are copies made for it. Lists are work lists more often,
    and objects of pytree classes that change themselves are the business of their libraries, if it is their transform."""
    for name, value in bound.items():
        if type(value) is Map or type(value) is Tree:
            copies.rebuilt.setdefault(id(value), (value, fn, name))
        elif objects and (type(value) is ExtInst or type(value) is Inst):
            copies.objects[id(value)] = (value, fn, name)


def updated(m: Machine, copies: Copies, f: Frame, library: Library) -> None:
    """An optimiser, a metric or a module is updated in place: if the traced function got a copy, and does nothing with it
    afterwards, that is lost."""
    box = library.owner if library.owner is not None else library.args.get(0, "node")
    held, fn, name = copies.objects.get(id(box), (None, f.fn, ""))
    if held is None or held is not box or fn is None or fn is not f.fn:
        return
    if not surroundings.returns_whole(fn, name) and _is_last_use(fn, name, library.at):
        level = Confidence.POSSIBLE if f.module.is_test else at_most(f.confidence, Confidence.LIKELY)
        change = Change(f, library.at, fn, name, level, library.dotted)
        copies.changes.setdefault((f.module.name, library.at), change)


def _is_last_use(fn: FuncInfo, name: str, at: int) -> bool:
    """Whether a function does not mention a variable after a call."""
    call = ir_walk.call_at(fn.parts, at)
    here = set(map(id, below([call]))) if call is not None else set[int]()
    uses = [part for part in fn.parts if type(part) is ir.Name and part.id == name and id(part) not in here]
    return call is not None and all(part.at < call.at for part in uses)


def lost(m: Machine, copies: Copies, f: Frame, at: int, box: Value) -> None:
    """A container that may be a copy of an argument was changed: unless it is given back, nobody sees it."""
    found = copies.rebuilt.get(id(box))
    if found is None or found[0] is not box or m.broken == (f.module.name, f.at):
        return
    _, fn, name = found
    if not surroundings.returns_whole(fn, name) and not surroundings.leads_to_raise(f):
        level = Confidence.POSSIBLE if f.module.is_test else at_most(f.confidence, Confidence.LIKELY)
        copies.changes.setdefault((f.module.name, at), Change(f, at, fn, name, level))


class Filled:
    """Containers that a trace has put tracers into: what it takes out again, it has lent them."""

    __slots__ = ("_boxes",)

    def __init__(self) -> None:
        self._boxes: dict[int, Value] = {}

    def put(self, f: Frame, store: Store) -> None:
        """Something is put somewhere."""
        box, floor = store.owner, f.world.floor
        if not isinstance(box, (Seq, Map)) or store.value is None or box.level >= floor:
            return
        tracer = deepest_tracer(store.value)
        if tracer is not None and tracer.level >= floor:
            self._boxes[id(box)] = box

    def has(self, box: Seq | Map) -> bool:
        """Whether tracers were put into a container, or one that it holds."""
        return any(self._boxes.get(id(one)) is one for one in (box, *parts(box)))


def called(m: Machine, copies: Copies, filled: Filled, f: Frame, at: int, box: Seq | Map, name: str) -> None:
    """A method of a container was called inside a trace."""
    inside = box.level >= f.world.floor
    if inside and id(box) not in copies.rebuilt:
        return
    if type(box) is Map:
        names = lexicon().containers.changing_maps
    elif type(box) is not Seq or box.kind == "iter":
        return
    else:
        methods = lexicon().containers
        names = methods.changing_sets if box.kind in SETS else methods.changing_sequences
    if name in names and inside:
        if not name.startswith("pop"):  # whoever takes an element out wants the element
            lost(m, copies, f, at, box)
    elif name in names and not (name in lexicon().containers.taking and filled.has(box)):
        level = Confidence.POSSIBLE if is_guess(f, box) else Confidence.CERTAIN
        _record(m, f, at, "method", name, "", level)


def stored(
    m: Machine, copies: Copies, f: Frame, at: int, box: Inst | Seq | Map, value: Value, target: str, what: str
) -> None:
    """An attribute or element of a box was replaced. A tracer that gets out is a leak, which is said already."""
    if type(box) is Inst and (box.cls.role in lexicon().captures.tracked_roles or is_thread_local(box.cls)):
        return
    if box.level >= f.world.floor:
        if id(box) in copies.rebuilt:
            lost(m, copies, f, at, box)
        return
    named = type(box) is Map and type(value) is Py and value.const is not NO_CONST
    level = Confidence.LIKELY if named else Confidence.POSSIBLE
    if surroundings.derived(f):
        level = Confidence.CERTAIN
    if is_guess(f, box):
        level = Confidence.POSSIBLE
    name = f"{box.cls.name}.{what}" if type(box) is Inst else ""
    _record(m, f, at, target, "", name, level)


def rebound(m: Machine, f: Frame, at: int, name: str, target: str) -> None:
    """A global or nonlocal name, or an attribute of a module or class, was bound anew.

    What functions share through the one around them, and set without counting on, is a setting: the same after every trace.
    """
    level = Confidence.CERTAIN if surroundings.derived(f) else Confidence.LIKELY
    if level is Confidence.LIKELY and surroundings.normalises(f):
        level = Confidence.POSSIBLE
    if level is Confidence.LIKELY and (target != "global" or surroundings.goes_on_rebinding(f)):
        level = Confidence.POSSIBLE  # of settings that are made one after the other, the first is told
    _record(m, f, at, target, "", name, level)


def deleted(m: Machine, f: Frame, at: int, box: Value, index: Value | None = None) -> None:
    """An element or attribute was deleted. A dict's element under a key made here is mostly one that was put there
    for the time of the trace."""
    for alt in alternatives(box):
        a: Any = alt
        if type(alt) is Map and index is not None and const_of(index) is NO_CONST:
            continue
        known = isinstance(alt, (Map, Seq)) or (
            type(alt) is Inst and a.cls.role not in lexicon().captures.tracked_roles
        )
        if known and a.level < f.world.floor:
            level = Confidence.POSSIBLE if is_guess(f, alt) else Confidence.CERTAIN
            _record(m, f, at, "delete", "", "", level)


def _record(m: Machine, f: Frame, at: int, target: str, what: str, name: str, level: Confidence) -> None:
    if m.broken == (f.module.name, f.at):
        return
    changed = surroundings.changed_name(f).lower()
    if any(word in changed for word in _MEANT) or surroundings.fills(f, changed):
        return
    if surroundings.undone(f, changed) or surroundings.asks_for_tracers(f) or surroundings.leads_to_raise(f):
        return
    if surroundings.runs_first(f) or _counts_traces(f, changed) or _is_handed_out(f, changed):
        return
    if _is_of_counter(f) or _is_of_a_stack(f):
        return
    if f.module.is_test:
        level = Confidence.POSSIBLE
    m.emit(f, Mutation, at, None, level, target=target, what=what, name=name)


def _is_of_a_stack(f: Frame) -> bool:
    """Whether a method puts something onto a stack, or takes it off, of an object that has methods for both."""
    methods = lexicon().captures.stack_methods
    if f.fn is None or f.fn.name not in methods or f.owner is None:
        return False
    return sum(name in f.owner.namespace for name in methods) > 1


def _is_of_counter(f: Frame) -> bool:
    """Whether what is changed belongs to an object whose class is named for traces: ``TraceCounter``."""
    statement = surroundings.statement(f)
    target = statement.target if type(statement) is ir.AugAssign else None
    root = whole(target) if target is not None else None
    owner = scopes.lookup(f, root.id) if type(root) is ir.Name else None
    return type(owner) is Inst and any(word in owner.cls.name.lower() for word in _MEANT[:2])


def _is_handed_out(f: Frame, changed: str) -> bool:
    """Whether the function around makes what is changed, and the function that changes it, and has nothing but `jax.checkpoint`
    around that, which runs it at each call."""
    around = f.scope.parent.fn if f.scope.parent is not None else None
    if f.fn is None or around is None or changed not in map(str.lower, around.node.local_names):
        return False
    marks = [mark.func if type(mark) is ir.Call else mark for mark in f.fn.node.decorators]
    return bool(marks) and all(last_name(mark) in lexicon().captures.inline for mark in marks)


def _is_made_for_traces(f: Frame) -> bool:
    """Whether the function around is named for traces, or for compilation."""
    around = f.qualname.rpartition(".<locals>.")[0].rpartition(".")[2]
    return any(word in around for word in _MEANT[:2])


def _counts_traces(f: Frame, changed: str) -> bool:
    """Whether what is kept is about traces: a set of what is the same for all calls of one, ``seen.add(x.shape)``, a number
    that a function counts which is made by one that is named for traces, or that is held against a limit, and what the
    function, or the one around it, is sure of."""
    statement = surroundings.statement(f)
    if _keeps_forms(statement):
        return True
    if type(statement) is ir.AugAssign and _is_made_for_traces(f):
        return True
    parts = [*(f.fn.parts if f.fn is not None else ()), *_around(f)]
    tests = [node for node in parts if type(node) is ir.If and type(node.body[-1]) is ir.Raise]
    if any(last_name(part).lower() == changed for node in tests for part in below(node.test)):
        return True
    return any(_asserts(node, changed) for node in parts)


def _around(f: Frame) -> list[ir.Node]:
    """The code of the function in which one is written."""
    scope = f.scope.parent
    return scope.fn.parts if scope is not None and scope.fn is not None else []


def _asserts(node: ir.Node, changed: str) -> bool:
    """Whether a statement is sure of what is kept, or of how much: ``assert len(seen) == 1``, ``assert self.builds == 2``."""
    parts = below(node.test) if type(node) is ir.Assert else []
    return any(
        type(part) is ir.Compare
        and part.ops == ["=="]
        and any(last_name(one).lower() == changed for one in below(part))
        for part in parts
    )


def _keeps_forms(statement: ir.Node | None) -> bool:
    """Whether a statement keeps what is the same for all calls of one trace: it adds a form to a set, or a description to a list."""
    call = statement.value if isinstance(statement, (ir.ExprStmt, ir.Assign)) else None
    if type(call) is not ir.Call or not call.args:
        return False
    given = [arg.value for arg in call.args]
    if last_name(call.func) == "append":
        forms = {part.name for part in below(given) if type(part) is ir.Attr} & _FORMS
        return len(forms) > 1  # a description of an array, not a turn
    return last_name(call.func) == "add" and all(type(one) is ir.Attr and one.name in _FORMS for one in given)
