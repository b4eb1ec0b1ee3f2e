"""Truth values, narrowing and the join of variables at the end of branches (layer: ``link``, room ``core``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import USES
from jitlint.infer.lattice import join
from jitlint.infer.values import (
    NO_CONST,
    NONE,
    UNKNOWN,
    Arr,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.core import contexts, flags
from jitlint.link.core.asking import called_by_name, is_open_question
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import ir_walk
from jitlint.link.tables.results import only_result
from jitlint.link.values import parameters, paths, pytrees
from jitlint.link.values.questions import truths
from jitlint.link.values.questions.kinds import (
    has_attribute,
    is_array_class,
    is_callable,
    is_concrete,
    is_foreign,
    isinstance_of,
)
from jitlint.link.values.questions.membership import same_object
from jitlint.syntax import ir


def condition(m: Machine, f: Frame, test: ir.Expr, form: str, at: int) -> bool | None:
    """Evaluate a test and its truth: True, False or None for either."""
    value = m.evaluator.evaluate(m, f, test)
    outcome = truths.truth(m, f, test.at, value, form)
    return flags.remembered(m, f, test) if outcome is None else outcome


def only_for_type_checkers(f: Frame, test: ir.Node | None) -> bool:
    """Whether a test is ``TYPE_CHECKING``, which is false at run time."""
    if type(test) is ir.Attr:
        return bool(test.name == "TYPE_CHECKING")
    value = scopes.lookup(f, test.id) if type(test) is ir.Name else None
    return type(value) is Ext and value.dotted == "typing.TYPE_CHECKING"


def doubtful(m: Machine, f: Frame, test: ir.Node | None) -> bool | None:
    """The side of an undecided test that perhaps never runs in a trace, or None.

    It asks for the kind of a value that is not known at all, whether such a value is missing, or for a switch that some code of the project sets.
    """
    if type(test) is ir.UnaryOp and test.op == "not":
        side = doubtful(m, f, test.operand)
        return None if side is None else not side
    if type(test) is ir.Call and isinstance(test.func, (ir.Name, ir.Attr)) and test.args:
        callee = called_by_name(m, f, test.func)
        if type(callee) is Ext and callee.dotted in lexicon().python.asking_kinds:
            return True if _is_of_doubtful_kind(m, f, test) else None
    if type(test) is ir.Compare and test.ops in (["is"], ["is not"]) and f.confidence is Confidence.CERTAIN:
        none = type(test.rights[0]) is ir.Const and test.rights[0].kind == "none"
        asked = paths.peek(m, f, test.left)
        return (
            test.ops == ["is"]
            if none and (asked is None or asked is UNKNOWN or type(asked) is Tree)
            else None
        )
    return True if type(test) is ir.Name and _is_switch(f, test.id) else None


def _is_switch(f: Frame, name: str) -> bool:
    """Whether a name is a flag of the module that some code sets."""
    value = f.module.scope.vars.get(name)
    switch = type(value) is Py and value.kind == "bool" and value.const is NO_CONST
    return switch and scopes.lookup(f, name) is value


def _is_of_doubtful_kind(m: Machine, f: Frame, test: ir.Call) -> bool:
    """Whether nobody knows what the object is that a test asks about, or what the class is that it asks for."""
    value = paths.peek(m, f, test.args[0].value)
    if value is UNKNOWN or len(test.args) != 2:
        return value is UNKNOWN
    asked = test.args[1].value
    cls = called_by_name(m, f, asked) if isinstance(asked, (ir.Name, ir.Attr)) else None
    if type(value) is Tree:  # what goes through several trees at once knows of all of them by one
        types = lexicon().types
        return type(cls) is Ext and (cls.dotted in types.maps or cls.dotted in types.sequences)
    return cls is not None and type(value) is Arr and is_foreign(m, cls)


def _asks_for_unknown_class(m: Machine, f: Frame, test: ir.Node | None) -> bool:
    """``isinstance(array, C)``, where nobody knows what C is: it may be the class of just these arrays."""
    while type(test) is ir.UnaryOp and test.op == "not":
        test = test.operand
    if type(test) is not ir.Call or type(test.func) is not ir.Name or len(test.args) != 2:
        return False
    callee = scopes.lookup(f, test.func.id)
    if type(callee) is not Ext or callee.dotted != "builtins.isinstance":
        return False
    classes = test.args[1].value
    asked = [classes] if type(classes) is not ir.Tuple else classes.elts
    if not any(_is_unknown_class(m, f, node) for node in asked):
        return False
    value = paths.peek(m, f, test.args[0].value)
    return value is not None and any(alt is UNKNOWN or type(alt) is Arr for alt in alternatives(value))


def _is_unknown_class(m: Machine, f: Frame, node: ir.Node) -> bool:
    """Whether nobody knows which class a name stands for: one that JAX had before, say."""
    cls = called_by_name(m, f, node) if isinstance(node, (ir.Name, ir.Attr)) else None
    return cls is UNKNOWN or (
        type(cls) is Ext and cls.dotted.startswith("jax.") and not is_array_class(m, cls)
    )


def _asks_for_lost(m: Machine, f: Frame, test: ir.Node | None) -> bool:
    """Whether a test is undecided perhaps because this context has forgotten what an exact one would know."""
    return any(contexts.is_lost(paths.peek(m, f, node), f.coarse) for node in _read_by(m, test))


def _asks_for_turn(m: Machine, f: Frame, test: ir.Node | None) -> bool:
    """Whether a test asks for what a turn is about that runs by itself: which side it takes hangs on that."""
    return any(type(node) is ir.Name and node.id in f.told for node in _read_by(m, test))


def _read_by(m: Machine, test: ir.Node | None) -> tuple[ir.Node, ...]:
    """The names and attributes that a test reads."""
    found = m.reads.get(id(test))
    if found is None:
        names = [node for node in ir_walk.nodes(test) if isinstance(node, (ir.Name, ir.Attr))]
        found = m.reads[id(test)] = tuple(names)
    return found


def _asks_for_mark(m: Machine, f: Frame, test: ir.Node | None) -> bool:
    """``x == Missing()``: whether something is the mark of another library for what is not there, and may be.

    What follows is for what is no mark: other values that came with this one say nothing about that.
    """
    asked = m.marks.get(id(test))
    if asked is None:
        asked = m.marks[id(test)] = tuple(_comparisons_with_new(test))
    return any(_is_perhaps(m, f, left, mark) for left, mark in asked)


def _comparisons_with_new(test: ir.Node | None) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """What a test compares with an object that it makes for that, and what makes it."""
    for node in ir_walk.nodes(test):
        if type(node) is ir.Compare and node.ops in (["=="], ["!="]):
            made = node.rights[0]
            if type(made) is ir.Call and not made.args:
                yield node.left, made.func


def _is_perhaps(m: Machine, f: Frame, left: ir.Expr, made: ir.Expr) -> bool:
    mark, value = called_by_name(m, f, made), paths.peek(m, f, left)
    if type(mark) is not Ext:
        return False
    return value is UNKNOWN or (type(value) is ExtInst and value.dotted == mark.dotted)


_CERTAIN: Final = {True: Confidence.CERTAIN, False: Confidence.CERTAIN}
GUESSED: Final = {True: Confidence.POSSIBLE, False: Confidence.POSSIBLE}


def doubted(m: Machine, f: Frame, test: ir.Node | None, outcome: bool | None) -> dict[bool, Confidence]:
    """The confidence of findings on each side of a test."""
    if outcome is None and (
        (f.coarse and _asks_for_lost(m, f, test))
        or (f.told and _asks_for_turn(m, f, test))
        or _asks_for_mark(m, f, test)
        or _asks_for_unknown_class(m, f, test)
        or is_open_question(m, f, test)
    ):
        return GUESSED
    side = doubtful(m, f, test) if outcome is None else None
    if side is None and f.confidence is Confidence.CERTAIN:
        return _CERTAIN
    return {s: Confidence.POSSIBLE if s is side else f.confidence for s in (True, False)}


def store(f: Frame, node: ir.Node | None, value: Value) -> None:
    """What is known of the value of a name or a path from now on."""
    if type(node) is ir.Name:
        f.scope.vars[node.id] = value
    elif type(node) is ir.Walrus:
        f.scope.vars[node.target] = value
    else:
        key = paths.path_key(node)
        if key:
            f.scope.vars["$paths"] = NONE
            f.scope.vars[key] = value


def _filter(m: Machine, f: Frame, node: ir.Node | None, keep: Callable[[Value], bool]) -> bool:
    """Keep the alternatives of the expression's value that may pass. Answers whether any is left."""
    value = paths.peek(m, f, node)
    if value is None or value is UNKNOWN:
        return True
    alts = alternatives(value)
    kept = [a for a in alts if keep(a)]
    if kept and len(kept) < len(alts):
        _left(f, node, kept)
    return bool(kept)


