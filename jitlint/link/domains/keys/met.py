"""Variables of which nothing is known until JAX takes what they hold for a PRNG key (layer: ``link``, room ``domains``).

What it does: names that key, and lets the variable hold it from there on, so that who reads it again is known to have
the same one: ``key = rngs.noise()``, ``key = state.key``, ``key = config.make_key()``. An attribute of a variable counts
as one where the function leaves both as they are. What it does not: name what a call gives on the spot, which is
another key each time, or what an object holds that may advance it.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import UNKNOWN, Arr, ExtInst, Func, Tree, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_names, last_name, whole
from jitlint.link.values.keys import named
from jitlint.syntax import ir


def key(m: Machine, f: Frame, at: int, given: Value | None) -> Value | None:
    """What a call of JAX gets as its key, by a name if a variable holds it. given: what is known of it."""
    array = _as_array(given)
    if array is None:
        return given
    call = m.texts.table(f).calls.get(at)
    first = next((arg.value for arg in call.args if arg.name in (None, "key")), None) if call else None
    if type(first) is ir.Name and f.scope.vars.get(first.id) is given:
        place = first.id
    elif type(first) is ir.Attr and type(first.obj) is ir.Name and _is_steady(f, first.obj.id):
        place = f"${first.obj.id}.{first.name}"
        before = f.scope.vars.get(place)
        if type(before) is Arr and before.key is not None:
            return before
    else:
        return given
    found = f.scope.vars[place] = named(m, array)
    return found


def handed(
    m: Machine, f: Frame, at: int, func: Func, takes: tuple[str, ...], bound: dict[str, Value]
) -> None:
    """A function of the project gets what nobody knew to be a key, and takes it for one: the variable of its caller
    that holds it has that key from there on."""
    needed = [name for name in takes if name not in func.defaults]  # any other may be none
    waiting = [name for name in needed if _as_array(bound.get(name)) is not None]
    if not waiting or f.outer is not None:
        return  # a transform hands on something else than it gets
    for name, node in _arguments(m.texts.table(f).calls.get(at), func):
        array = _as_array(bound.get(name)) if name in waiting else None
        if array is not None and f.scope.vars.get(node.id) is bound[name]:
            bound[name] = f.scope.vars[node.id] = named(m, array)


def _arguments(call: ir.Call | None, func: Func) -> Iterator[tuple[str, ir.Name]]:
    """The parameters of a function that a call gives variables, and these."""
    if call is None or any(arg.star for arg in call.args):
        return
    names = [p.name for p in func.fn.node.params if p.kind in ("pos", "any")]
    names = names[1:] if func.owner is not None and names[:1] == ["self"] else names
    for i, arg in enumerate(call.args):
        if type(arg.value) is ir.Name and (arg.name or i < len(names)):
            yield arg.name or names[i], arg.value


def _as_array(given: Value | None) -> Arr | None:
    """The array that something without a name is if it is a key, None for what has a name, or is none."""
    if given is UNKNOWN or (type(given) is ExtInst and not given.attrs):
        return Arr(0, "key")
    if type(given) is Arr:
        return given if given.key is None and given.dtype in (None, "key") and not given.host else None
    if type(given) is Tree and given.evidence in ("", "array"):
        return Arr(given.modes, "key", None, given.why, given.level, given.traced)
    return None


def _is_steady(f: Frame, owner: str) -> bool:
    """Whether a parameter is left as it is by its function, which hands the object to nobody."""
    if f.fn is None or owner == "self" or all(param.name != owner for param in f.fn.node.params):
        return False
    for node in f.fn.parts:
        targets = _targets(node)
        if any(name.id == owner for name in bound_names(targets)):
            return False
        if any(_is_part(target, owner) for target in targets):
            return False
        if type(node) is ir.Call and _may_change(node, owner):
            return False
    return True


def _targets(node: ir.Node) -> list[ir.Node]:
    """What a statement or a comprehension binds or changes."""
    if isinstance(node, (ir.Assign, ir.Del)):
        return list(node.targets)
    if isinstance(node, (ir.AnnAssign, ir.AugAssign, ir.For)):
        return [node.target]
    if type(node) is ir.Comp:
        return [one.target for one in node.fors]
    return [one.target for one in node.items if one.target is not None] if type(node) is ir.With else []


def _is_part(target: ir.Node, owner: str) -> bool:
    """Whether an assignment changes something in a variable."""
    root = whole(target)
    return root is not target and type(root) is ir.Name and root.id == owner


def _may_change(call: ir.Call, owner: str) -> bool:
    """Whether a call has the object, or is one of its methods, which may change it."""
    func = call.func
    if type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == owner:
        return last_name(func) not in lexicon().keys.replacing
    return any(type(arg.value) is ir.Name and arg.value.id == owner for arg in call.args)
