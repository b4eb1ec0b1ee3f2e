"""Regions of code that run under other rules: compile-time evaluation, disabled jit, expected errors (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.places import Place
from jitlint.infer.values import ExtInst, Func, Union, Value
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Catch, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import World
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir


def entered(f: Frame, value: Value, node: ir.Node | None) -> World | None:
    """The world inside ``with value:`` when it differs from the one around. ``node`` is how the value is written."""
    w = f.world
    if type(value) is not ExtInst:
        # a method of a test case whose base class is not known
        func = node.func if type(node) is ir.Call else None
        expected = type(func) is ir.Attr and func.name in lexicon().errors.expecting_methods
        return w.but(excused=True) if expected else None
    if value.dotted in lexicon().compilation.at_compile_time:
        return w.but(here=0)
    if value.dotted == "jax.disable_jit":
        return w.but(eager_jit=True)
    if (
        value.dotted in lexicon().errors.expecting
        or value.dotted.rpartition(".")[2] in lexicon().errors.expecting_methods
    ):
        return w.but(excused=True)
    return None


def guarded(f: Frame, handlers: list[ir.Handler]) -> World:
    """The world of a ``try`` body: one in which tracing errors are expected when a handler names one.

    A function that is told which exception to catch checks that it is raised: nothing is wrong with that.
    """
    told = {param.name for param in f.fn.node.params} if f.fn is not None else set[str]()
    for handler in handlers:
        if handler.type is not None and not told.isdisjoint(names(handler.type)):
            return f.world.but(excused=True)
        if handler.type is not None and any(name in lexicon().errors.tracing for name in names(handler.type)):
            return f.world.but(expected=True)
    return f.world.but(sheltered=True) if any(map(_shelters, handlers)) else f.world


def _shelters(handler: ir.Handler) -> bool:
    """Whether a handler goes on after what JAX says of arrays that do not fit."""
    found = names(handler.type) if handler.type is not None else []
    return not lexicon().errors.of_misfits.isdisjoint(found) and _goes_on(handler)


def _goes_on(handler: ir.Handler) -> bool:
    """Whether a handler does not raise again."""
    return not any(type(statement) is ir.Raise for statement in handler.body)


def never_runs(f: Frame, handler: ir.Handler) -> bool:
    """Whether a handler is one for errors of tracing, and nothing is traced here."""
    found = names(handler.type) if handler.type is not None else []
    return bool(found) and not f.world.level and lexicon().errors.tracing.issuperset(found)


def catching(f: Frame, handlers: list[ir.Handler], body: Sequence[ir.Node]) -> Catch | None:
    """The handler that keeps errors of the ``try`` body from everybody: the last one that does not raise again."""
    for handler in reversed(handlers):
        found = frozenset(names(handler.type)) if handler.type is not None else frozenset({""})
        if found & {"", *lexicon().errors.of_tracers} and _goes_on(handler):
            at = handler.at if handler.type is None else handler.type.at
            ground = f.ground if f.steps else "eager"
            place = Place(f.module.name, at, f.qualname, f.steps, ground, f.confidence)
            meant = not found & {"", *lexicon().errors.everything} and _uses_same(handler.body, body)
            return Catch(place, found, f.world.floor > 0, meant, f.caught, f, body, f.apart)
    return None


def is_for_others(f: Frame, handler: ir.Handler, body: Sequence[ir.Node]) -> bool:
    """Whether a handler goes on with a function that the body tried, which is one of several: who gets there is one that failed."""
    both = _read(body) & _read(handler.body)
    values = [f.scope.vars.get(name) for name in both]
    return any(type(value) is Union and any(type(a) is Func for a in value.alts) for value in values)


def _uses_same(fallback: Sequence[ir.Node], body: Sequence[ir.Node]) -> bool:
    """Whether the fallback computes with what the body computes with: then it is another way to the same answer."""
    return bool(_read(body) & _read(fallback))


def _read(block: Sequence[ir.Node]) -> set[str]:
    """The names that a block reads."""
    parts = [node.value if type(node) is ir.Assign else node for node in block]
    return {part.id for part in surroundings.expressions(parts) if type(part) is ir.Name}


def catches_missing_names(handlers: list[ir.Handler]) -> bool:
    """Whether a ``try`` is prepared for names that this version of a library does not have."""
    missing = lexicon().errors.of_versions
    return any(h.type is None or any(n in missing for n in names(h.type)) for h in handlers)


def names(node: ir.Node | None) -> list[str]:
    """The bare names of the classes that an ``except`` clause lists."""
    if type(node) is ir.Tuple:
        return [name for part in node.elts for name in names(part)]
    if type(node) is ir.Attr:
        return [node.name]
    return [node.id] if type(node) is ir.Name else []


_NOTHING: Final = nullcontext()


def under(m: Machine, test: ir.Node | None, outcome: bool | None) -> AbstractContextManager[None]:
    """What stands under an undecided test that looks at a library's version may use names that other versions lack."""
    return prepared(m) if outcome is None and asks_version(m, test) else _NOTHING


@contextmanager
def prepared(m: Machine) -> Iterator[None]:
    """Code that is prepared for names that this version lacks, or that never runs."""
    m.guards += 1
    try:
        yield
    finally:
        m.guards -= 1


def note_flag(m: Machine, node: ir.Assign) -> None:
    """Remember the variable that keeps the answer to a question about a version."""
    if type(node.value) not in _ANSWERS or m.version_tests.get(id(node.value)) is False:
        return
    target: ir.Node | None = node.targets[0]
    if type(target) is ir.Name and asks_version(m, node.value):
        m.version_flags.add(target.id)


_ANSWERS = (ir.Compare, ir.BoolOp, ir.UnaryOp, ir.Call)


def asks_version(m: Machine, test: ir.Node | None) -> bool:
    """Whether a test looks at a library's version or at what the library has."""
    if type(test) is ir.Name or type(test) is ir.Attr:
        return _asks(test) or last_name(test) in m.version_flags
    found = m.version_tests.get(id(test))
    if found is None:
        found = m.version_tests[id(test)] = _asks(test) or _asks_flag(m, test)
    return found


def _asks_flag(m: Machine, node: ir.Node | None) -> bool:
    if type(node) is ir.UnaryOp:
        return _asks_flag(m, node.operand)
    if type(node) is ir.BoolOp:
        return _asks_flag(m, node.left) or _asks_flag(m, node.right)
    return bool(last_name(node)) and last_name(node) in m.version_flags


def _asks(node: ir.Node | None) -> bool:
    if type(node) is ir.Attr:
        return "version" in node.name.lower() or _asks(node.obj)
    if type(node) is ir.Name:
        return "version" in node.id.lower()
    if type(node) is ir.Compare:
        return _asks(node.left) or any(map(_asks, node.rights))
    if type(node) is ir.Call:
        return _call_asks(node)
    if type(node) is ir.BoolOp:
        return _asks(node.left) or _asks(node.right)
    return type(node) is ir.UnaryOp and _asks(node.operand)


def _call_asks(node: ir.Call) -> bool:
    func = node.func
    if type(func) is ir.Name and func.id in ("hasattr", "isinstance"):
        return func.id == "hasattr"
    return _asks(func) or any(_asks(a.value) for a in node.args)
