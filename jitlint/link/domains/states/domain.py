"""States whose dtypes change when they are renewed (layer: ``link``, room ``domains``).

What it does: remembers of every function that returns an object of one of the program's pytree classes what dtypes its
fields have, and compares the first state, made where none was given, with those that are made of an older one. What it
does not: look at fields of which the dtype is not known for certain on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Optional, Union

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import differ, exact_of, is_weak, kind_of, of_number, shown
from jitlint.infer.events import DriftingState
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import NO_CONST, UNKNOWN, Arr, Class, Func, Inst, Py, S, Tup, Value, alternatives
from jitlint.link.domains.states import counts, renewed
from jitlint.link.engine.domain import Activation, Domain, Transformed
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.values import flattening, parameters
from jitlint.syntax import ir


class Made(NamedTuple):
    """One field of a state that a function returns: its exact dtype, and where the state was made. only: there is no other field."""

    cls: ClassInfo
    maker: FuncInfo
    frame: Frame
    at: int
    exact: str
    only: bool


State = Union[Inst, Tup]
Place = tuple[Frame, int]
_MADE: Final = Slot[dict[int, tuple[State, Place]]]()
"""The objects that an activation, or one that it called, has made, by identity, with where that was."""
_ENTRY: Final = Slot[dict[str, Value]]()
"""What an activation was given: its parameters may hold something else by its end."""
Places = tuple[Optional[Place], ...]
"""Where the objects that a function returns were made, None for those that it did not make."""
_Fields = dict[tuple[int, str, str, str], list[Made]]
"""By class and field, what the functions of a module that belong together gave."""
_MOST: Final = 3
"""So many fields are named."""


class States(Domain[Places]):
    """Follows what functions make of a class: for the first time, or out of an object of that class."""

    keeps = frozenset({_MADE})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._first: _Fields = {}
        self._renewed: _Fields = {}
        self._outside: set[tuple[int, int | None]] = set()
        self._root: FuncInfo | None = None
        self._alone: set[tuple[int, int, FuncInfo | None]] = set()
        self._inside: set[tuple[int, int]] = set()
        self._attributes: dict[int, set[tuple[str, str]]] = {}

    def on_root(self, fn: FuncInfo | None) -> None:
        """What runs from here on may be called by nobody."""
        self._root = fn

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """An object is made, with new contents perhaps."""
        if isinstance(value, (Inst, Tup)):
            _remember(f, value, (f, at))

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """Host code hands states to what is compiled."""
        self._crosses(f, transformed, [*transformed.args.pos, *transformed.args.kw.values()], None)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """What is compiled gives host code a state."""
        target = transformed.x.target
        if type(target) is Func:
            self._crosses(f, transformed, [result], target.fn.id)
        renewed.check(self.m, f, transformed, result)

    def _crosses(self, f: Frame, transformed: Transformed, values: list[Value], maker: int | None) -> None:
        if not f.world.level and transformed.inner.world.here & S:
            self._outside |= {(cls.id, maker) for value in values for _, cls, _ in _returned(value)}

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """What it is given now may be gone when it returns."""
        _ENTRY.put(inner, dict(inner.scope.vars))

    def summarise(self, inner: Frame, activation: Activation) -> Places | None:
        """Where the objects that it returns were made."""
        made = _MADE.of(inner)
        if made is None:
            return None
        found = [made.get(id(value)) for value, _, _ in _returned(activation.value)]
        return tuple([None if entry is None else entry[1] for entry in found])

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """A function gives its caller a state."""
        places = self.summarise(inner, activation)
        if places:
            self._take(f, activation, places, _ENTRY.of(inner) or {})

    def replay(self, f: Frame, activation: Activation, summary: Places) -> None:
        """It gives another caller one like that."""
        self._take(f, activation, summary, activation.bound)

    def _take(self, f: Frame, activation: Activation, places: Places, entry: dict[str, Value]) -> None:
        for (value, cls, outer), place in zip(_returned(activation.value), places):
            if place is not None:
                _remember(f, value, place)
                fn = activation.func.fn
                if f.world.here & S:
                    self._inside.add((cls.id, fn.id))
                elif fn is not self._root:
                    self._alone.add((cls.id, fn.id, self._root))
                self._note(value, outer, place, activation.func, entry)

    def _note(self, value: State, outer: State, place: Place, func: Func, entry: dict[str, Value]) -> None:
        fn, cls, whole = func.fn, value.cls, outer.cls
        if cls is None or whole is None:
            return
        given = self._given(whole, func, entry)
        older = [part for state in given or () for part, own, _ in _returned(state) if own is cls]
        told = {name: exact for state in older for name, exact in _exact_fields(state)}
        together = fn.module.name, fn.qualname.rpartition(".")[0]
        lent, only = _weak_among(entry), len(_fields(value)) == 1
        for name, exact in self._told(value, place, cls):
            # it may have that type because this caller gave a state that has it, or a number
            if (name not in told or _drifts(told[name], exact)) and not (lent and is_weak(exact)):
                kept = self._first if given is None else self._renewed
                _keep(kept.setdefault((cls.id, name, *together), []), Made(cls, fn, *place, exact, only))

    def _told(self, value: State, place: Place, cls: ClassInfo) -> Iterator[tuple[str, str]]:
        """The fields of an object whose exact dtype is known, or told by the call that made it."""
        yield from _exact_fields(value)
        open_fields = {
            name for name, v in _fields(value) if type(v) is Py and v.kind == "int" and v.const is NO_CONST
        }
        if open_fields:
            for name in open_fields.intersection(counts.sized(self.m, *place, cls)):
                yield name, str(of_number("int"))

    def _given(self, cls: ClassInfo, func: Func, entry: dict[str, Value]) -> list[State] | None:
        """The objects that a function is given of the class that it returns; None when it gets none."""
        read = self._read_from(func.fn, cls)
        found: list[State] = []
        unknown = False
        for param in func.fn.node.params:
            value = entry.get(param.name, UNKNOWN)
            known = [alt for alt in alternatives(value) if isinstance(alt, (Inst, Tup))]
            found += [alt for alt in known if alt.cls is cls]
            named = parameters.resolve(self.m, func.scope, param.annotation)
            unknown = (
                unknown or (param.name in read and not known) or (type(named) is Class and named.info is cls)
            )
        return found if found or unknown else None

    def _read_from(self, fn: FuncInfo, cls: ClassInfo) -> set[str]:
        """The variables of which a function reads attributes that are called like fields of a class."""
        read = self._attributes.get(fn.id)
        if read is None:
            read = self._attributes[fn.id] = {
                (node.obj.id, node.name)
                for node in fn.parts
                if type(node) is ir.Attr and type(node.obj) is ir.Name
            }
        return {variable for variable, name in read if name in cls.fields}

    def finish(self) -> None:
        """Every state of a class has been seen."""
        self._outside |= self._made_alone()
        found: dict[tuple[str, int], list[tuple[str, Made, Made]]] = {}
        for key, first in self._first.items():
            if len({kind_of(one.exact) for one in first} - {None}) > 1:
                continue  # something that holds numbers of any kind, and no state
            begun = {one.exact for one in first}  # what others begin with is what they asked for
            for one in first:
                if one.only and not is_weak(one.exact):
                    continue  # it holds one array, of any kind
                other = None if self._is_only_inside(key[0], one.maker.id) else self._unlike(key, one, begun)
                place = found.setdefault((one.frame.module.name, one.at), []) if other is not None else []
                if other is not None and all(name != key[1] for name, _, _ in place):
                    place.append((key[1], one, other))
        for fields in found.values():
            self._emit(fields)

    def _is_only_inside(self, cls: int, maker: int) -> bool:
        """Whether it is made within one program only, where the first state takes the type of the others."""
        return (cls, maker) in self._inside and not {(cls, None), (cls, maker)} & self._outside

    def _made_alone(self) -> set[tuple[int, int]]:
        """What functions make on their own; that a part of a trace runs on its own says nothing of its callers."""
        traced = self.m.traced
        return {(cls, made) for cls, made, root in self._alone if root is None or root.id not in traced}

    def _unlike(self, key: tuple[int, str, str, str], one: Made, begun: set[str]) -> Made | None:
        """A state that follows with another type than one begins with, and than any begins with."""
        renewed = self._renewed.get(key, ())
        return next(
            (new for new in renewed if new.exact not in begun and _drifts(one.exact, new.exact)), None
        )

    def _emit(self, fields: list[tuple[str, Made, Made]]) -> None:
        """Say of one place where a state is made which of its fields have another type in the states that follow."""
        _, one, other = fields[0]
        alike = [name for name, a, b in fields if (a.exact, b.exact) == (one.exact, other.exact)]
        new = other.frame
        where = f"`{new.qualname}` makes one whose `{fields[0][0]}` is {_words(other.exact)} here"
        self.m.emit(
            one.frame, DriftingState, one.at, confidence=Confidence.LIKELY, owner=one.cls.name,
            fields=" and ".join(f"`{name}`" for name in alike[:_MOST]),
            before=_words(one.exact), after=_words(other.exact),
            also=(Step(new.module.name, other.at, where),),
        )  # fmt: skip


def _keep(found: list[Made], new: Made) -> None:
    """Once for each function and dtype."""
    if all((one.frame.fn, one.exact) != (new.frame.fn, new.exact) for one in found):
        found.append(new)


def _remember(f: Frame, value: State, place: Place) -> None:
    made = _MADE.of(f)
    if made is None:
        made = {}
        _MADE.put(f, made)
    made[id(value)] = (value, place)


def _returned(value: Value) -> Iterator[tuple[State, ClassInfo, State]]:
    """The objects that a function returns, alone or together with others, and those in their fields, each with the one
    that it belongs to."""
    for alt in alternatives(value):
        for item in alt.items if type(alt) is Tup and alt.cls is None else (alt,):
            state = _state(item)
            if state is not None:
                yield *state, state[0]
                for _, field in _fields(state[0]):
                    part = _state(field)
                    if part is not None:
                        yield *part, state[0]


def _state(value: Value) -> tuple[State, ClassInfo] | None:
    known = isinstance(value, (Inst, Tup)) and value.cls is not None and flattening.is_pytree(value.cls)
    return (value, value.cls) if known and isinstance(value, (Inst, Tup)) and value.cls else None


def _weak_among(entry: dict[str, Value]) -> bool:
    """Whether a function is given a number that is weakly typed, alone or in a tuple or list."""
    given = [alt for value in entry.values() for alt in alternatives(value)]
    parts = [part for alt in given for part in (alt, *(getattr(alt, "items", None) or ()))]
    return any(exact is not None and is_weak(exact) for exact in map(_exact, parts))


def _exact(value: Value) -> str | None:
    """The exact dtype of a field, or an argument."""
    if type(value) is Py and value.const is not NO_CONST:  # what is only annotated may be an array
        return of_number(value.kind)
    return exact_of(value.dtype) if type(value) is Arr and not value.weak else None


def _fields(value: State) -> list[tuple[str, Value]]:
    """The fields that are no part of the structure."""
    if type(value) is Inst:
        static = flattening.static_names(value)
        return [(name, v) for name, v in value.attrs.items() if name not in static]
    return list(zip(value.cls.fields, value.items)) if type(value) is Tup and value.cls else []


def _exact_fields(value: State) -> Iterator[tuple[str, str]]:
    """The fields whose exact dtype is known."""
    for name, field in _fields(value):
        exact = _exact(field)
        if exact is not None:
            yield name, exact


def _drifts(first: str, renewed: str) -> bool:
    """Whether a program that is compiled for one dtype is compiled again for the other."""
    if "bool" in (first, renewed):
        return False
    if is_weak(first) or is_weak(renewed):
        return is_weak(first) != is_weak(renewed)
    return differ(first, renewed)


def _words(exact: str) -> str:
    if is_weak(exact):
        return f"a weakly typed {kind_of(exact)}"
    return "a strongly typed array" if exact == "+" else f"`{shown(exact)}`"
