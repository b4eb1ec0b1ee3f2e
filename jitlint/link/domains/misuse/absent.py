"""Arguments that may be left out, and are asked for their truth to see whether they were (layer: ``link``, room ``domains``).

``x or default`` means ``default if x is None else x`` for whoever writes it. Of an array that is declared beside None it
means something else: a traced one, and one of several elements, has no truth, and a zero counts as left out. What it
does: reads annotations of parameters and fields, and the places that ask. What it does not: speak of what is bound anew,
of what the function asks for its kind, or where a traced value is known to arrive, which is an error of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import Truth
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import NONE, Arr, Func, Py, Scope, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import parameters
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir

_KINDS: Final = frozenset(
    {"isinstance", "callable", "hasattr", "type", "isscalar", "is_array", "is_concrete"}
)


@dataclass(frozen=True, slots=True)
class Alone:
    """Nothing else is said of the truth at a place."""

    module: str
    at: int

    def holds(self, found: Found) -> bool:
        """Whether no traced value is likely to arrive there."""
        here = (Truth, self.module, self.at)
        return all(
            key[:3] != here or event.place.confidence is Confidence.POSSIBLE for key, event in found.items()
        )


Questions = dict[int, list[tuple[ir.Node, ir.Expr]]]
"""Of functions, by their numbers, the questions in them."""


def look(found: Questions, functions: Iterable[FuncInfo]) -> None:
    """Look through functions, each once."""
    for fn in functions:
        if fn.id not in found and fn.values and not fn.module.is_test:
            found[fn.id] = list(_questions(fn))


def check(m: Machine, found: Questions) -> None:
    """Record those that mean something else than whoever asks."""
    for number in sorted(found):
        fn = m.functions[number]
        for node, asked in found[number]:
            if _may_be_left_out(m, fn, asked):
                info = fn.module
                frame = Frame(info, info.scope, HOST, ground="jit")
                place, when = (info.name, fn.qualname), (Alone(info.name, node.at),)
                m.emit(frame, Truth, node.at, None, Confidence.LIKELY, place, when, form="left-out")


def _questions(fn: FuncInfo) -> Iterator[tuple[ir.Node, ir.Expr]]:
    """Where the truth of something decides which value is taken: ``x or y``, ``x if x else y``."""
    for node in fn.parts:
        if type(node) is ir.BoolOp and node.op == "or":
            yield node, node.left
        elif type(node) is ir.IfExp and _path(node.test) and _path(node.test) == _path(node.body):
            yield node, node.test


def _path(node: ir.Node | None) -> str:
    """A name, or an attribute of ``self``, "" for anything else."""
    if type(node) is ir.Name:
        return node.id
    own = type(node) is ir.Attr and type(node.obj) is ir.Name and node.obj.id == "self"
    return f"self.{last_name(node)}" if own else ""


def _may_be_left_out(m: Machine, fn: FuncInfo, asked: ir.Expr) -> bool:
    func = fn.values[0]
    if not _path(asked) or _is_settled(fn, asked):
        return False
    if type(asked) is ir.Name:
        owner = _owner(func, asked.id)
        if owner is None or _is_settled(owner.fn, asked):
            return False
        param = next(p for p in owner.fn.node.params if p.name == asked.id)
        left_out = type(param.default) is ir.Const and param.default.kind == "none"
        return _says(m, owner.scope, param.annotation, left_out)
    name = last_name(asked)
    cls = next((cls for cls in mro(func.owner) if name in cls.fields), None) if func.owner else None
    return cls is not None and _says(m, cls.scope, cls.fields[name][0], False)


def _owner(func: Func, name: str) -> Func | None:
    """The function whose parameter a name is: the one at hand, or one around it."""
    own = func.fn.node
    if any(p.name == name for p in own.params):
        return func
    around = func.scope.fn
    if name in own.local_names or around is None or not around.values:
        return None
    return _owner(around.values[0], name)


def _says(m: Machine, scope: Scope, annotation: ir.Node | None, left_out: bool) -> bool:
    """Whether an annotation allows arrays of JAX, perhaps numbers, and None."""
    value = parameters.value_of(m, scope, annotation) if annotation is not None else None
    alts = alternatives(value) if value is not None else ()
    arrays = [alt for alt in alts if type(alt) is Arr and not alt.host]
    rest = [alt for alt in alts if type(alt) is not Arr]
    return bool(arrays) and all(type(alt) is Py for alt in rest) and (left_out or NONE in rest)


def _is_settled(fn: FuncInfo, asked: ir.Expr) -> bool:
    """Whether a function asks of which kind something is, or binds it anew otherwise than by such a question."""
    path = _path(asked)
    return any(_settles(node, path) for node in fn.parts)


def _settles(node: ir.Node, path: str) -> bool:
    if type(node) is ir.Call:
        return last_name(node.func) in _KINDS and any(_path(arg.value) == path for arg in node.args)
    if type(node) is not ir.Assign or isinstance(node.value, (ir.BoolOp, ir.IfExp)):
        return False
    return any(_path(target) == path for target in node.targets)