def _left(f: Frame, node: ir.Node | None, kept: Sequence[Value]) -> Value:
    """Remember what is left of a value at a name or a path: nothing is known of it if none of what was known is."""
    left = UNKNOWN if not kept else kept[0] if len(kept) == 1 else Union(tuple(kept))
    store(f, node, left)
    return left


def having(m: Machine, f: Frame, node: ir.Node | None, value: Value, name: str) -> Value:
    """What is left of a value whose attribute is read: a container or a constant that has none would have raised, and is
    not there any more. A container with a shape was taken for one by mistake."""
    alts = alternatives(value)
    kept = [alt for alt in alts if type(alt) not in _WITHOUT or has_attribute(m, alt, name) is not False]
    if len(kept) == len(alts) or (not kept and not all(type(alt) in CONTAINERS for alt in alts)):
        return value
    return _left(f, node, kept)


def ordered(f: Frame, node: ir.Node | None, value: Value) -> Value:
    """What is left of a value that something is said to be less than: Python refuses to ask that of None.

    Where it is nothing else, what follows does not run."""
    alts = alternatives(value)
    kept = [alt for alt in alts if alt is not NONE]
    if not kept:
        f.confidence = Confidence.POSSIBLE
    if len(kept) == len(alts):
        return value
    return _left(f, node, kept)


