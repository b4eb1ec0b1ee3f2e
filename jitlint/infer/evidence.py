"""What the uses of a parameter say about its kind, flow-insensitively (layer: ``infer``).

Arithmetic, ordering, `.shape`, a slice or a `jax.numpy` call say *array*; `.items()` or a string subscript say
*map*; unpacking or `.append` say *seq*; a parameter that is only ever tested is a *flag*. Contradicting or missing
evidence is "".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.load import catalogue
from jitlint.infer.grounds import GUESSED, USED, Ground
from jitlint.infer.program import FuncInfo
from jitlint.syntax import ir

ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "%", "**", "@"})
ORDER = frozenset({"<", "<=", ">", ">="})


def parameter_evidence(fn: FuncInfo) -> dict[str, str]:
    """Parameter name to array, map, seq, ref, flag; parameters without clear evidence are absent. Cached on the function."""
    _collect(fn)
    return fn.evidence if fn.evidence is not None else {}


def array_ground(fn: FuncInfo, name: str) -> Ground:
    """On what ground the uses of a parameter say that it is an array.

    *used* takes an operation that only an array has: ``x.at``, ``x @ w``, ``x[:, None]``, `jax.numpy` of it. What
    numbers and containers have as well (``x + 1``, ``x[0]``, ``x.shape``, ``len(x)``) makes it a guess.
    """
    _collect(fn)
    return USED if name in fn.array_uses else GUESSED


def _collect(fn: FuncInfo) -> None:
    if fn.evidence is None:
        names = {p.name for p in fn.node.params}
        if not names or names == {"self"}:
            fn.evidence = {}
            return
        found: dict[str, set[str]] = {}
        collector = _Collector(names, found)
        for node in fn.parts:
            look = _LOOKS.get(type(node))
            if look is not None:
                look(collector, node)
        for name in collector.objects & found.keys():
            found[name].discard("array")
        fn.evidence = {name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1}
        fn.evidence |= {name: "ref" for name, kinds in found.items() if "ref" in kinds}
        for name in names - set(found):
            if collector.tested.get(name, 0) and collector.tested[name] == collector.loads.get(name, 0):
                fn.evidence[name] = "flag"
        fn.array_uses = frozenset(collector.strong)


class _Collector:
    """objects: names that are asked for what neither arrays of JAX nor those of NumPy have: operators of their own, then."""

    __slots__ = ("found", "loads", "names", "objects", "strong", "tested")

    def __init__(self, names: set[str], found: dict[str, set[str]]) -> None:
        self.names = names
        self.found = found
        self.loads: dict[str, int] = {}
        self.tested: dict[str, int] = {}
        self.strong: set[str] = set()
        self.objects: set[str] = set()

    def test(self, node: Any) -> None:
        """A name whose truth is asked, and nothing else: outside of a test ``a or b`` gives the object itself."""
        if type(node) is ir.BoolOp:
            if node.op != "and":  # its left side counts wherever it stands
                self.test(node.left)
            self.test(node.right)
        elif type(node) is ir.Name and node.id in self.names:
            self.tested[node.id] = self.tested.get(node.id, 0) + 1

    def note(self, node: Any, kind: str) -> None:
        """A name used as this kind of value."""
        if type(node) is ir.Name and node.id in self.names:
            self.found.setdefault(node.id, set()).add(kind)

    def only_array(self, node: Any) -> None:
        """A name used as nothing but an array can be."""
        if type(node) is ir.Name and node.id in self.names:
            self.strong.add(node.id)


def _name(c: _Collector, node: ir.Name) -> None:
    if node.id in c.names:
        c.loads[node.id] = c.loads.get(node.id, 0) + 1


def _tests(c: _Collector, node: Any) -> None:
    c.test(node.test)


def _boolop(c: _Collector, node: ir.BoolOp) -> None:
    if node.op == "and":
        c.test(node.left)


def _attr(c: _Collector, node: ir.Attr) -> None:
    if node.name in lexicon().evidence.array_attributes:
        c.note(node.obj, "array")
        if node.name not in lexicon().evidence.shared_attributes:
            c.only_array(node.obj)
    elif node.name in lexicon().evidence.map_attributes:
        c.note(node.obj, "map")
    elif node.name in lexicon().evidence.sequence_attributes:
        c.note(node.obj, "seq")
    elif type(node.obj) is ir.Name and node.obj.id in c.names and not _arrays_have(node.name):
        c.objects.add(node.obj.id)


def _arrays_have(name: str) -> bool:
    known = catalogue()
    return known.array_attribute(name) is not None or known.array_method(name) is not None


def _binop(c: _Collector, node: ir.BinOp) -> None:
    if node.op in ARITHMETIC:
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if type(other) in (ir.List, ir.Tuple, ir.Fstr, ir.Dict) or (
                type(other) is ir.Const and other.kind == "str"
            ):
                continue
            c.note(side, "array")
            if node.op == "@":
                c.only_array(side)


def _assign(c: _Collector, node: ir.Assign) -> None:
    for target in node.targets:
        _whole_store(c, target)


def _whole_store(c: _Collector, target: Any) -> None:
    """``x[...] = value`` and ``x[:] = value`` are what code does to a mutable reference."""
    if type(target) is ir.Sub:
        index = target.index
        whole = type(index) is ir.Const and index.kind == "ellipsis"
        if whole or (type(index) is ir.Slice and index.lo is None and index.hi is None):
            c.note(target.obj, "ref")


def _augmented(c: _Collector, node: ir.AugAssign) -> None:
    _whole_store(c, node.target)
    if node.op in ARITHMETIC:
        c.note(node.target, "array")
        c.note(node.value, "array")


def _unary(c: _Collector, node: ir.UnaryOp) -> None:
    if node.op == "not":
        c.test(node.operand)
    else:
        c.note(node.operand, "array")


def _compare(c: _Collector, node: ir.Compare) -> None:
    for op, right in zip(node.ops, node.rights):
        if op in ORDER:
            c.note(node.left, "array")
            c.note(right, "array")
        elif op in ("==", "!=") and type(right) is ir.Const and right.kind in ("int", "float"):
            c.note(node.left, "array")
        elif op in ("in", "not in") and type(node.left) is ir.Const and node.left.kind == "str":
            c.note(right, "map")


def _sub(c: _Collector, node: ir.Sub) -> None:
    index = node.index
    if type(index) is ir.Const and index.kind == "str":
        c.note(node.obj, "map")
    elif type(index) is ir.Tuple:
        c.note(node.obj, "array")
        if any(type(part) in (ir.Slice, ir.Const) for part in index.elts):
            c.only_array(node.obj)


def _call(c: _Collector, node: ir.Call) -> None:
    func: Any = node.func
    path: list[str] = []
    while type(func) is ir.Attr:
        path.append(func.name)
        func = func.obj
    if type(func) is not ir.Name:
        return
    if func.id == "range" and not path:
        for arg in node.args:
            c.note(arg.value, "array")
    elif _takes_arrays(func.id, path):
        static = _static_positions(func.id, path)
        for i, arg in enumerate(node.args[:2]):
            if arg.name is None and arg.star == 0 and i not in static:
                c.note(arg.value, "array")
                if (
                    func.id not in ("math", "np", "numpy", "onp")
                    and i == 0
                    and path[0] not in lexicon().evidence.fed_with_numbers
                ):
                    c.only_array(arg.value)


def _static_positions(root: str, path: list[str]) -> frozenset[int]:
    """Which of the first two arguments the called JAX function wants static: a shape, an equation."""
    base = lexicon().evidence.roots.get(root)
    if base is None:
        return frozenset()
    known = catalogue().function(".".join([base, *reversed(path)]))
    if known is None:
        return frozenset()
    params = known.bind(2, [])
    return frozenset(i for i, p in enumerate(params) if p is not None and p.must_be_static)


def _takes_arrays(root: str, path: list[str]) -> bool:
    """Whether ``root.….path[0]`` looks like a call that wants arrays first. ``path`` runs outwards in."""
    if (
        not path
        or path[0] in lexicon().evidence.run_functions
        or lexicon().evidence.no_arrays.intersection(path)
    ):
        return False
    return root in lexicon().evidence.array_roots or (
        root == "jax" and path[-1] in lexicon().evidence.array_modules
    )


_LOOKS: dict[type, Callable[[_Collector, Any], None]] = {
    ir.Name: _name,
    ir.If: _tests,
    ir.While: _tests,
    ir.IfExp: _tests,
    ir.BoolOp: _boolop,
    ir.Attr: _attr,
    ir.BinOp: _binop,
    ir.Assign: _assign,
    ir.AugAssign: _augmented,
    ir.UnaryOp: _unary,
    ir.Compare: _compare,
    ir.Sub: _sub,
    ir.Call: _call,
}
