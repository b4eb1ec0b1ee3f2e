"""Elements that an update sets from their old values, at indices that come more than once (layer: ``link``, room ``values``).

``x.at[i].set(x[i] + v)`` reads all elements before it sets one, so that of two updates of an element one is lost. What it does:
finds such updates, and reads in the code what the indices are computed from, back through calls within the program. What it does
not: speak of indices whose origin it does not see, or that come from what gives each once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import LostUpdate
from jitlint.infer.grounds import SEEN
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Arr, At, Func, Value
from jitlint.link.engine import callers
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import HOST
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_names, by_parameter, code_of, last_name, same_text
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import member
from jitlint.syntax import ir

_MANY: Final = 200
"""So many expressions are looked at."""
_METHODS: Final = {"+": "add", "-": "subtract", "*": "multiply"}
_INTEGER: Final = ("int", "uint")
_COUNTS: Final = frozenset({"count", "counts", "hist", "histogram", "visits"})


def check(m: Machine, f: Frame, at: int, place: At, args: Args) -> None:
    """Record ``x.at[i].set(x[i] + v)`` where an index may come twice."""
    call = m.texts.table(f).calls.get(at)
    func = call.func if call is not None else None
    if call is None or type(func) is not ir.Attr or type(func.obj) is not ir.Sub:
        return
    array, index = func.obj.obj, func.obj.index
    method = _METHODS.get(_operator(array, index, call), "")
    if method and _is_list_of_numbers(place.index) and "unique_indices" not in args.kw:
        when = (_Repeats(m, f.module, f.fn, index, _counts(array, call)),)
        m.emit(f, LostUpdate, at, None, Confidence.LIKELY, when=when, method=method)


def _operator(array: ir.Node, index: ir.Node, call: ir.Call) -> str:
    """What the old elements are combined with, in a value that is set."""
    value = call.args[0].value if call.args and call.args[0].name in (None, "values") else None
    if type(array) is not ir.Attr or type(value) is not ir.BinOp:
        return ""
    sides = [value.left] if value.op == "-" else [value.left, value.right]
    old = any(
        type(side) is ir.Sub and same_text(side.obj, array.obj) and same_text(side.index, index)
        for side in sides
    )
    return value.op if old else ""


def _counts(array: ir.Node, call: ir.Call) -> bool:
    """Whether one is added to what is called counts: each index comes as often as there is something to count."""
    value = call.args[0].value
    ones = [value.left, value.right] if type(value) is ir.BinOp and value.op == "+" else []
    counted = naming.has_word(last_name(array.obj if type(array) is ir.Attr else array), _COUNTS)
    return counted and any(type(one) is ir.Const and one.value == 1 for one in ones)


def _is_list_of_numbers(index: Value | None) -> bool:
    if type(index) is not Arr or index.kind is not SEEN or not index.rank:
        return False
    return index.dtype is None or index.dtype.startswith(_INTEGER)


class _Repeats:
    """Of an update at indices that are computed in a function, or in a module's body: it holds if they may come twice. counts: each
    is counted."""

    __slots__ = ("_counts", "_fn", "_index", "_m", "_module", "_seen")

    def __init__(
        self, m: Machine, module: ModuleInfo, fn: FuncInfo | None, index: ir.Node, counts: bool
    ) -> None:
        self._counts = counts
        self._m = m
        self._module = module
        self._fn = fn
        self._index = index
        self._seen: set[tuple[str, int]] = set()

    def holds(self, found: Found) -> bool:
        """Whether what the indices are computed from gives some twice, and nothing in between each once."""
        self._seen.clear()
        origins = list(self._origins(self._module, self._fn, self._index))
        names = {last_name(node.func) for node in origins if type(node) is ir.Call}
        again = any(map(_repeats, origins)) or (self._counts and all(map(_is_name, origins)))
        return names.isdisjoint(lexicon().arrays.gives_each_once) and again

    def _origins(self, module: ModuleInfo, fn: FuncInfo | None, node: ir.Node) -> Iterator[ir.Node]:
        """The expressions that the elements of an array are computed from, as far as the code shows them."""
        place = (module.name, node.at)
        if place in self._seen or len(self._seen) > _MANY:
            return
        self._seen.add(place)
        yield node
        if type(node) is ir.Name:
            yield from self._of_name(module, fn, node.id)
            return
        for part in _parts(node):
            yield from self._origins(module, fn, part)
        callee = self._called(module, fn, node) if type(node) is ir.Call else None
        result = only_returned(callee.fn.parts) if type(callee) is Func else None
        if type(callee) is Func and result is not None:
            yield from self._origins(callee.fn.module, callee.fn, result)

    def _called(self, module: ModuleInfo, fn: FuncInfo | None, call: ir.Call) -> Value | None:
        """The function that a call means: one of the module's variables, or a method of the same object."""
        func, owner = call.func, fn.values[0].owner if fn is not None and fn.values else None
        receiver = func.obj if type(func) is ir.Attr else None
        params = fn.node.params if fn is not None and owner is not None else []
        if type(receiver) is ir.Name and params and receiver.id == params[0].name:
            return member(owner, func.name) if owner is not None and type(func) is ir.Attr else None
        return paths.peek(self._m, Frame(module, module.scope, HOST), func)

    def _of_name(self, module: ModuleInfo, fn: FuncInfo | None, name: str) -> Iterator[ir.Node]:
        code = code_of(module, fn)
        written = [
            part.value
            for part in code
            if type(part) is ir.Assign and name in [one.id for one in bound_names(part.targets)]
        ]
        for value in written:
            yield from self._origins(module, fn, value)
        if fn is not None and not written and any(param.name == name for param in fn.node.params):
            for around, other, call in callers.calls(self._m, fn):
                for param, given in by_parameter(call, fn.node.params):
                    if param == name:
                        yield from self._origins(around, other, given)


def _is_name(node: ir.Node) -> bool:
    return type(node) is ir.Name


def _repeats(node: ir.Node) -> bool:
    words = lexicon().arrays
    if isinstance(node, (ir.Tuple, ir.List)):
        written = [one.value for one in node.elts if type(one) is ir.Const]
        return len(set(written)) < len(written)
    if type(node) is ir.BinOp:
        return node.op in ("//", "%")
    if type(node) is ir.Call:
        return last_name(node.func) in words.gives_again | words.makes_alike
    return type(node) is ir.Name and naming.has_word(node.id, words.called_again)


def _parts(node: ir.Node) -> list[ir.Expr]:
    """What an expression has the elements of."""
    if type(node) is ir.BinOp:
        return [node.left, node.right]
    if type(node) is ir.IfExp:
        return [node.body, node.orelse]
    if isinstance(node, (ir.Tuple, ir.List)):
        return node.elts
    if type(node) is ir.Call and last_name(node.func) in lexicon().arrays.hands_elements_on:
        owner = [node.func.obj] if type(node.func) is ir.Attr else []
        return [*(arg.value for arg in node.args), *owner]
    return [node.obj] if type(node) is ir.Sub else []
