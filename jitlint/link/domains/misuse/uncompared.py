"""Fields that a static argument is not compared by, and that compiled code reads (layer: ``link``, room ``domains``).

`jax.jit` looks for what it has compiled by the hash of a static argument, and by ``==``: objects that differ only in a field
with ``compare=False``, or in one that neither method of the class mentions, are one to it. What it does: finds such fields whose numbers
a trace reads, or by whose texts it chooses, where the program gives them a value of their own. What it does not: speak of other texts,
which are labels, or of functions, which may have no better way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import Arr, ExtInst, Inst, Py, S, Value
from jitlint.link.engine.domain import Load, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables.ir_walk import class_at, last_name, written_at
from jitlint.link.tables.storing import kept_as_given
from jitlint.link.values.pytrees import NUMBERS
from jitlint.link.values.questions.kinds import function_of, member, mro
from jitlint.link.values.questions.signatures import signature, static_names
from jitlint.syntax import ir

_COMPARES: Final = frozenset({"hash", "isinstance", "type", "tuple", "array_equal", "issubclass"})
"""Calls that look at no more of an object than what they are given."""
_WHOLE: Final = frozenset({"__dict__", "__slots__"})
_OF_CLASS: Final = frozenset({"__class__", "__name__", "__qualname__"})


class Uncompared:
    """Of a session. static: classes of static arguments, by number, with what compiles for them. read: what a trace has read of
    them."""

    __slots__ = ("read", "static")

    def __init__(self) -> None:
        self.static: dict[int, str] = {}
        self.read: dict[tuple[int, str], tuple[ClassInfo, str, Step]] = {}

    def arrived(self, transformed: Transformed) -> None:
        """A compiled function gets its arguments."""
        x, args = transformed.x, transformed.args
        if not x.spec.static_hash or not any(map(_has_more, (*args.pos, *args.kw.values()))):
            return  # nearly all calls
        sig = signature(x.target, claimed=True)
        if sig is None:
            return
        nums, names, _ = static_names(x, sig)
        by_place = zip_longest((param.name for param in sig.positional), args.pos)
        given = [value for i, (name, value) in enumerate(by_place) if i in nums or name in names]
        for value in (*given, *(value for name, value in args.kw.items() if name in names)):
            if type(value) is Inst and _has_more(value):
                self.static[value.cls.id] = x.spec.name

    def loaded(self, f: Frame, load: Load) -> None:
        """A trace reads an attribute."""
        owner, name = load.owner, load.key
        if type(owner) is not Inst or owner.cls.id not in self.static or not f.world.here & S:
            return
        for cls, field in _left_out(owner.cls):
            if field == name and (_is_number(load.value) or _chooses(f, load)):
                step = Step(f.module.name, load.at, "compiled code has read it here")
                self.read.setdefault((cls.id, field), (cls, self.static[owner.cls.id], step))

    def check(self, m: Machine) -> None:
        """Record the fields of which the program makes objects with other values."""
        for (_, name), (cls, api, step) in self.read.items():
            at = written_at(cls.module.tree.body, cls.qualname, name) or _set_at(cls, name)
            if at and _is_given(m, cls, name):
                frame = Frame(cls.module, cls.module.scope, HOST, ground="jit")
                m.emit(
                    frame, TransformMisuse, at, None, Confidence.LIKELY, (cls.module.name, cls.qualname),
                    transform=api, problem="uncompared-field", parameter=name, detail=cls.name, also=(step,),
                )  # fmt: skip


def _set_at(cls: ClassInfo, name: str) -> int:
    """Where the constructor of a class sets an attribute to what it is given, 0 if it does not."""
    init = function_of(member(cls, "__init__"))
    kept = kept_as_given(init.node.params, init.parts) if init is not None else ()
    return next((place.at for place, _ in kept if place.name == name), 0)


def _has_more(value: Value) -> bool:
    """Whether ``==`` does not look at all fields of an object."""
    return type(value) is Inst and next(_left_out(value.cls), None) is not None


def _left_out(info: ClassInfo) -> Iterator[tuple[ClassInfo, str]]:
    """The fields of a class, with the class that declares each, that ``==`` leaves out."""
    if info.extern:
        return
    compared = function_of(member(info, "__eq__"))
    if compared is not None:
        yield from _unmentioned(info, compared)
        return
    for cls in mro(info) if info.shape == "dataclass" else ():
        for name, (_, default) in cls.fields.items():
            compare = default.attrs.get("compare") if type(default) is ExtInst else None
            if type(compare) is Py and compare.const is False:
                yield cls, name


def _unmentioned(info: ClassInfo, compared: FuncInfo) -> Iterator[tuple[ClassInfo, str]]:
    """What a constructor stores of its parameters, or a class declares, and the methods that compare its objects do not mention."""
    hashed, init = (function_of(member(info, name)) for name in ("__hash__", "__init__"))
    said = _mentioned(info, [compared, hashed]) if hashed is not None else frozenset()
    if not said:
        return
    if init is not None:
        stored = [(info, kept.name) for kept, _ in kept_as_given(init.node.params, init.parts)]
    else:
        stored = [(cls, name) for cls in mro(info) if cls.shape == "dataclass" for name in cls.fields]
    yield from ((cls, name) for cls, name in stored if name not in said)


def _attributes(methods: Sequence[FuncInfo]) -> set[str]:
    return {part.name for fn in methods for part in fn.parts if type(part) is ir.Attr}


def _mentioned(info: ClassInfo, methods: list[FuncInfo]) -> frozenset[str]:
    """The attributes in methods, and in others of the class that these name; none where something else may look at more."""
    seen = list[FuncInfo]()
    said = set[str]()
    while methods:
        seen += methods
        said |= _attributes(methods)
        named = (function_of(member(info, name)) for name in said)
        methods = list({fn.id: fn for fn in named if fn is not None and fn not in seen}.values())
    names = {fn.name for fn in seen}
    calls = {last_name(part.func) for fn in seen for part in fn.parts if type(part) is ir.Call}
    known = calls <= _COMPARES | names and said.isdisjoint(_WHOLE) and not said <= names | _OF_CLASS
    return frozenset(said) if known else frozenset()


def _is_number(value: Value) -> bool:
    return type(value) is Arr or (type(value) is Py and value.kind in (*NUMBERS, "static"))


def _chooses(f: Frame, load: Load) -> bool:
    """Whether something is looked up by a text, or it is compared with another."""
    if type(load.value) is not Py or load.value.kind != "str" or f.fn is None:
        return False
    asked = (operand for node in f.fn.parts for operand in _operands(node) if type(operand) is ir.Attr)
    return any(operand.at == load.at for operand in asked)


def _operands(node: ir.Node) -> Sequence[ir.Node]:
    """What an expression chooses by."""
    if type(node) is ir.Sub:
        return [node.index]
    if type(node) is ir.Match:
        return [node.subject]
    return [node.left, *node.rights] if type(node) is ir.Compare else ()


def _is_given(m: Machine, cls: ClassInfo, name: str) -> bool:
    """Whether somebody makes an object, or another one of it, with a value for a field, or objects with several that are written out."""
    code = (
        node for module in m.modules.values() if not module.is_test for part in module.code() for node in part
    )
    written = set[object]()
    for node in code:
        if _is_among(node, name):
            return True
        if type(node) is ir.Call and last_name(node.func) in (cls.name, "replace"):
            given = _written(node, cls, name)
            if any(type(value) is not ir.Const for value in given):
                return True
            written.update(value.value for value in given if type(value) is ir.Const)
    return len(written) > 1


def _written(call: ir.Call, cls: ClassInfo, name: str) -> list[ir.Node]:
    """What a call says that a field is to be; its default where it says nothing, and that is written out."""
    given = list(_given(call, cls, name))
    made = last_name(call.func) == cls.name and not any(arg.star for arg in call.args)
    default = _default(cls, name) if made and not given else None
    return [default] if type(default) is ir.Const else given


def _default(cls: ClassInfo, name: str) -> ir.Node | None:
    """What a field is that nobody gives: ``activation: str = field(default="relu", compare=False)``."""
    body = class_at(cls.module.tree.body, cls.qualname)
    fields = [part for part in body.body if type(part) is ir.AnnAssign] if body is not None else []
    value = next((part.value for part in fields if last_name(part.target) == name), None)
    if type(value) is ir.Call:
        return next((arg.value for arg in value.args if arg.name == "default"), None)
    return value


def _given(call: ir.Call, cls: ClassInfo, name: str) -> Iterator[ir.Node]:
    """What a call says that a field is to be: ``**{name: value}`` may say it of any."""
    init = function_of(member(cls, "__init__"))
    names = [param.name for param in init.node.params[1:]] if init is not None else list(cls.fields)
    places = names if last_name(call.func) == cls.name else []
    for i, arg in enumerate(call.args):
        if arg.star:
            found = type(arg.value) is ir.Dict and bool(arg.value.keys) and _is_any(arg.value)
        else:
            found = (arg.name or "".join(places[i : i + 1])) == name
        if found:
            yield arg.value


def _is_any(spread: ir.Dict) -> bool:
    return all(type(key) is ir.Name for key in spread.keys)


def _is_among(node: ir.Node, name: str) -> bool:
    """Whether a dict that is written out has a value for a field, with which ``replace(x, **changes)`` is told."""
    return type(node) is ir.Dict and any(type(key) is ir.Const and key.value == name for key in node.keys)
