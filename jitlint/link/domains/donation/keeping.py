"""Objects that hold what they were made of, or what they were given, as it is (layer: ``link``, room ``domains``).

What it does: says under which names and numbers the arguments of a constructor are found afterwards, and which of its arguments a
method keeps until it gets a better one. What it does not: run constructors; what one that is written out sets an attribute to is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Class, Func
from jitlint.link.domains.donation.kept import assigned
from jitlint.link.domains.donation.walker import Walker
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_by, by_parameter, last_name, path_text, whole
from jitlint.link.values.fields import ordered_fields
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir
from jitlint.syntax.children import below

_INIT: Final = "__init__"


def kept(w: Walker, node: ir.Call, name: str | None) -> list[tuple[str, ...]] | None:
    """For each argument of a call the places at which the result holds it; None for what is no such constructor.

    name: the function of a library that is called, if it is one.
    """
    if any(arg.star for arg in node.args):
        return None
    if name in lexicon().buffers.keeping:
        return [(f".{arg.name}",) if arg.name else () for arg in node.args]
    info = _plain_class(w, node.func)
    if info is None:
        return _by_constructor(w, node)
    fields = list(ordered_fields(info))
    numbered = info.shape == "namedtuple"
    out: list[tuple[str, ...]] = []
    for i, arg in enumerate(node.args):
        found = arg.name or (fields[i] if i < len(fields) else "")
        if found not in fields:
            out.append(())
            continue
        out.append((f".{found}", f"[{fields.index(found)}]") if numbered else (f".{found}",))
    return out


def _plain_class(w: Walker, func: ir.Expr) -> ClassInfo | None:
    """The class of the project that a name stands for, if its constructor only fills its fields."""
    info = _class(w, func)
    if info is None or not info.shape:
        return None
    own = any(name in cls.namespace for cls in mro(info) for name in lexicon().buffers.making)
    return None if own else info


def _class(w: Walker, func: ir.Expr) -> ClassInfo | None:
    if type(func) is not ir.Name or (w.fn is not None and func.id in w.fn.node.local_names):
        return None
    value = w.module.scope.vars.get(func.id)
    return value.info if type(value) is Class else None


def _by_constructor(w: Walker, node: ir.Call) -> list[tuple[str, ...]] | None:
    """The same for a class of its own constructor, as far as that sets attributes to what it gets: ``self.average = params``."""
    info = _class(w, node.func)
    init = info.namespace.get(_INIT) if info is not None else None
    if type(init) is not Func or not init.fn.node.params or len(init.fn.node.params) <= len(node.args):
        return None
    _, *params = [param.name for param in init.fn.node.params]
    places = _set_by(init.fn)
    names = [arg.name or params[i] for i, arg in enumerate(node.args)]
    return [places.get(name, ()) for name in names]


def _set_by(init: FuncInfo) -> dict[str, tuple[str, ...]]:
    """The attributes that a constructor sets to each of its parameters, if it never sets that to something else."""
    own = init.first
    rebound = {name for part in init.parts for name in bound_by(part)}
    places: dict[str, tuple[str, ...]] = {}
    for part in init.body:
        if type(part) is not ir.Assign or type(part.value) is not ir.Name or len(part.targets) != 1:
            continue
        target, name = part.targets[0], part.value.id
        if last_name(target) and path_text(target) == f"{own}.{last_name(target)}" and name not in rebound:
            places[name] = (*places.get(name, ()), f".{last_name(target)}")
    return places


def kept_in_objects(w: Walker, body: Sequence[ir.Node]) -> Iterator[tuple[str, str, str]]:
    """The variables with objects that methods in a loop give something to keep, the attribute where that is, and the variable
    that it is a part of."""
    for call in below(list(body)):
        if type(call) is not ir.Call or type(call.func) is not ir.Attr or type(call.func.obj) is not ir.Name:
            continue
        method = _method(w, call.func.obj.id, call.func.name)
        for given, value in by_parameter(call, method.fn.node.params[1:]) if method is not None else ():
            source = whole(value)
            if method is not None and type(source) is ir.Name:
                for attribute in _kept_on_condition(method.fn, given):
                    yield call.func.obj.id, attribute, source.id


def _method(w: Walker, name: str, method: str) -> Func | None:
    """A method of the class that the only object in a variable was made of."""
    made = bound_once.written(w.fn, ir.Name(0, name))
    info = _class(w, made.func) if type(made) is ir.Call else None
    found = info.namespace.get(method) if info is not None else None
    return found if type(found) is Func and found.fn.node.params else None


def _kept_on_condition(fn: FuncInfo, given: str) -> Iterator[str]:
    """The attributes that a method sets to a parameter where a test that it changes itself says so: ``if loss < self.best``."""
    own = f"{fn.first}."
    for node in fn.body:
        if type(node) is not ir.If:
            continue
        set_to = [pair for part in node.body if type(part) is ir.Assign for pair in assigned(part)]
        changed = {path_text(target) for target, _ in set_to}
        if any(path_text(part) in changed for part in below(node.test)):
            for target, value in set_to:
                if path_text(target).startswith(own) and type(value) is ir.Name and value.id == given:
                    yield f".{last_name(target)}"
