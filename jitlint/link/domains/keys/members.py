"""Members of an ensemble that are all made with one seed (layer: ``link``, room ``domains``).

``[init_member(seed) for _ in range(members)]``, where the function makes a key of its seed: each member is a copy of the first. What it
does: looks at what loops that count their turns gather, and reads the function that makes it. What it does not: speak of constructors
with a seed of their own, whose objects may be filled from elsewhere, of functions that measure or evaluate, or of those that may give
something else in each call: they ask the host for numbers or for the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import KeyReuse
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Class, Func
from jitlint.link.domains.keys import turns
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import bound_once, naming
from jitlint.link.tables.ir_walk import bound_by, bound_names, by_parameter, last_name, nodes
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir
from jitlint.syntax.children import below

_APPEND: Final = "append"
_CONSTRUCTOR: Final = "__init__"
_STEADY: Final = (ir.Name, ir.Const, ir.Attr, ir.BinOp, ir.UnaryOp)


def gathered(m: Machine, f: Frame, loop: ir.Node) -> None:
    """A loop goes through something. Record what it gathers, if that is the same in each turn."""
    if f.world.level or f.module.is_test or naming.is_benchmark(f.module.path) or _is_meant(f.qualname):
        return
    for call in _gathered(f, loop):
        made = _maker(m, f, call)
        if made is not None and _is_seeded(m, made, call):
            m.emit(f, KeyReuse, call.at, None, Confidence.LIKELY, api="", how="members")


def _gathered(f: Frame, loop: ir.Node) -> Iterator[ir.Call]:
    """The calls whose results a loop puts together, and whose arguments its turns have in common."""
    found: list[ir.Expr] = []
    turn: set[str] = set()
    if type(loop) is ir.Comp and len(loop.fors) == 1 and loop.kind in ("list", "generator"):
        part = loop.fors[0]
        found = [loop.elt] if turns.counts(part.iter) and not part.ifs else []
        turn = _names([part.target])
    elif type(loop) is ir.For and turns.counts(loop.iter):
        found = list(_appended(f, loop))
        turn = _names([loop.target]).union(*map(bound_by, nodes(loop.body)))
    yield from (call for call in found if type(call) is ir.Call and _is_steady(call, turn))


def _names(targets: list[ir.Expr]) -> set[str]:
    return {name.id for name in bound_names(targets)}


def _is_steady(call: ir.Call, turn: set[str]) -> bool:
    """Whether a call gets nothing that is computed anew, or that a turn binds."""
    given = [part for arg in call.args for part in below(arg.value)]
    named = {part.id for part in below(call) if type(part) is ir.Name}
    return all(isinstance(part, _STEADY) for part in given) and turn.isdisjoint(named)


def _appended(f: Frame, loop: ir.For) -> Iterator[ir.Expr]:
    """What each turn of a loop appends to a list."""
    if any(isinstance(part, (ir.If, ir.Try, ir.Break)) for part in nodes(loop.body)):
        return
    for part in loop.body:
        call = part.value if type(part) is ir.ExprStmt else None
        if type(call) is ir.Call and last_name(call.func) == _APPEND and len(call.args) == 1:
            written = bound_once.written(f.fn, call.args[0].value)
            if isinstance(written, ir.Call):
                yield written


def _maker(m: Machine, f: Frame, call: ir.Call) -> FuncInfo | None:
    """The function of the project that a call runs, or the constructor."""
    value = paths.peek(m, f, call.func)
    method = paths.method(m, f, call.func)[0]
    made = method if method is not None else value
    if type(made) is Class:
        return function_of(member(made.info, _CONSTRUCTOR))
    return made.fn if type(made) is Func and not made.fn.node.is_generator else None


def _is_meant(name: str) -> bool:
    """Whether a name says that something is measured or evaluated, for which the numbers are to be the same."""
    words = lexicon().keys
    return naming.has_word(name.rpartition(".")[2], words.evaluating | words.measuring)


def _is_seeded(m: Machine, made: FuncInfo, call: ir.Call) -> bool:
    """Whether all that a function draws comes from a key that it makes of what it is given, or of a constant."""
    if _is_meant(made.name) or made.node.is_lambda:
        return False
    place = Frame(made.module, made.module.scope, HOST, made)
    given = {param.name for param in made.node.params}.difference(*map(bound_by, made.parts))
    calls = [(part, paths.dotted(m, place, part.func)) for part in made.parts if type(part) is ir.Call]
    if any(dotted.rpartition(".")[0] in lexicon().keys.changing for _, dotted in calls):
        return False
    keys = [call for call, dotted in calls if _makes_key(dotted)]
    if len(keys) != 1:
        return False
    if made.name == _CONSTRUCTOR:
        told = {name for name, _ in by_parameter(call, made.node.params[1:])}
        return _is_seed(keys[0], given & told)
    return _is_seed(keys[0], given) or (len(keys[0].args) == 1 and type(keys[0].args[0].value) is ir.Const)


def _makes_key(dotted: str) -> bool:
    module, _, name = dotted.rpartition(".")
    return module == "jax.random" and name in lexicon().keys.makers


def _is_seed(call: ir.Call, given: set[str]) -> bool:
    """Whether a key is made of what the function is given."""
    seed = call.args[0].value if len(call.args) == 1 else None
    return type(seed) is ir.Name and seed.id in given
