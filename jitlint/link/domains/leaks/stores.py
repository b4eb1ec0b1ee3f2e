"""Tracers that are stored where they outlive their trace (layer: ``link``, room ``domains``).

What a box, a scope or a cache outlives is decided by `jitlint.link.values.questions.ownership`.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.changes import reached
from jitlint.infer.events import HANDED, OUTER, REFUSED, Leak
from jitlint.infer.grounds import weaken
from jitlint.infer.lattice import parts
from jitlint.infer.objects import is_cold, itself
from jitlint.infer.values import (
    UNKNOWN,
    Bound,
    ExtInst,
    Func,
    Inst,
    Map,
    Partial,
    Scope,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
)
from jitlint.link.domains.leaks import pending
from jitlint.link.domains.leaks.pending import Pending, Where
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library, Store, Transformed
from jitlint.link.engine.events import confidence_of
from jitlint.link.engine.frame import BY_CHOICE, Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.values import flattening, library_objects, paths, pytrees
from jitlint.link.values.questions import ownership
from jitlint.link.values.questions.kinds import find_method
from jitlint.link.values.questions.ownership import deepest_tracer
from jitlint.syntax import ir

_PUSHING: Final = frozenset({"append", "insert", "push"})
"""What puts one thing more into a container."""

_MOST: Final = 64
"""So many objects are looked at."""
_NESTED: Final = 2
"""So many containers in each other go along."""


class Home(NamedTuple):
    """Where a container is that was made in a trace. where: the older place that it went into. level: its own."""

    box: Seq | Map
    where: Where
    level: int


class Homes:
    """The homes of containers that were made in traces, by the container and by the place."""

    def __init__(self) -> None:
        self._of: dict[int, Home] = {}
        self._at: dict[Where, list[int]] = {}

    def where(self, box: Value) -> Where | None:
        """The place that a container is a part of, if it went into one."""
        home = self._of.get(id(box))
        return None if home is None else home.where

    def add(self, home: Home) -> None:
        """A container goes into an older place."""
        self._of[id(home.box)] = home
        self._at.setdefault(home.where, []).append(id(home.box))

    def let_go(self, where: Where) -> None:
        """Something is taken out of an older place, or takes its place: what was made in the trace ends with it again."""
        for key in self._at.pop(where, ()):
            home = self._of.pop(key, None)
            if home is not None:
                home.box.level = home.level


GIVEN: Final = Slot[list[Inst]](inherited=True)
"""The objects that a transformed function is given as they are, and the one whose method it is: a library may hand it others,
which JAX itself does not."""

_JAX: Final = "jax."


def given(transformed: Transformed) -> list[Inst]:
    """The objects among the arguments of a transformed function, and in their attributes."""
    x, args = transformed.x, transformed.args
    found: list[Inst] = []
    waiting = [*args.pos, *args.kw.values()]
    if type(x.target) is Bound and not x.spec.name.startswith(_JAX):
        waiting.append(x.target.recv)
    while waiting and len(found) < _MOST:
        value = waiting.pop()
        if type(value) is Inst and all(one is not value for one in found):
            found.append(value)
            waiting += value.attrs.values()
        elif isinstance(value, (Tup, Seq, Map, Union)):
            waiting += parts(value)
    return found


def stored(
    m: Machine,
    f: Frame,
    at: int,
    box: Inst | Seq | Map,
    value: Value,
    target: str,
    what: str,
    where: Where | None = None,
) -> None:
    """A value goes into an attribute or element of a box: a leak when it outlives its trace, and stays there. where: the place that
    the box is a part of, if it is younger than that."""
    if type(box) is Inst and box.cls.role in lexicon().captures.tracked_roles:
        if box.cls.role in lexicon().captures.refusing_roles:
            _refused(m, f, at, box, what)
        return
    if box.level < f.world.level and all(one.level < f.world.level for one in reached(box)):
        guess = ownership.is_guess(f, box) or _is_in_force(box)
        _leak(m, f, at, box, value, target, what, guess, where)


def take_in(
    f: Frame, box: Inst | Seq | Map, value: Value, where: Where, homes: Homes, depth: int = _NESTED
) -> None:
    """A list or dict goes into a box that is older than the trace: it stays as long as the place keeps it, with all that is put
    into it later."""
    if not isinstance(value, (Seq, Map)) or box.level >= value.level or ownership.is_guess(f, box):
        return
    if type(box) is not Inst or box.cls.role not in lexicon().captures.tracked_roles:
        homes.add(Home(value, where, value.level))
        value.level = box.level
        for part in parts(value) if depth else ():
            take_in(f, value, part, where, homes, depth - 1)


def _is_in_force(box: Value) -> bool:
    """Whether an object puts itself on a stack for as long as a ``with`` lasts: which ones lie there at another time is not known."""
    enter = find_method(box, "__enter__") if type(box) is Inst else None
    if type(enter) is not Func or not enter.fn.node.params:
        return False
    own = enter.fn.first
    return any(
        type(node) is ir.Call
        and ir_walk.last_name(node.func) in _PUSHING
        and any(type(arg.value) is ir.Name and arg.value.id == own for arg in node.args)
        for node in enter.fn.parts
    )


def handed(m: Machine, f: Frame, transformed: Transformed) -> None:
    """A transform of a library takes modules apart, and refuses one that is older than the trace around."""
    words, name = lexicon().captures, transformed.x.spec.name
    if name not in words.lifting or not f.world.level or transformed.at not in m.texts.table(f).calls:
        return
    for value in (*transformed.args.pos, *transformed.args.kw.values()):
        if type(value) is Inst and value.cls.role in words.refusing_roles:
            _refused(m, f, transformed.at, value, name, HANDED)


def _refused(m: Machine, f: Frame, at: int, box: Inst, what: str, target: str = REFUSED) -> None:
    """An attribute of a module is set, or the module taken apart, in a trace that is younger than it, which its library
    refuses, whatever the value is. What is transformed as a method may be given its module as an argument, and so may what is only meant to be
    traced."""
    meant = f.entry is not Confidence.CERTAIN
    guess = is_cold(box) or (box.token is None and not box.level)  # what a trace around was given is known
    if meant or box.level >= f.world.level or f.world.excused or guess:
        return
    if all(itself(one) is not itself(box) for one in GIVEN.of(f) or ()):
        m.emit(f, Leak, at, None, target=target, what=what, used=True)


def changed(m: Machine, f: Frame, store: Store) -> None:
    """A variable of a module gets another array: ``module.variable.value = array``, ``module.variable[...] = array``."""
    library = store.owner
    if not _is_variable(m, library):
        return
    node = surroundings.statement(f)
    target = (
        node.targets[0] if type(node) is ir.Assign else node.target if type(node) is ir.AugAssign else None
    )
    variable = target.obj if isinstance(target, (ir.Attr, ir.Sub)) else None
    if type(variable) is ir.Name and _is_refused(f, library):
        m.emit(f, Leak, store.at, None, target=OUTER, what=variable.id, used=True)
    box = paths.peek(m, f, variable.obj) if type(variable) is ir.Attr else None
    if type(variable) is ir.Attr and type(box) is Inst and box.attrs.get(variable.name) is library:
        stored(m, f, store.at, box, UNKNOWN, "attribute", variable.name)


def _is_refused(f: Frame, variable: Value) -> bool:
    """Whether a variable of a module is older than the trace, to which nobody gave it."""
    older = type(variable) is ExtInst and library_objects.level_of(variable) < f.world.level
    return older and f.entry is Confidence.CERTAIN and not f.world.excused


def drawn(m: Machine, f: Frame, library: Library) -> None:
    """A key is drawn from a stream that a module holds, which counts its draws: ``module.rngs.noise()``, ``module.rngs()``."""
    owner, method = library.owner, library.dotted.rpartition(".")[2]
    if type(owner) is not ExtInst or owner.dotted not in lexicon().captures.streams or method == "items":
        return
    call = ir_walk.call_at(f.fn.parts if f.fn is not None else [], library.at)
    func = call.func if call is not None else None
    _changed_part(
        m, f, library.at, owner, func.obj if type(func) is ir.Attr and method != "__call__" else func
    )


def measured(m: Machine, f: Frame, library: Library, layer: ExtInst) -> None:
    """Such a layer, which a module holds, changes: ``self.norm(x)``."""
    call = ir_walk.call_at(f.fn.parts if f.fn is not None else [], library.at)
    _changed_part(m, f, library.at, layer, call.func if call is not None else None)


def _changed_part(m: Machine, f: Frame, at: int, part: ExtInst, node: ir.Node | None) -> None:
    """An object that a module holds under a name changes."""
    box = paths.peek(m, f, node.obj) if type(node) is ir.Attr else None
    if type(node) is ir.Attr and type(box) is Inst and box.attrs.get(node.name) is part:
        stored(m, f, at, box, UNKNOWN, "attribute", node.name)


def _is_variable(m: Machine, value: Value) -> bool:
    """Whether a value is a variable of a module, as it was made or as a trace got it."""
    if type(value) is ExtInst:
        return value.dotted in m.transforms.variables
    return type(value) is Tree and value.evidence == "ref"


def stored_in_scope(m: Machine, f: Frame, scope: Scope, name: str, value: Value, target: str) -> None:
    """A value is bound to a global or nonlocal name, or to an attribute of a module or class."""
    if scope.level < f.world.level:
        _leak(m, f, f.at, scope, value, target, name)


def _is_own(f: Frame) -> bool:
    """Whether the function is the very one that is traced: then its receiver certainly is older."""
    return len(f.steps) < 2


def _leak(
    m: Machine,
    f: Frame,
    at: int,
    box: Any,
    value: Value,
    target: str,
    what: str,
    guess: bool = False,
    where: Where | None = None,
) -> None:
    tracer = deepest_tracer(value)
    key = where or pending.place(box, what)
    if tracer is None or tracer.level <= box.level:
        if target != "append":
            _put_back(m, f, key)
        return
    hidden = isinstance(value, (Inst, Func, Bound, Partial))
    confidence = Confidence.POSSIBLE if guess and (hidden or not _is_own(f)) else confidence_of(value)
    changed = surroundings.changed_name(f)
    if not _is_meant(f, changed.lower()) and not f.world.excused:
        level = weaken(f.confidence, 0 if confidence is None else 2 - confidence.rank)
        if type(box) is Inst and f.dispatched == BY_CHOICE:
            level = Confidence.POSSIBLE  # it is perhaps another object that is there
        derived = surroundings.derived(f)
        one = Pending(f, at, tracer, level, target, what, changed, derived, box)
        pending.keep(f, key, one)
    m.broken = (f.module.name, f.at)


def _is_meant(f: Frame, changed: str) -> bool:
    """Whether the code shows that it knows what it keeps: it takes it back, or asks for tracers."""
    return surroundings.undone(f, changed) or surroundings.restores(f) or surroundings.asks_for_tracers(f)


def _put_back(m: Machine, f: Frame, key: Where) -> None:
    if pending.keep(f, key, None):
        m.broken = (f.module.name, f.at)  # it changes nothing that somebody could miss


def taken_out(m: Machine, f: Frame, box: Seq | Map) -> None:
    """Something is taken out of a container: what was put there for the time of the trace is gone."""
    if box.level < f.world.level:
        for one in (box, *parts(box)):
            if isinstance(one, (Seq, Map)):
                _put_back(m, f, pending.place(one, ""))


def cached(m: Machine, f: Frame, func: Func, owner: Value, result: Value, target: str) -> None:
    """The result of a function is kept by a cache: at its ``return``. The cache of a property is as old as its object; what an
    outer trace made or was given goes with it, and whether that reads it again is not known."""
    tracer = deepest_tracer(result)
    level = owner.level if target == "cached_property" and type(owner) is Inst else func.scope.level
    if level >= f.world.level or tracer is None or tracer.level <= level:
        return
    for at, value in func.fn.returned.items():
        if deepest_tracer(value) is not None:
            where = (func.fn.module.name, func.fn.qualname)
            confidence = Confidence.POSSIBLE if level else confidence_of(result)
            m.emit(f, Leak, at, tracer, confidence, where, target=target, what=func.fn.name)
            return


def returned(m: Machine, f: Frame, target: Value, result: Value) -> None:
    """What a traced function returns: static fields are not replaced by results, so a tracer there gets out."""
    found = _in_static_field(result, f.world.level)
    func = target
    while isinstance(func, (Bound, Partial)):
        func = func.func
    if found is None or type(func) is not Func:
        return
    name, tracer = found
    for at, value in func.fn.returned.items():
        if _in_static_field(value, f.world.level) is not None:
            where = (func.fn.module.name, func.fn.qualname)
            m.emit(f, Leak, at, tracer, confidence_of(value), where, target="static", what=name)


def _in_static_field(value: Value, level: int) -> tuple[str, Value] | None:
    for inst in _instances(value, 2):
        for name in sorted(flattening.meta_names(inst.cls) & inst.attrs.keys()):
            tracer = deepest_tracer(inst.attrs[name])
            if tracer is not None and tracer.level >= level:
                return name, tracer
    return None


def _instances(value: Value, depth: int) -> list[Inst]:
    """The registered objects in a value."""
    a: Any = value
    if type(value) is Inst:
        return [a] if flattening.is_pytree(a.cls) else []
    parts = pytrees.children(value) if depth else None
    return [inst for part in parts or () for inst in _instances(part, depth - 1)]
