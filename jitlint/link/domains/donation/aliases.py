"""Attributes that are another one of the same object, or a part of it (layer: ``link``, room ``domains``).

``self.target = self.params`` gives one buffer a second name: a method that donates ``self.params`` and hands over ``self.target`` in
the same call gives JAX the same buffer twice. What it does: reads which attributes the methods of a class set to others. What it
does not: speak where anybody else sets the first one, so that they may have been told apart since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Func
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.tables.storing import stored
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir
from jitlint.syntax.children import below


def second_name(
    m: Machine, fn: FuncInfo | None, given: ir.Expr, others: Sequence[ir.Expr], call: ir.Call
) -> str:
    """The attribute that a call hands over besides the one that it donates, and that is the same; "" if none certainly is."""
    owner = fn.values[0].owner if fn is not None and fn.values else None
    donated = _attribute(given)
    if fn is None or owner is None or not donated or not _is_kept(m, fn, owner, donated, call):
        return ""
    names = {name for name in map(_attribute, others) if name and name != donated}
    return next((name for name in sorted(names) if _is_second(m, fn, owner, name, donated, call)), "")


def _is_kept(m: Machine, fn: FuncInfo, owner: ClassInfo, name: str, call: ir.Call) -> bool:
    """Whether an attribute holds arrays, and nobody sets it but constructors and, with what a call gives, the method itself."""
    if not _holds_arrays(list(_methods(owner)), name) or any(_setting(m, fn, owner, name)):
        return False
    before = (part for part in fn.parts if type(part) is ir.Assign and part.at < call.at)
    return not any(_assigns(part, name) and call not in below(part) for part in before)


def _is_second(m: Machine, fn: FuncInfo, owner: ClassInfo, name: str, donated: str, call: ir.Call) -> bool:
    """Whether an attribute is the other one when the method runs: from the beginning, or since another method has run."""
    words = lexicon().buffers.making
    methods = [method for method in _methods(owner) if method is not fn]
    if any(_renames(method, name, donated) for method in methods if method.name not in words):
        return True
    first = [method for method in methods if method.name in words and _sets(method, name, False)]
    if len(first) != 1 or not _renames(first[0], name, donated):
        return False
    return all(_comes_after(m, fn, writer, call) for writer in _setting(m, fn, owner, name))


def _renames(method: FuncInfo, name: str, donated: str) -> bool:
    """Whether a method surely sets one attribute to the other, or a part of it, and leaves both so."""
    own = [part for part in method.parts if type(part) is ir.Assign and _assigns(part, name)]
    if len(own) != 1 or own[0] not in method.body:
        return False
    value: ir.Node | None = own[0].value
    while type(value) is ir.Sub or (type(value) is ir.Attr and type(value.obj) is not ir.Name):
        value = value.obj
    later = (part for part in method.parts if type(part) is ir.Assign and part.at > own[0].at)
    return _attribute(value) == donated and not any(_assigns(part, donated) for part in later)


def _assigns(node: ir.Assign, name: str) -> bool:
    return any(target.name == name for target in stored(node))


def _comes_after(m: Machine, fn: FuncInfo, writer: FuncInfo, call: ir.Call) -> bool:
    """Whether a method runs only when the one that donates has done so: nobody else calls it."""
    callers = m.host_calls.callers.get(writer.id, {})
    called = [part for part in fn.parts if type(part) is ir.Call and last_name(part.func) == writer.name]
    return all(other is fn for _, other in callers) and bool(called) and all(c.at > call.at for c in called)


def _holds_arrays(methods: list[FuncInfo], name: str) -> bool:
    """Whether the state of an optimiser is made for an attribute, or put into what that is: it holds arrays of JAX's."""
    parts = [part for method in methods for part in method.parts]
    states = [
        part for part in parts if type(part) is ir.Call and last_name(part.func) == "init" and part.args
    ]
    made = [part.value for part in parts if type(part) is ir.Assign and _assigns(part, name)]
    given = [arg.value for value in made if type(value) is ir.Call for arg in value.args]
    return any(_attribute(state.args[0].value) == name or state in given for state in states)


def _setting(m: Machine, fn: FuncInfo, owner: ClassInfo, name: str) -> Iterator[FuncInfo]:
    """Who sets an attribute of this name, of objects of a class as far as that is known, besides constructors and one method."""
    for other in m.functions:
        if other is not fn and other.name not in lexicon().buffers.making:
            info = other.values[0].owner if other.values else None
            unlike = info is not None and info not in mro(owner) and owner not in mro(info)
            if _sets(other, name, unlike):
                yield other


def _sets(fn: FuncInfo, name: str, unlike: bool) -> bool:
    """unlike: it is a method of another class, so that what it sets of its own object is no matter."""
    targets = (target for part in fn.parts for target in stored(part) if target.name == name)
    return any(not (unlike and _attribute(target)) for target in targets)


def _methods(owner: ClassInfo) -> Iterator[FuncInfo]:
    """The methods that objects of a class have, with the constructors of its bases."""
    seen: set[str] = set()
    for info in mro(owner):
        for name, value in info.namespace.items():
            if type(value) is Func and (name not in seen or name in lexicon().buffers.making):
                yield value.fn
        seen |= info.namespace.keys()


def _attribute(node: ir.Node | None) -> str:
    """The attribute of ``self`` that an expression is, else ""."""
    own = type(node) is ir.Attr and type(node.obj) is ir.Name and node.obj.id == "self"
    return node.name if own and type(node) is ir.Attr else ""