CONTAINERS: Final = frozenset({Map, Seq, Tup})
_WITHOUT: Final = CONTAINERS | {Py}


def narrow(m: Machine, f: Frame, test: ir.Node | None, outcome: bool) -> bool:
    """Assume that a test came out this way: refine variables. Answers whether that is possible at all."""
    if type(test) is ir.UnaryOp and test.op == "not":
        return narrow(m, f, test.operand, not outcome)
    if type(test) is ir.BoolOp:
        if (test.op == "and") is outcome:
            return narrow(m, f, test.left, outcome) and narrow(m, f, test.right, outcome)
        return _narrow_named(m, f, test, outcome)
    if type(test) is ir.Compare and len(test.ops) == 1:
        flags.remember(m, f, test, outcome)
        return _narrow_named(m, f, test, outcome) and _narrow_compare(m, f, test, outcome)
    if type(test) is ir.Call and isinstance(test.func, (ir.Name, ir.Attr)) and test.args:
        return _narrow_call(m, f, test, outcome)
    if isinstance(test, (ir.Name, ir.Attr, ir.Walrus)):
        flags.remember(m, f, test, outcome)
        return _filter(m, f, test, lambda a: truths.static_truth(a) is not (not outcome))
    return True


def _narrow_compare(m: Machine, f: Frame, test: ir.Compare, outcome: bool) -> bool:
    op, right = test.ops[0], test.rights[0]
    positive = op in ("is", "==")
    if type(test.left) is ir.Call and op in ("is", "is not", "==", "!="):
        return _narrow_type(m, f, test.left, right, positive is outcome)
    if op in ("is", "is not") and isinstance(right, (ir.Name, ir.Attr)):
        named = called_by_name(m, f, right)
        return type(named) is not Ext or _filter(
            m, f, test.left, lambda a: same_object(a, named) is not (positive is not outcome)
        )
    if op not in ("is", "is not", "==", "!=") or type(right) is not ir.Const:
        return True
    same = positive is outcome
    if right.kind == "none":
        if same and op in ("==", "!="):
            return True
        return _filter(m, f, test.left, lambda a: _is_none(a) is not (not same))
    if right.kind in ("str", "bool", "int") and right.value is not None:
        const = right.value

        def keep(a: Value) -> bool:
            if type(a) is not Py or a.const is NO_CONST:
                return True
            return (a.const == const) is same

        return _filter(m, f, test.left, keep)
    return True


def _narrow_named(m: Machine, f: Frame, test: ir.Compare | ir.BoolOp, outcome: bool) -> bool:
    """``f.__name__ == "step"``: no function of another name may pass."""
    node, names = _named(test)
    return node is None or _filter(
        m, f, node, lambda a: type(a) is not Func or a.wraps is not None or (a.fn.name in names) is outcome
    )


def _named(test: ir.Node | None) -> tuple[ir.Node | None, frozenset[str]]:
    """Whose name a condition asks for, and which names: ``f.__name__ == "init"``, ``f.__name__ == "a" or f.__name__ == "b"``."""
    if type(test) is ir.BoolOp and test.op == "or":
        (node, one), (again, other) = _named(test.left), _named(test.right)
        known = node is not None and again is not None and ir_walk.same_text(node, again)
        return (node if known else None), one | other
    if type(test) is ir.Compare and test.ops == ["=="]:
        left, right = test.left, test.rights[0]
        if type(left) is ir.Attr and left.name == "__name__" and type(right) is ir.Const:
            return left.obj, frozenset([str(right.value)])
    return None, frozenset()


def _narrow_type(m: Machine, f: Frame, call: ir.Call, right: ir.Node | None, same: bool) -> bool:
    """``type(x) is C``: no value of another kind than C may pass."""
    callee = called_by_name(m, f, call.func) if type(call.func) is ir.Name else None
    if type(callee) is not Ext or callee.dotted != "builtins.type" or len(call.args) != 1 or not same:
        return True
    cls = evaluator.evaluate(m, f, right)
    return _filter(m, f, call.args[0].value, lambda a: isinstance_of(m, a, cls) is not False)


