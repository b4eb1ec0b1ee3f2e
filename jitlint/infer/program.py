"""Static descriptions that values point to: modules, functions and classes of the project (layer: ``infer``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jitlint.syntax import children, ir

if TYPE_CHECKING:
    from jitlint.infer.counted import Loop
    from jitlint.infer.values import Func, Scope, Value


@dataclass(slots=True, eq=False)
class ModuleInfo:
    """One module. state: 0 not run, 1 running, 2 done. ``scope`` holds its globals. number: which one of the program it is."""

    name: str
    path: str
    is_package: bool
    is_test: bool
    tree: ir.Module
    scope: Scope
    functions: list[FuncInfo] = field(default_factory=list)
    state: int = 0
    number: int = 0
    _by_name: dict[str, list[FuncInfo]] | None = None

    def code(self) -> Iterator[list[ir.Node]]:
        """Every node of it, in parts: the body, what functions do, and what stands in front of them."""
        yield children.below(self.tree.body)
        for fn in self.functions:
            yield fn.parts
            yield children.below([*fn.node.decorators, *[p.default for p in fn.node.params]])

    def namesakes(self, qualname: str) -> list[FuncInfo]:
        """The functions of this qualified name, in the order of the source."""
        if self._by_name is None:
            self._by_name = {}
            for fn in self.functions:
                self._by_name.setdefault(fn.qualname, []).append(fn)
        return self._by_name.get(qualname, [])


@dataclass(slots=True, eq=False)
class FuncInfo:
    """One function or lambda. ``contexts``, ``traced_contexts`` and ``guessed_contexts`` count the distinct argument contexts it was run in: outside of traces, in traces, and those of the latter that are guesses.

    counted_by: loops whose numbers it got. returned: what each ``return`` (by origin) gave in any of them. surroundings: a table that `link` makes and reads.
    hosted: module-level code calls it, outside of any trace. reached: known code calls it, tests aside. registers: its name says that it registers what it is given. positional: its parameters, if all may be given by position.
    keys: the parameters that are PRNG keys. receivers: classes (by id) of the objects that it was a method of in traces.
    merged: how many coarse contexts it was run in, by where that was and how coarse they are. handed: functions (by id) that it was handed in them.
    resigned: a decorator may have changed what it takes. veiled: one of a library that is not known, which may map it over its arguments.
    disguised: one of which nothing is known, which may give it something else than its callers give: references, say.
    asks: by how many calls it is looked through, whether it asks if something is traced, or of which kind or form something is.
    answers: its variables that are set to answers, with the questions. spans: those that it sets more than once, and where first and last.
    fickle: functions inside it change its variables, once somebody asked.
    """

    id: int
    module: ModuleInfo
    node: ir.Function
    contexts: int = 0
    traced_contexts: int = 0
    guessed_contexts: int = 0
    counted_by: frozenset[Loop] = frozenset()
    guesses: int = 0
    guessed: int = -1
    cold: bool = False
    receivers: set[int] = field(default_factory=set)
    merged: dict[tuple[str, int], int] = field(default_factory=dict)
    handed: set[tuple[int, ...]] = field(default_factory=set)
    resigned: bool = False
    veiled: bool = False
    disguised: bool = False
    hosted: bool = False
    reached: bool = False
    values: list[Func] = field(default_factory=list)
    returned: dict[int, Value] = field(default_factory=dict)
    evidence: dict[str, str] | None = None
    array_uses: frozenset[str] = frozenset()
    keys: tuple[str, ...] | None = None
    asks: dict[int, str | None] = field(default_factory=dict)
    answers: dict[str, list[ir.Node]] | None = None
    surroundings: Any = None
    spans: dict[str, tuple[int, int]] | None = None
    fickle: bool | None = None
    registers: bool = field(init=False)
    positional: tuple[str, ...] | None = field(init=False)
    _body: list[ir.Stmt] | None = None
    _parts: list[ir.Node] | None = None
    _outer: tuple[str, ...] | None = None
    _captured: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.registers = "register" in self.node.name
        params = self.node.params
        plain = all(param.kind in ("pos", "any") for param in params)
        self.positional = tuple([param.name for param in params]) if plain else None

    @property
    def qualname(self) -> str:
        """The dotted name inside its module."""
        return self.node.qualname

    @property
    def name(self) -> str:
        """The bare name."""
        return self.node.name

    @property
    def first(self) -> str:
        """The name of its first parameter, of a method that of the object; "" if it has none."""
        return self.node.params[0].name if self.node.params else ""

    @property
    def body(self) -> list[ir.Stmt]:
        """The statements, decoded when first asked for."""
        if self._body is None:
            self._body = ir.decode_body(self.node.body)
        return self._body

    @property
    def is_looked_at(self) -> bool:
        """Whether somebody has asked for its statements."""
        return self._body is not None

    @property
    def is_stub(self) -> bool:
        """Whether there is no code in it: somebody overrides it, or it stands there for its signature."""
        return self._has_only(ir.Pass)

    @property
    def is_abstract(self) -> bool:
        """Whether it does nothing, or nothing but raise: somebody overrides it."""
        return self._has_only(ir.Pass, ir.Raise)

    def _has_only(self, *kinds: type[ir.Node]) -> bool:
        """Whether there is nothing in it but such statements, documentation and dots."""
        return all(
            isinstance(node, kinds) or (type(node) is ir.ExprStmt and type(node.value) is ir.Const)
            for node in self.body
        )

    @property
    def parts(self) -> list[ir.Node]:
        """Every node of the body in no particular order; the bodies of inner functions are their own."""
        if self._parts is None:
            self._parts = children.below(self.body)
        return self._parts

    @property
    def outer_names(self) -> tuple[str, ...]:
        """The names that it, or a function inside it, takes from the scopes around it."""
        if self._outer is None:
            names = mentioned(self.module, self.parts)
            names.update(self.node.nonlocal_names)
            self._outer = tuple(sorted(names.difference(self.node.local_names)))
        return self._outer

    @property
    def captured(self) -> tuple[str, ...]:
        """Its own names that functions inside it take."""
        if self._captured is None:
            inner = [n.function for n in self.parts if type(n) is ir.FuncDef or type(n) is ir.Lambda]
            taken = {name for number in inner for name in self.module.functions[number].outer_names}
            self._captured = tuple(sorted(taken.intersection(self.node.local_names)))
        return self._captured


def mentioned(module: ModuleInfo, parts: list[ir.Node]) -> set[str]:
    """The names that code mentions; of those in functions inside it, the ones that they do not bind."""
    found: set[str] = set()
    for node in parts:
        kind = type(node)
        if kind is ir.Name:
            found.add(node.id)  # type: ignore[attr-defined]
        elif kind is ir.FuncDef or kind is ir.Lambda:
            inner = module.functions[node.function]  # type: ignore[attr-defined]
            found.update(inner.outer_names)
            around = [inner.node.decorators, [p.default for p in inner.node.params if p.default is not None]]
            found |= mentioned(module, children.below(around))
    return found


@dataclass(slots=True, eq=False)
class ClassInfo:
    """One class. bases: their values. namespace: class body variables. fields: annotated names in order with
    annotation and default. role: what the catalogue says of a library base (linen, nnx, eqx, ...), or "".

    frozen: its fields cannot be assigned. linear: itself and its project bases in order, once somebody asked. shape: "namedtuple", "dataclass" or "". data_fields / meta_fields: of a registered pytree (None: not
    registered). opaque_flatten: its own function decides which fields are data, and is not understood. constructed: it is put together
    again by its constructor. rebuilt: the functions that take it apart and put it together, if they were given to JAX. extern: it has
    a base that is not understood, or (handed, and for nothing else) code got it that may say what its objects are. stands_for_others: as an annotation it means objects of other classes too: abstract,
    a protocol, or a base of classes of the project. hashable: what the class itself says, None: nothing. hashed_by_fields: its hash is made of those of its fields.
    watched: it has a ``__getattribute__``. described: descriptors of its answer when attributes are set. written: the names that its body binds, once somebody asked.
    """

    id: int
    module: ModuleInfo
    name: str
    qualname: str
    at: int
    bases: list[Value]
    namespace: dict[str, Value]
    fields: dict[str, tuple[ir.Expr | None, Value | None]]
    scope: Scope
    role: str = ""
    shape: str = ""
    frozen: bool = False
    pytree: bool = False
    meta_fields: frozenset[str] = frozenset()
    data_fields: frozenset[str] | None = None
    opaque_flatten: bool = False
    constructed: bool = False
    rebuilt: tuple[Value, Value] | None = None
    extern: bool = False
    handed: bool = False
    stands_for_others: bool = False
    hashable: bool | None = None
    hashed_by_fields: bool = False
    metaclass: ClassInfo | None = None
    watched: bool = False
    described: bool = False
    cold: Value | None = None
    cold_running: bool = False
    linear: tuple[ClassInfo, ...] | None = None
    written: frozenset[str] | None = None

    def hand_over(self) -> None:
        """Code gets it that may say what its objects are."""
        self.handed = self.handed or not self.extern
        self.extern = True
