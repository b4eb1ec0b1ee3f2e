"""Keys that a module is made with, and draws from whenever it is called (layer: ``link``, room ``domains``).

What it does: looks at the classes whose objects are kept and called again and again, such as those of `flax.nnx` and
Equinox. A key that only their constructor stores, and from which a call draws as many numbers as its argument has,
gives every argument the same noise:

    self.key = nnx.Variable(rngs.noise())                             # in `__init__`
    return x + jax.random.normal(self.key[...], x.shape)              # in `__call__`

What it does not: speak where the program may store another key, where the numbers do not go with what the call is given
(weights that are drawn again and are to be the same), or of objects that are called where they are made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Optional

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import KeyReuse
from jitlint.infer.program import ClassInfo, FuncInfo, ModuleInfo
from jitlint.infer.values import Descr, Ext, Func
from jitlint.link.domains.keys import parameters as key_parameters
from jitlint.link.domains.keys.ledger import RANDOM, Ledger
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_names, last_name, nodes
from jitlint.link.values.questions.kinds import member, mro
from jitlint.syntax import ir

_CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__"})
_CALLED: Final = "__call__"
_VALUES: Final = frozenset({"value", "raw_value"})
_GETTER: Final = "get_value"
"""How the array is read that a variable of a module holds."""


@dataclass(slots=True)
class _Draw:
    """A draw from a key that an object keeps. name: the attribute. api: what draws. uses: where the method uses the key."""

    info: ClassInfo
    fn: FuncInfo
    at: int
    name: str
    api: str
    uses: tuple[int, ...]


def check(k: Ledger) -> None:
    """Record the draws from keys that are stored once and used at every call."""
    m = k.m
    found = [draw for info in m.classes for draw in _draws_of(m, info)]
    if not found:
        return
    makings = _Makings({draw.info.name for draw in found})
    changed: set[tuple[str, str]] = set()
    for fn in m.functions:
        changed |= _changed(fn.module, fn.qualname, fn.body)
        makings.look(fn.body)
    for module in m.modules.values():
        changed |= _changed(module, "", module.tree.body)
        makings.look(module.tree.body)
    told: set[tuple[str, int]] = set()
    for draw in found:
        place = (draw.fn.module.name, draw.at)
        owners = {"", *_related(m, draw.info)}
        if place in told or draw.info.name in makings.passing - makings.lasting:
            continue
        if any(name == draw.name and owner in owners for owner, name in changed):
            continue
        told.add(place)
        k.stored.update((place[0], at) for at in draw.uses)
        info = draw.fn.module
        frame = Frame(info, info.scope, HOST, ground="jit")
        where = (info.name, draw.fn.qualname)
        m.emit(frame, KeyReuse, draw.at, None, Confidence.LIKELY, where, api=draw.api, how="calls", also=())


def _related(m: Machine, info: ClassInfo) -> set[str]:
    """The names of a class, its bases and all that derive from it: of whom a method may have such an object."""
    return {c.qualname for c in m.classes if info in mro(c)} | {c.qualname for c in mro(info)}


def _draws_of(m: Machine, info: ClassInfo) -> list[_Draw]:
    if info.module.is_test or info.role not in lexicon().keys.lasting_roles or _is_kept(info.name):
        return []
    called = info.namespace.get(_CALLED)
    if type(called) is not Func:
        return []
    out: list[_Draw] = []
    for fn in _reached(info, called.fn):
        body = _Body(fn)
        for node in body.calls:
            api = _draw(m, fn, node)
            name = body.key_of(node.args[0].value) if api else ""
            if name and not _is_kept(name) and _stores(info, name) and body.goes_with_argument(node):
                out.append(_Draw(info, fn, node.at, name, api, body.uses_of(name)))
    return out


def _is_kept(name: str) -> bool:
    """Whether a name says that what it names is to stay the same."""
    words = lexicon().keys
    return naming.has_word(name, words.kept) or naming.has_word(name, words.evaluating)


def _reached(info: ClassInfo, first: FuncInfo) -> list[FuncInfo]:
    """A method and the methods of the same object that it calls."""
    found = [first]
    for fn in found:
        for node in fn.parts:
            name = last_name(node.func) if type(node) is ir.Call and _is_own(node.func) else ""
            method = member(info, name)
            if type(method) is Func and all(method.fn is not one for one in found):
                found.append(method.fn)
    return found


def _is_own(node: ir.Node | None) -> bool:
    return type(node) is ir.Attr and type(node.obj) is ir.Name and node.obj.id == "self"


def _draw(m: Machine, fn: FuncInfo, node: ir.Call) -> str:
    """The function of JAX that draws numbers in a call, "" for any other call, and for an order that is kept."""
    if not node.args or node.args[0].name not in (None, "key") or any(a.star for a in node.args):
        return ""
    callee = key_parameters.resolve(m, fn, node.func)
    words = lexicon().keys
    if type(callee) is not Ext or not callee.dotted.startswith(RANDOM):
        return ""
    short = callee.dotted[len(RANDOM) :]
    known = m.catalogue.function(callee.dotted) is not None
    return callee.dotted if known and short not in words.harmless | words.pairing | {"split"} else ""


def _stores(info: ClassInfo, name: str) -> bool:
    """Whether the objects of a class get an attribute when they are made, and it is no property."""
    if any(type(c.namespace.get(name)) in (Descr, Func) for c in mro(info)):
        return False
    for cls in mro(info):
        init = next((cls.namespace[one] for one in sorted(_CONSTRUCTORS) if one in cls.namespace), None)
        if name in cls.fields and cls.shape:
            return True
        if type(init) is Func and any(target.name == name for target in _set_by(init.fn)):
            return True
    return False


def _set_by(fn: FuncInfo) -> Iterator[ir.Attr]:
    """The attributes of ``self`` that a constructor sets, each at a statement that every object comes by."""
    for node in fn.body:
        for target in _targets(node):
            if type(target) is ir.Attr and _is_own(target):
                yield target


def _targets(node: ir.Node) -> list[ir.Expr]:
    if type(node) is ir.Assign:
        return [t for target in node.targets for t in _flat(target)]
    return [node.target] if isinstance(node, (ir.AnnAssign, ir.AugAssign)) else []


def _flat(target: ir.Expr) -> list[ir.Expr]:
    if isinstance(target, (ir.Tuple, ir.List)):
        return [t for elt in target.elts for t in _flat(elt)]
    return [target]


class _Body:
    """What a method does with keys of its object, and with what it is given."""

    __slots__ = ("calls", "from_arguments", "held", "shapes")

    def __init__(self, fn: FuncInfo) -> None:
        parts = fn.parts
        self.calls = [n for n in parts if type(n) is ir.Call]
        params = {p.name for p in fn.node.params} - {"self"}
        self.shapes: set[str] = set()
        self.from_arguments = set(params)
        self.held: dict[str, str] = {}
        for node in sorted((n for n in parts if type(n) is ir.Assign), key=lambda n: n.at):
            self._assigned(node)

    def _assigned(self, node: ir.Assign) -> None:
        names = {name.id for name in bound_names(node.targets)}
        held = self._made_of(node.value)
        for name in names & self.held.keys():
            del self.held[name]
        if held:
            self.held.update(dict.fromkeys(names, held))
        elif self._is_shape(node.value):
            self.shapes |= names
        elif self.from_arguments & {n.id for n in nodes(node.value) if type(n) is ir.Name}:
            self.from_arguments |= names

    def _made_of(self, node: ir.Node) -> str:
        """The attribute that a variable is given, or the children of the key in it."""
        if type(node) is ir.Call and last_name(node.func) == "split" and node.args:
            return self.key_of(node.args[0].value)
        return self.key_of(node)

    def key_of(self, node: ir.Node) -> str:
        """The attribute in which the key is kept that an expression reads, "" for any other."""
        if type(node) is ir.Name:
            return self.held.get(node.id, "")
        if type(node) is ir.Call and type(node.func) is ir.Attr and node.func.name == _GETTER:
            node = node.func.obj
        elif type(node) is ir.Attr and node.name in _VALUES:
            node = node.obj
        elif type(node) is ir.Sub:
            if type(node.obj) is ir.Name and type(node.index) is ir.Const:
                return self.held.get(node.obj.id, "")
            node = node.obj if type(node.index) is ir.Const else node
        return node.name if type(node) is ir.Attr and _is_own(node) else ""

    def uses_of(self, name: str) -> tuple[int, ...]:
        """The calls that get the key of an attribute, or a child of it."""
        return tuple([n.at for n in self.calls if n.args and self.key_of(n.args[0].value) == name])

    def goes_with_argument(self, node: ir.Call) -> bool:
        """Whether a draw gives as many numbers as an argument of the method has."""
        return any(map(self._is_shape, (arg.value for arg in node.args[1:])))

    def _is_shape(self, node: Optional[ir.Node]) -> bool:
        if type(node) is ir.Name:
            return node.id in self.shapes
        return (
            type(node) is ir.Attr
            and node.name == "shape"
            and type(node.obj) is ir.Name
            and node.obj.id in self.from_arguments
        )


def _changed(module: ModuleInfo, qualname: str, code: Sequence[ir.Stmt]) -> set[tuple[str, str]]:
    """The attributes that a function may give another value, each with the class whose method does so to its own
    object, "" for any other object."""
    own, _, method = qualname.rpartition(".")
    out: set[tuple[str, str]] = set()
    for node in nodes(list(code)):
        if isinstance(node, (ir.Assign, ir.AnnAssign, ir.AugAssign)):
            for target in filter(None, map(_attribute, _targets(node))):
                mine = _is_own(target)
                if not (mine and method in _CONSTRUCTORS):
                    out.add((own if mine else "", target.name))
        elif type(node) is ir.Call:
            out |= _changed_by(module, node, own)
    return out


def _attribute(node: ir.Node) -> ir.Attr | None:
    """The attribute that an assignment changes, or a part of it."""
    while (type(node) is ir.Attr and node.name in _VALUES) or type(node) is ir.Sub:
        node = node.obj
    return node if type(node) is ir.Attr else None


def _changed_by(module: ModuleInfo, node: ir.Call, own: str) -> set[tuple[str, str]]:
    """The attributes that a call may change: it has a method of their own, or makes a copy with others."""
    func = node.func
    if type(func) is ir.Attr and type(func.obj) is ir.Attr and func.name != _GETTER:
        return {(own if _is_own(func.obj) else "", func.obj.name)}
    if last_name(func) in lexicon().keys.replacing:
        return {("", name) for name in _replaced(module, node)}
    if last_name(func) == "setattr" and len(node.args) > 1:
        name = node.args[1].value
        return {("", str(name.value))} if type(name) is ir.Const else set()
    return set()


def _replaced(module: ModuleInfo, node: ir.Call) -> set[str]:
    """The attributes that a call names, in which a copy differs: ``replace(o, key=key)``, ``tree_at(lambda o: o.key, o, key)``."""
    named = {arg.name for arg in node.args if arg.name}
    for part in nodes([arg.value for arg in node.args]):
        if type(part) is ir.Lambda:
            body = module.functions[part.function].body
            named |= {n.name for n in nodes(body) if type(n) is ir.Attr}
    return named


class _Makings:
    """Where objects of some classes are made. passing: classes with an object that is called once where it is made, with
    a key of its own each time. lasting: those with an object that goes on."""

    __slots__ = ("lasting", "names", "passing")

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.passing: set[str] = set()
        self.lasting: set[str] = set()

    def look(self, code: Sequence[ir.Stmt]) -> None:
        """Look at the code of a function, or of a module."""
        made = [n for n in nodes(list(code)) if type(n) is ir.Call and last_name(n.func) in self.names]
        if not made:
            return
        parts = list(nodes(list(code)))
        turns = {id(n) for loop in parts for n in nodes(_turn(loop))}
        for node in made:
            at_once: list[ir.Node] = [n for n in parts if type(n) is ir.Call and n.func is node]
            once = at_once or _only_call(parts, node)
            passes = len(once) == 1 and (id(once[0]) not in turns or id(node) in turns)
            (self.passing if passes else self.lasting).add(last_name(node.func))


def _turn(loop: ir.Node) -> list[ir.Node]:
    """What a loop or a comprehension does in every turn."""
    if type(loop) is ir.Comp:
        return [loop.elt, *([] if loop.value is None else [loop.value])]
    return list(loop.body) if isinstance(loop, (ir.For, ir.While)) else []


def _only_call(parts: list[ir.Node], made: ir.Call) -> list[ir.Node]:
    """The call of the variable that holds what is made, if nothing else is done with it."""
    held = [n.targets[0] for n in parts if type(n) is ir.Assign and n.value is made]
    if not held or type(held[0]) is not ir.Name:
        return []
    name = held[0].id
    uses = [n for n in parts if type(n) is ir.Name and n.id == name and n is not held[0]]
    return [n for n in parts if type(n) is ir.Call and n.func is uses[0]] if len(uses) == 1 else []
