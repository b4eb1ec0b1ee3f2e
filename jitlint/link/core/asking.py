"""Questions whether something is traced (layer: ``link``, room ``core``).

What it does: says of a test that it asks for tracers: itself, by a function that does, or by a variable that holds the
answer. Who asks is prepared for both answers. Where the answer is not known, what stands behind the question is said of
neither: no error may rest on the wrong one. What it does not: answer; `jitlint.link.values.questions.kinds` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import UNKNOWN, Bound, Descr, Ext, Func, Mod, Value, alternatives
from jitlint.link.engine import regions, scopes, surroundings
from jitlint.link.engine.frame import BY_FORM, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import ir_walk
from jitlint.link.values import attributes, paths
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

_DEEP: Final = 3
"""So many functions that call each other are looked through for the question."""


def called_by_name(m: Machine, f: Frame, func: ir.Node | None) -> Value | None:
    """What a test calls: a name or ``module.name``."""
    if type(func) is ir.Name:
        return scopes.lookup(f, func.id)
    if type(func) is not ir.Attr:
        return None
    owner = called_by_name(m, f, func.obj) if isinstance(func.obj, (ir.Name, ir.Attr)) else None
    return (
        attributes.get(m, f, func.at, owner, func.name) if type(owner) is Ext or type(owner) is Mod else None
    )


@dataclass(frozen=True, slots=True)
class _Question:
    """What an expression asks, as far as it is written there. form: which class, dtype or shape something has; about: the names that say of what; chosen: comparisons that may ask which module was chosen."""

    tracing: bool
    form: bool
    about: tuple[str, ...]
    chosen: tuple[ir.Compare, ...]


def is_open_question(m: Machine, f: Frame, test: ir.Node | None) -> bool:
    """Whether a test asks, in a trace, if something is traced, or of which kind a traced value is.

    Which side it takes there, nobody knows who cannot decide it.
    """
    if not f.world.level or test is None:
        return False
    question = _question_of(m, f, test)
    return question is not _NONE and (
        question.tracing
        or _is_about_tracers(f, question.about)
        or any(_asks_for_module(m, f, node) for node in question.chosen)
    )


def told_apart(m: Machine, f: Frame, test: ir.Node | None, outcome: bool | None) -> int:
    """`Frame.dispatched` on a side of a test: an undecided one that asks for the form of a value has sides for other values."""
    if f.dispatched or outcome is not None or test is None:
        return f.dispatched
    return BY_FORM if _question_of(m, f, test).form else 0


def _question_of(m: Machine, f: Frame, test: ir.Node) -> _Question:
    question = m.questions.get(id(test))
    if question is None:
        with regions.prepared(m):  # what is only looked at is not used
            question = m.questions[id(test)] = _question(m, f, test)
    return question


def _question(m: Machine, f: Frame, test: ir.Node) -> _Question:
    about: list[ir.Node] = []
    asked = _asked(m, f, test, _DEEP, about)
    chosen = [node for node in ir_walk.nodes(test) if type(node) is ir.Compare and _may_ask_for_module(node)]
    if asked is None and not chosen:
        return _NONE
    names = {part.id: None for node in about for part in ir_walk.nodes(node) if type(part) is ir.Name}
    return _Question(asked == _TRACING, asked in (_FORM, _KIND), tuple(names), tuple(chosen))


def _asked(m: Machine, f: Frame, node: ir.Node | None, depth: int, about: list[ir.Node]) -> str | None:
    """What an expression asks for: whether something is traced, of which kind something is, or nothing of that.

    about: gets the expressions that say of what.
    """
    parts = list(ir_walk.nodes(node))
    if surroundings.speak_of_tracing(parts):
        return _TRACING
    found = ""
    for part in parts:
        asked: str | None = None
        if type(part) is ir.Call:
            asked = _called(m, f, part, depth)
        elif type(part) is ir.Name:
            asked = _by_name(m, f, part, depth, about)
        elif type(part) is ir.Attr:
            asked = _of_form(part) or _done(m, f, _function(called_by_name(m, f, part)), depth)
        elif type(part) is ir.Lambda or type(part) is ir.FuncDef:
            asked = _done(m, f, f.module.functions[part.function], depth)
        if asked == _TRACING:
            return asked
        if asked == _KIND and node is not None:
            about.append(node)
        found = max(found, asked or "", key=_RANKS.index)
    return found or None


def _called(m: Machine, f: Frame, call: ir.Call, depth: int) -> str | None:
    """What a call asks."""
    if _asks_for_kind(m, f, call):
        return _KIND
    return _done(m, f, _method(f, call.func), depth) or _of_form(call.func)


def _of_form(named: ir.Node | None) -> str | None:
    """`_FORM` if an attribute or a function of this name says of which form a value is."""
    return _FORM if ir_walk.last_name(named) in lexicon().evidence.form_words else None


def _asks_for_kind(m: Machine, f: Frame, call: ir.Call) -> bool:
    """``type(x)``, and ``isinstance`` with numbers or arrays: containers look alike whether they hold tracers or not."""
    name = call.func.id if type(call.func) is ir.Name else ""
    if name == "type":
        return len(call.args) == 1
    if name not in ("isinstance", "issubclass") or len(call.args) != 2:
        return False
    classes = ir_walk.nodes(call.args[1].value)
    return any(ir_walk.last_name(node) in lexicon().evidence.kind_words for node in classes)


def _by_name(m: Machine, f: Frame, name: ir.Name, depth: int, about: list[ir.Node]) -> str | None:
    """What a function of this name asks, or what a variable of this name holds the answer to."""
    asked = _done(m, f, _function(scopes.lookup(f, name.id)), depth)
    if asked is not None or f.fn is None or not depth:
        return asked
    for question in _answers(f.fn).get(name.id, ()):
        asked = asked or _asked(m, f, question, depth - 1, about)
    return asked


def _answers(fn: FuncInfo) -> dict[str, list[ir.Node]]:
    """The variables of a function that are set to answers, with the expressions that may ask."""
    if fn.answers is None:
        fn.answers = {}
        for node in fn.parts:
            question = _asking_part(node.value) if type(node) is ir.Assign else None
            if type(node) is ir.Assign and question is not None:
                for target in ir_walk.bound_names(node.targets):
                    fn.answers.setdefault(target.id, []).append(question)
    return fn.answers


def _asking_part(node: ir.Node | None) -> ir.Node | None:
    """The part of an expression that a variable which is set to it holds the answer to."""
    if type(node) is ir.IfExp:
        return node.test
    return node if isinstance(node, (ir.Call, ir.BoolOp, ir.UnaryOp, ir.Compare, ir.Attr, ir.Sub)) else None


def _is_about_tracers(f: Frame, names: tuple[str, ...]) -> bool:
    """Whether one of these variables holds a tracer, perhaps inside."""
    for name in names:
        value = scopes.lookup(f, name)
        if value is not None and traced_modes(value, 2):
            return True
    return False


def _may_ask_for_module(node: ir.Compare) -> bool:
    """Whether a comparison is with something that may be a module, or the name of one."""
    right = node.rights[0]
    if node.ops in _IDENTICAL:
        return isinstance(right, (ir.Name, ir.Attr))
    named = right.value if type(right) is ir.Const else ir_walk.last_name(right)
    return node.ops in _EQUAL and isinstance(named, str) and named in lexicon().evidence.backends


def _asks_for_module(m: Machine, f: Frame, node: ir.Compare) -> bool:
    """Whether a comparison asks which of NumPy and its twin was chosen: that hangs on what is traced."""
    twins = lexicon().evidence.twins
    chosen, right = alternatives(paths.peek(m, f, node.left) or UNKNOWN), node.rights[0]
    if UNKNOWN in chosen:
        asked = alternatives(paths.peek(m, f, right) or UNKNOWN)
        return type(right) is ir.Const or any(type(alt) is Ext and alt.dotted in twins for alt in asked)
    return {alt.dotted for alt in chosen if type(alt) is Ext} >= twins


def _method(f: Frame, func: ir.Node | None) -> FuncInfo | None:
    """The method that is called on the object at hand."""
    if type(func) is not ir.Attr or type(func.obj) is not ir.Name or f.owner is None:
        return None
    return _function(next((c.namespace[func.name] for c in mro(f.owner) if func.name in c.namespace), None))


def _function(value: Value | None) -> FuncInfo | None:
    while type(value) is Bound or type(value) is Descr:
        value = value.func
    return value.fn if type(value) is Func else None


def _done(m: Machine, f: Frame, fn: FuncInfo | None, depth: int) -> str | None:
    """What a function asks, or one that it calls."""
    if fn is None or fn is f.fn or not depth:
        return None
    if depth not in fn.asks:
        fn.asks[depth] = None  # until it is known: a function that calls itself
        inside = fn.values[0].scope if fn.values else fn.module.scope
        frame = Frame(fn.module, inside, HOST, fn)
        if not _is_long(fn):
            fn.asks[depth] = _asked(m, frame, fn.body, depth - 1, [])  # type: ignore[arg-type]
    return fn.asks[depth]


def _is_long(fn: FuncInfo) -> bool:
    """Whether a function is too long to be one that does nothing but answer."""
    return len(fn.parts) > _LONGEST


_IDENTICAL: Final = (["is"], ["is not"])
_EQUAL: Final = (["=="], ["!="])
_NONE: Final = _Question(False, False, (), ())
_TRACING: Final = "tracing"
_KIND: Final = "kind"
_FORM: Final = "form"
_RANKS: Final = ("", _FORM, _KIND)
_LONGEST: Final = 60
"""Nodes of a function that answers a question, and does nothing else."""
