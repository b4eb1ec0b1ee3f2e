"""Loaders that begin each pass with the same key (layer: ``link``, room ``domains``).

``def __iter__(self): order = jax.random.permutation(jax.random.key(self.seed), n)``, gone through in each turn of a loop over epochs:
the order of the data is the same in all of them. What it does: looks at the classes whose objects a loop within a loop goes through. What
it does not: speak of what evaluates, of a seed that something sets again, or of keys that anything is folded into.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import KeyReuse
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Inst, Value
from jitlint.link.domains.keys.turns import counts
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, bound_names, last_name, path_text
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import function_of, member
from jitlint.syntax import ir
from jitlint.syntax.children import below

_PASS: Final = "__iter__"
_MAKES: Final = ("__init__", "__post_init__")
_RANDOM: Final = "jax.random."


def gone_through(m: Machine, f: Frame, loop: ir.Node, value: Value) -> None:
    """A loop goes through an object."""
    if type(value) is not Inst or f.world.level or f.module.is_test:
        return
    fn = function_of(member(value.cls, _PASS))
    around = next((one for one in reversed(f.loops) if one is not loop), None)
    if fn is None or not _is_gone_through_again(loop, around):
        return
    names = [f.qualname, value.cls.name, *map(last_name, below(_over(loop)))]
    at, api = _begins_alike(m, fn)
    if at and not any(naming.has_word(name, lexicon().keys.evaluating) for name in names):
        place = Frame(fn.module, fn.module.scope, HOST)
        m.emit(
            place, KeyReuse, at, None, Confidence.LIKELY, (fn.module.name, fn.qualname), api=api, how="passes"
        )


def _over(loop: ir.Node | None) -> list[ir.Expr]:
    """What a loop or a comprehension goes through."""
    if type(loop) is ir.Comp:
        return [part.iter for part in loop.fors]
    return [loop.iter] if type(loop) is ir.For else []


def _is_gone_through_again(loop: ir.Node, around: ir.Node | None) -> bool:
    """Whether each turn of a loop around that counts its turns goes through the same object."""
    over = _over(around)
    if not over or not all(map(counts, over)):
        return False
    body = around.body if type(around) is ir.For else []
    bound = {name for part in below(list(body)) for name in bound_by(part)}
    roots = [path_text(one).partition(".")[0] for one in _over(loop)]
    return all(root and root not in bound for root in roots)


def _begins_alike(m: Machine, fn: FuncInfo) -> tuple[int, str]:
    """Where a method makes an order with a key of a seed that stays as it is, and with what; 0 if it does not."""
    frame = Frame(fn.module, fn.module.scope, HOST, fn)
    calls = [part for part in fn.parts if type(part) is ir.Call]
    made = [call for call in calls if _is_a_seed(m, fn, call)]
    for call in calls if len(made) == 1 else ():
        key = call.args[0].value if call.args else None
        api = paths.dotted(m, frame, call.func)
        if (
            last_name(call.func) in lexicon().keys.pairing
            and api.startswith(_RANDOM)
            and _is_made(fn, key, made[0])
        ):
            return call.at, api
    return 0, ""


def _is_a_seed(m: Machine, fn: FuncInfo, call: ir.Call) -> bool:
    """Whether a call makes a key of a constant, or of an attribute that only a constructor sets."""
    if last_name(call.func) not in lexicon().keys.makers or len(call.args) != 1:
        return False
    seed = call.args[0].value
    if type(seed) is ir.Const:
        return True
    own = fn.first
    if type(seed) is not ir.Attr or path_text(seed.obj) != own:
        return False
    everywhere = (
        part
        for module in m.modules.values()
        for one in module.functions
        if one.name not in _MAKES
        for part in one.parts
    )
    return not any(_sets(part, seed.name) for part in everywhere)


def _sets(node: ir.Node, name: str) -> bool:
    targets = node.targets if type(node) is ir.Assign else [node.target] if type(node) is ir.AugAssign else ()
    return any(type(part) is ir.Attr and part.name == name for part in below(list(targets)))


def _is_made(fn: FuncInfo, key: ir.Node | None, made: ir.Call) -> bool:
    """Whether a key is the one that a call makes, by itself or as the only value of a variable."""
    if type(key) is not ir.Name:
        return key is made
    return [value for part, value in _bindings(fn.parts) if part == key.id] == [made]


def _bindings(parts: Sequence[ir.Node]) -> list[tuple[str, ir.Node]]:
    assigned = [part for part in parts if type(part) is ir.Assign]
    return [(name.id, part.value) for part in assigned for name in bound_names(part.targets)]