def _is_none(value: Value) -> bool | None:
    t = type(value)
    if type(value) is Py:
        return None if value.kind == "static" else value.kind == "none"
    if t is Tree:
        return None
    return False


def _narrow_call(m: Machine, f: Frame, test: ir.Call, outcome: bool) -> bool:
    func: ir.Node | None = test.func
    value = called_by_name(m, f, func)
    subject = test.args[0].value
    if type(value) is Func:
        guarded = _guarded_classes(m, value) if len(test.args) == 1 else None
        if guarded is None:
            return True
        if outcome:
            _doubt_kind(m, f, subject, guarded)
        return _filter(m, f, subject, lambda a: isinstance_of(m, a, guarded) is not (not outcome))
    if type(value) is not Ext:
        return True
    if value.dotted == "jax.core.is_concrete":
        return _filter(m, f, subject, lambda a: is_concrete(a) is not (not outcome))
    if value.dotted == "builtins.isinstance" and len(test.args) == 2:
        classes = evaluator.evaluate(m, f, test.args[1].value)
        if outcome:
            _specialise(m, f, subject, classes)
            _doubt_kind(m, f, subject, classes)
        return _filter(m, f, subject, lambda a: isinstance_of(m, a, classes) is not (not outcome))
    if value.dotted in lexicon().python.counting_leaves and outcome:
        return _filter(m, f, subject, lambda a: not _is_empty(a))
    if value.dotted == "builtins.callable":
        return _filter(m, f, subject, lambda a: is_callable(a) is not (not outcome))
    if value.dotted == "builtins.hasattr" and len(test.args) == 2 and type(test.args[1].value) is ir.Const:
        name = test.args[1].value.value
        return _filter(m, f, subject, lambda a: has_attribute(m, a, str(name)) is not (not outcome))
    return True


def _is_empty(value: Value) -> bool:
    if type(value) is Tup or type(value) is Seq:
        return value.items is not None and not value.items
    return type(value) is Map and not value.entries and value.rest is None


def _guarded_classes(m: Machine, func: Func) -> Value | None:
    """The classes that a function asks for when all it does is ``return isinstance(x, classes)``, else None."""
    call = only_result(func.fn.body)
    if type(call) is not ir.Call or type(call.func) is not ir.Name or len(call.args) != 2:
        return None
    asked = call.args[0].value
    g = Frame(func.fn.module, func.scope, HOST)
    same = type(asked) is ir.Name and asked.id == func.fn.first
    callee = scopes.lookup(g, call.func.id)
    if not same or type(callee) is not Ext or callee.dotted != "builtins.isinstance":
        return None
    return evaluator.evaluate(m, g, call.args[1].value)


def _specialise(m: Machine, f: Frame, node: ir.Node | None, cls: Value) -> None:
    """``isinstance(x, Sub)`` holds: what nobody knows, or may be any instance of a base class, is one of the subclass."""
    value = paths.peek(m, f, node)
    if type(cls) is not Class:
        return
    if value is UNKNOWN:
        may_be = f.world.level > 0 and not cls.info.cold_running
    else:
        may_be = type(value) is Inst and value.open and isinstance_of(m, value, cls) is None
    made = parameters.instance_of(m, cls.info) if may_be else None
    if made is not None:
        if type(value) is Inst and value.modes:
            made = pytrees.lift(made, value.modes, f.world.level, value.why)
        store(f, node, made)


def _doubt_kind(m: Machine, f: Frame, node: ir.Node | None, classes: Value) -> None:
    """Something is an instance of a class of another library: then it is not the array that it was taken for."""
    value = paths.peek(m, f, node)
    if value is None or value is UNKNOWN or not is_foreign(m, classes):
        return
    alts = alternatives(value)
    if any(type(a) is Arr for a in alts) and not any(isinstance_of(m, a, classes) for a in alts):
        store(f, node, UNKNOWN)


def join_vars(a: dict[str, Value], b: dict[str, Value]) -> dict[str, Value]:
    """Variables after two paths meet. A variable set on one path only keeps that value."""
    if a is b:
        return a
    out = dict(a)
    get = a.get
    for name, value in b.items():
        old = get(name)
        if old is value:
            continue
        if old is not None:
            out[name] = join(old, value)
        elif not name.startswith("path:"):
            out[name] = value
    if "$paths" in a:
        for name in a.keys() - b.keys():
            if name.startswith("path:"):
                del out[name]
    return out


def restore_paths(before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """After a conditional expression: keep assignments made inside, drop what was only narrowed."""
    if after is before:
        return after
    for name, value in before.items():
        if after.get(name) is not value:
            break
    else:
        if len(after) == len(before):
            return before
    out = dict(before)
    for name, value in after.items():
        if (name not in before and not name.startswith("path:")) or name == USES:
            out[name] = value
    return out
